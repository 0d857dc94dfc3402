"""Goals and results of an action as topics, for recorders: the events of ROS's service introspection."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from service_msgs.msg import ServiceEventInfo

EVENTS = QoSProfile(depth=100)


class ActionEvents:
    """Publishes ``<action>/_action/send_goal/_service_event`` and ``<action>/_action/get_result/_service_event``.

    rclpy of Jazzy has no introspection of actions; names and types are those that later versions use. Without a
    subscriber nothing is made.

    Args:
        node: Hosts the publishers.
        action_type: Type of the action.
        name: Name of the action.
    """

    def __init__(self, node: Node, action_type: Any, name: str) -> None:
        self._clock, self._impl, self._count = node.get_clock(), action_type.Impl, 0
        prefix = f"{name}/_action"
        self._goals = node.create_publisher(
            self._impl.SendGoalService.Event, f"{prefix}/send_goal/_service_event", EVENTS
        )
        self._results = node.create_publisher(
            self._impl.GetResultService.Event, f"{prefix}/get_result/_service_event", EVENTS
        )

    def goal(self, handle: Any) -> None:
        """Publish a goal that was accepted.

        Args:
            handle: Handle of the goal.
        """
        if self._goals.get_subscription_count() == 0:
            return
        service = self._impl.SendGoalService
        asked = service.Request(goal_id=handle.goal_id, goal=handle.request)
        self._goals.publish(
            service.Event(info=self._info(ServiceEventInfo.REQUEST_RECEIVED), request=[asked])
        )

    def result(self, handle: Any, status: int, result: Any) -> None:
        """Publish a result, together with the id of its goal.

        Args:
            handle: Handle of the goal.
            status: Status of ``action_msgs/msg/GoalStatus`` with which the goal ends.
            result: The result message.
        """
        if self._results.get_subscription_count() == 0:
            return
        service = self._impl.GetResultService
        event = service.Event(
            info=self._info(ServiceEventInfo.RESPONSE_SENT),
            request=[service.Request(goal_id=handle.goal_id)],
            response=[service.Response(status=status, result=result)],
        )
        self._results.publish(event)

    def _info(self, kind: int) -> ServiceEventInfo:
        self._count += 1
        return ServiceEventInfo(
            event_type=kind, stamp=self._clock.now().to_msg(), sequence_number=self._count
        )
