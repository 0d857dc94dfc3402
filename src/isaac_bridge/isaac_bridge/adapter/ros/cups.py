"""Surface grippers as suction cups of the contract."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from handiwork_msgs.msg import SuctionState as SuctionStateMsg
from handiwork_msgs.srv import SetSuction
from rclpy.callback_groups import CallbackGroup
from std_msgs.msg import String
from std_srvs.srv import SetBool

from handiwork_core import isaac_wire as wire
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.suction import SuctionState
from handiwork_core.robot.robot import Robot
from handiwork_ros.conversions import outcome_to_msg, suction_state_to_msg
from handiwork_ros.intake.topic_intake import number_of
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.qos import LATEST
from handiwork_ros.rclpy_support.safe_callbacks import guard, guard_service
from isaac_bridge.adapter.ros.wire_watch import WireWatch

Ask = Callable[[Any, Any], Awaitable[Any]]
"""Calls a client with a request, and returns the response; None when there was none."""

NEVER_RECEIVED = SuctionState(0.0, False, False, why="no state of the cup was received yet")


class CupInterface:
    """``<gripper>_controller/set_suction`` and ``.../suction_state`` of every cup of the robot.

    Args:
        node: Hosts them.
        robot: The robot.
        ask: Calls the script's services.
        group: Reentrant group of the services and of the clients that they wait for.
        watch: Finds second publishers.
    """

    def __init__(
        self, node: ManagedNode, robot: Robot, ask: Ask, group: CallbackGroup, watch: WireWatch
    ) -> None:
        self._node, self._ask, self._watch = node, ask, watch
        tools = [arm.gripper for arm in robot.arms.values() if arm.gripper is not None]
        self.names = [tool.name for tool in tools if tool.suction is not None]
        self._newest: dict[str, SuctionState] = {}
        self._states, self._clients = {}, {}
        for name in self.names:
            controller = f"{name}_controller"
            self._states[name] = node.create_publisher(SuctionStateMsg, f"{controller}/suction_state", LATEST)
            service = wire.suction_service(name)
            self._clients[name] = node.create_client(SetBool, service, callback_group=group)
            served = guard_service(node, partial(self._set, name))
            node.create_service(SetSuction, f"{controller}/set_suction", served, callback_group=group)
        if self.names:
            take = guard(node, self._take)

            def callback(message: String, info: dict[str, Any]) -> None:
                take(message, info)  # rclpy counts the parameters, so they must be two

            node.create_subscription(String, wire.SUCTION_STATE, callback, LATEST)

    def start_over(self) -> None:
        """Forget the states after a restart of the simulation: they are from another time."""
        self._newest.clear()

    def repeat(self) -> None:
        """Publish the last states again, for readers that missed them."""
        for name, state in self._newest.items():
            self._states[name].publish(suction_state_to_msg(state))

    def _take(self, message: String, info: dict[str, Any]) -> None:
        self._watch.take(wire.SUCTION_STATE, number_of(info))
        if self._watch.conflict():
            return
        try:
            stamp_s, cups = wire.cups_of(message.data)
        except wire.BadWire as fault:
            self._node.get_logger().error(str(fault), throttle_duration_sec=2.0)
            return
        for name in self.names:
            if name in cups:
                self._newest[name] = state = cup_state(cups[name], stamp_s)
                self._states[name].publish(suction_state_to_msg(state))

    async def _set(self, name: str, request: Any, response: Any) -> Any:
        answer = await self._ask(self._clients[name], SetBool.Request(data=request.on))
        service = wire.suction_service(name)
        outcome, state = OK, self._newest.get(name, NEVER_RECEIVED)
        if answer is None:
            text = f"{service} gave no answer; does the bring-up script of Isaac Sim run?"
            outcome = Outcome(Code.GRIPPER_FAILED, text)
        elif not answer.success:
            outcome = Outcome(
                Code.GRIPPER_FAILED, f"{service} refused: {answer.message or 'without a reason'}"
            )
        elif state.on != request.on:  # the newest state is older than the switch
            why = "no state of the cup was received since it was switched on" if request.on else ""
            state = self._newest[name] = SuctionState(state.stamp_s, request.on, sealed=False, why=why)
        response.outcome, response.state = outcome_to_msg(outcome), suction_state_to_msg(state)
        return response


def cup_state(cup: wire.CupState, stamp_s: float) -> SuctionState:
    """Return the state of a surface gripper as that of a cup: it measures no force, and finds objects by a ray.

    Args:
        cup: State of the surface gripper.
        stamp_s: Time of the state, s.
    """
    held = cup.objects[0] if cup.is_closed and cup.objects else ""
    why = "the surface gripper meets nothing within its reach" if cup.on and not cup.is_closed else ""
    return SuctionState(stamp_s, cup.on, cup.is_closed, held, why=why)
