"""The joints of the robot: they carry cameras, and what the fingers hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState as JointStateMsg

from handiwork_core.model.geometry import Pose
from handiwork_core.robot.joint_history import JointHistory
from handiwork_core.robot.robot import Robot
from handiwork_ros.conversions import joint_state_from_msg
from handiwork_ros.intake.topic_intake import taken
from handiwork_ros.rclpy_support.polled_group import PolledGroup
from perception_bridge.robot.held_objects import HeldObjects
from perception_bridge.tracking.tracker import Tracker

DEPTH = 32
"""Messages of joints that wait: at 100 Hz those of 0.3 s."""


class Hands:
    """Reads ``joint_states`` when it is asked, and tells the tracker what each hand holds.

    Args:
        node: Hosts the subscription.
        robot: The robot.
        history: Receives the joints.
        tracker: Knows the objects.
        base: Returns the pose of the robot's root link; raises ValueError while it is not known.
    """

    def __init__(
        self, node: Node, robot: Robot, history: JointHistory, tracker: Tracker, base: Callable[[], Pose]
    ) -> None:
        self._node, self._history, self._base = node, history, base
        self._held = HeldObjects(robot, tracker)
        newest = QoSProfile(depth=DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT)
        self._joints = node.create_subscription(
            JointStateMsg, "joint_states", _unused, newest, callback_group=PolledGroup(), raw=True
        )

    def poll(self) -> None:
        """Take the joints that came, and carry what is held."""
        before = self._history.newest()
        for data, _, _ in taken(self._joints):
            self._take(data)
        newest = self._history.newest()
        if newest is None or newest is before:
            return
        try:
            base = self._base()
        except ValueError:
            return  # of the first second: /tf_static has not come yet
        for remark in self._held.take(newest, base):
            self._node.get_logger().info(remark)

    def _take(self, data: bytes) -> None:
        try:
            self._history.take(joint_state_from_msg(deserialize_message(data, JointStateMsg)))
        except Exception as error:  # noqa: BLE001 - no content of a message may stop the node
            text = f"joint_states: a message was dropped: {error}"
            self._node.get_logger().warning(text, throttle_duration_sec=5.0)


def _unused(_message: Any) -> None:
    """Do nothing: no executor serves the subscription."""
