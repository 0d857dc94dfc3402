"""A node that runs a decider network: a tick and a cycle of the arm for each joint_states, and a text view of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, Protocol, TypeVar

from rclpy.clock import Clock, ClockType
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

from decider_node.network.errors import NetworkError
from decider_node.network.network import Network
from decider_node.network.text_view import draw
from decider_node.ros.arm import RosArm
from handiwork_ros.conversions import BadMessage
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.node.robot_folder import RobotFolder
from handiwork_ros.rclpy_support.qos import LATCHED, STREAM
from handiwork_ros.rclpy_support.safe_callbacks import guard

PICTURE_S = 0.5


class Reports(Protocol):
    """A context that describes itself."""

    @property
    def status(self) -> str:
        """The logical state in a line."""


A = TypeVar("A", bound=RosArm)
C = TypeVar("C", bound=Reports)


class NetworkNode(ManagedNode, ABC, Generic[A, C]):
    """Publishes ``decider/network``; after an error the arm rests until ``decider/reset``.

    Args:
        name: Name of the node.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._robot_dir = RobotFolder(self).path
        self._cell: A | None = None
        self._last_s = float("nan")
        self._pictures = self.create_publisher(String, "decider/network", LATCHED)
        self.create_service(Trigger, "decider/reset", self._on_reset)
        self.create_timer(PICTURE_S, guard(self, self._show), clock=Clock(clock_type=ClockType.STEADY_TIME))

    @abstractmethod
    def build(self) -> tuple[A, C, Network[C]]:
        """Return cell, context and network; called once, at the first start."""

    def shown(self, cell: A) -> None:
        """Publish more of the cell, twice a second.

        Args:
            cell: The cell.
        """

    def on_start(self) -> None:
        """Build the cell and the network, and subscribe to the joints."""
        if self._cell is None:
            self._cell, self._network_context, self._network = self.build()
            self.create_subscription(JointState, "joint_states", guard(self, self._on_joints), STREAM)

    def on_stop(self) -> None:
        """Let the arm rest: without points it brakes by itself."""
        if self._cell is not None:
            self._cell.stop()

    def _on_joints(self, message: Any) -> None:
        """Run one tick of the network and one cycle of the arm."""
        cell = self._cell
        if cell is None or not self.is_active or cell.arm_joints.isdisjoint(message.name):
            return
        if self._is_contested(cell):  # their joints must not make a point: the arm brakes by itself
            return
        try:
            now_s = cell.see(message)
        except (
            BadMessage,
            ValueError,
        ) as error:  # after the last point the arm brakes by itself
            text = f"joint_states: a message was dropped, the arm waits for a good one: {error}"
            self.get_logger().error(text, throttle_duration_sec=5.0)
            return
        is_new, self._last_s = now_s != self._last_s, now_s
        if not cell.knows_all or not is_new:
            return
        if self._network.error is None and not cell.is_stale:
            try:
                self._network.tick(now_s)
            except NetworkError as error:
                self.get_logger().error(f"{error}; the arm stops, call decider/reset to go on")
        cell.move()

    def _is_contested(self, cell: RosArm) -> bool:
        """Return True while two publishers send on a topic that allows one; log their names."""
        conflict, before = cell.conflict(), self.status_text
        self.status_text = conflict.message if conflict is not None else ""
        if self.status_text and not before:
            self.get_logger().error(f"{self.status_text}; the arm rests until then")
        return conflict is not None

    def _on_reset(self, request: Any, response: Any) -> Any:
        if self._cell is None:
            response.success, response.message = False, "not started yet"
            return response
        self._network.reset()
        response.success, response.message = True, "the network begins again"
        return response

    def _show(self) -> None:
        if self.is_active and self._cell is not None:
            rests = "objects or tool were seen too long ago, the arm rests\n" if self._cell.is_stale else ""
            rests = f"{self.status_text}; the arm rests\n" if self.status_text else rests
            self._pictures.publish(
                String(data=f"{rests}{self._network_context.status}\n{draw(self._network)}")
            )
            self.shown(self._cell)
