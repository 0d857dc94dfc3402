"""Publishes ``robot_description``, ``/tf`` and ``/tf_static`` of one robot."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import Report
from handiwork_core.model.geometry import Pose
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_ros.conversions import BadMessage, joint_state_from_msg, transform_to_msg
from handiwork_ros.node.main import run
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.node.robot_folder import RobotFolder
from handiwork_ros.rclpy_support.latched_publisher import LatchedPublisher
from handiwork_ros.rclpy_support.qos import STREAM, TF, TF_STATIC
from handiwork_ros.rclpy_support.safe_callbacks import guard
from tf2_msgs.msg import TFMessage

from .formats.ros2_control import with_hardware
from .frames.edges import (
    WORLD,
    Edge,
    PublisherPaces,
    moving_edges,
    static_edges,
)

TF_RATE_HZ = 30.0
"""Largest rate of ``/tf``, Hz of steady time."""

STATIC_PERIOD_S = 2.0
"""Period of the repetition of static frames, s: all nodes need them, and a lost message would never be noticed."""


class RobotDescription(ManagedNode):
    """The node of one robot. It reads all files at start; a broken file ends the process with its fault."""

    def __init__(self, **options: Any) -> None:
        super().__init__("robot_description", **options)
        self._robot_dir = RobotFolder(self).path
        text = "scene file with the pose of the robot; empty: at the origin of world"
        self._scene_file = self.parameter("scene_file", "", text)
        text = "plugin of ros2_control that drives the robot; empty: the model names no hardware"
        self._plugin = self.parameter("hardware_plugin", "", text)
        text = "parameters of that plugin: name:=value words, such as robot_ip:=192.168.0.2"
        self._settings = self.parameter("hardware_parameters", "", text)
        text = "false: robot_state_publisher publishes the frames of the links, and this node only that of the root"
        self._joint_frames = self.parameter("joint_frames", True, text)
        self._model_pub = LatchedPublisher(self, String, "robot_description")
        self._tf_pub = self.create_publisher(TFMessage, "tf", TF)
        self._static_pub = LatchedPublisher(self, TFMessage, "tf_static", TF_STATIC, period_s=STATIC_PERIOD_S)
        self._paces = PublisherPaces(TF_RATE_HZ)
        self.create_subscription(JointState, "joint_states", guard(self, self._on_joints), STREAM)

    def on_load(self, report: Report) -> None:
        """Read the robot and the scene.

        Args:
            report: Receives the progress.

        Raises:
            ConfigError: A parameter or a file has faults.
        """
        report(0.0, "reading the robot")
        if not self._robot_dir:
            fault = "parameter robot_dir: is empty; give the folder of a robot, such as robots/fr3"
            raise ConfigError(f"node {self.get_name()}", [fault])
        self._robot = load_robot(Path(self._robot_dir))
        self._urdf = self._model()
        self._world_T_base = (
            load_scene(Path(self._scene_file)).world_T_base if self._scene_file else Pose.identity()
        )

    def _model(self) -> str:
        words = self._settings.split()
        if bad := [word for word in words if ":=" not in word]:
            raise ConfigError(
                f"node {self.get_name()}", [f"parameter hardware_parameters: {bad[0]!r} has no :="]
            )
        if not self._plugin:
            return self._robot.urdf
        return with_hardware(self._robot, self._plugin, dict(word.split(":=", 1) for word in words))

    def on_start(self) -> None:
        """Publish the model and the static frames."""
        self._model_pub.publish(String(data=self._urdf))
        stamp = self.get_clock().now().to_msg()
        edges = static_edges(self._robot, self._world_T_base)
        edges = edges if self._joint_frames else [edge for edge in edges if edge.parent == WORLD]
        self._static_pub.publish(_tf_message(edges, stamp))

    def on_stop(self) -> None:
        """Stop the repetition of the model and the static frames."""
        self._model_pub.forget()
        self._static_pub.forget()

    def _is_due(self, msg: JointState) -> bool:
        stamp = (msg.header.stamp.sec, msg.header.stamp.nanosec)
        return self._paces.due(_publisher_of(msg, self._robot), stamp, time.monotonic())

    def _on_joints(self, msg: JointState) -> None:
        # A simulation may be faster than real time; a display is not.
        if self.is_active and self._joint_frames and self._is_due(msg):
            try:
                positions = joint_state_from_msg(msg, "joint_states").position
            except BadMessage as error:
                text = f"joint_states: a message was dropped, /tf keeps its last frames: {error}"
                self.get_logger().warning(text, throttle_duration_sec=5.0)
                return
            self._tf_pub.publish(_tf_message(moving_edges(self._robot, positions), msg.header.stamp))


def _publisher_of(msg: JointState, robot: Robot) -> str:
    """Return the first joint of a message, which stands for its publisher; empty for a joint of another robot."""
    return msg.name[0] if msg.name and msg.name[0] in robot.joints else ""


def _tf_message(edges: Sequence[Edge], stamp: Time) -> TFMessage:
    message = TFMessage()
    for edge in edges:
        item = TransformStamped(child_frame_id=edge.child, transform=transform_to_msg(edge.parent_T_child))
        item.header.frame_id, item.header.stamp = edge.parent, stamp
        message.transforms.append(item)
    return message


def main() -> None:
    """Run the node."""
    sys.exit(run(RobotDescription))
