"""Renews the lease of a node on the arms whose motions it supervises."""

from __future__ import annotations

from collections.abc import Callable, Collection

from handiwork_msgs.msg import SafetyHeartbeat
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from handiwork_ros.rclpy_support.safe_callbacks import guard

from .names import HEARTBEAT, HEARTBEAT_PERIOD_S, HEARTBEATS


class HeartbeatPublisher:
    """Publishes from the node's executor, so that a frozen executor loses the lease in the same way as a dead process.

    Args:
        node: Holder of the lease.
        supervised: Returns the names of the arms, grippers and bases that follow goals of the node now.
    """

    def __init__(self, node: Node, supervised: Callable[[], Collection[str]]) -> None:
        self._node, self._supervised = node, supervised
        self._publisher = node.create_publisher(SafetyHeartbeat, HEARTBEAT, HEARTBEATS)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(HEARTBEAT_PERIOD_S, guard(node, self._beat), clock=steady)

    def _beat(self) -> None:
        message = SafetyHeartbeat(node=self._node.get_fully_qualified_name(), arms=sorted(self._supervised()))
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)
