"""Publishes the joints of a mobile base on ``joint_states``, from the frames of navigation and odometry in tf."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from geometry_msgs.msg import TransformStamped
from rclpy.clock import Clock, ClockType
from sensor_msgs.msg import JointState

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import Report
from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.robot.robot import BaseSpec
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros.conversions import time_to_msg, transform_to_msg
from handiwork_ros.node.main import run
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.node.robot_folder import RobotFolder
from handiwork_ros.node.start_wait import StartWait
from handiwork_ros.ports.frames import FrameBuffer
from handiwork_ros.rclpy_support.latched_publisher import LatchedPublisher
from handiwork_ros.rclpy_support.qos import LATEST, TF_STATIC
from handiwork_ros.rclpy_support.safe_callbacks import guard
from robot_description.frames.base_motion import BaseMotion, BaseSample
from robot_description.frames.edges import WORLD, frame
from tf2_msgs.msg import TFMessage

PERIOD_S = 0.01
"""The period in which tf is read, s of steady time: joints are published as often as odometry comes, up to 100 Hz."""
STATIC_PERIOD_S = 2.0


class BaseJoints(ManagedNode):
    """The node of one base. The frames belong to others; it sends ``world`` -> map alone, if it is asked to."""

    def __init__(self, **options: Any) -> None:
        super().__init__("base_joints", **options)
        self._robot_dir = RobotFolder(self).path
        text = "pose of the map in the world: x [m], y [m] and yaw [rad]; empty: another node publishes this frame"
        self._world_to_map = self.parameter("world_to_map", "0 0 0", text)
        self._frames, self._motion, self._wait = FrameBuffer(self), BaseMotion(), StartWait(self)
        self._pub = self.create_publisher(JointState, "joint_states", LATEST)
        self._static_pub = LatchedPublisher(self, TFMessage, "tf_static", TF_STATIC, period_s=STATIC_PERIOD_S)
        self._base: BaseSpec | None = None
        self._origin, self._base_frame = "", ""
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = self.create_timer(PERIOD_S, guard(self, self._step), clock=steady)

    def on_load(self, report: Report) -> None:
        """Read the robot, and publish the frame of the map.

        Args:
            report: Receives the progress.

        Raises:
            ConfigError: A parameter or a file has faults, or nothing but its controller drives the base.
        """
        report(0.0, "reading the robot")
        if not self._robot_dir:
            fault = "parameter robot_dir: is empty; give the folder of a robot"
            raise ConfigError(f"node {self.get_name()}", [fault])
        robot = load_robot(Path(self._robot_dir))
        navigation = robot.navigation
        if robot.base is None or navigation is None:
            fault = f"base: robot {robot.name!r} has none with navigate_action; who drives the base measures its joints"
            raise ConfigError(self._robot_dir, [fault])
        self._base, self._base_frame = robot.base, navigation.base_frame
        self._origin = frame(robot, robot.root_link)
        map_frame = navigation.map_frame
        if self._world_to_map and map_frame != WORLD:
            self._publish_map(map_frame, self._map_pose())

    def on_prepare(self, report: Report) -> None:
        """Wait for the frames; see the base."""
        self._wait.until_none(self._missing, report)

    def on_close(self) -> None:
        """Stop the repetition of the static frame."""
        self._static_pub.forget()

    def _missing(self) -> list[str]:
        try:
            self._frames.lookup(self._origin, self._base_frame)
        except HandiworkError as error:
            return [f"the transform {self._origin} -> {self._base_frame} ({error.outcome.message})"]
        return []

    def _map_pose(self) -> Pose:
        """Return world_T_map.

        Raises:
            ConfigError: The parameter is not three numbers.
        """
        try:
            x, y, yaw = (float(word) for word in self._world_to_map.split())
            return Pose.of((x, y, 0.0), Rotation.from_rpy(0.0, 0.0, yaw))
        except ValueError as error:
            text = "give x [m], y [m] and yaw [rad], such as '1.5 0 1.57'"
            fault = f"parameter world_to_map: is {self._world_to_map!r}; {text}"
            raise ConfigError(f"node {self.get_name()}", [fault]) from error

    def _publish_map(self, map_frame: str, world_T_map: Pose) -> None:
        edge = TransformStamped(child_frame_id=map_frame, transform=transform_to_msg(world_T_map))
        edge.header.frame_id, edge.header.stamp = WORLD, self.get_clock().now().to_msg()
        self._static_pub.publish(TFMessage(transforms=[edge]))

    def _step(self) -> None:
        if not self.is_active or self._base is None:
            return
        try:
            odom, odom_T_base, stamp_s = self._frames.newest(self._base_frame)
            origin_T_odom = self._frames.lookup(self._origin, odom)
        except HandiworkError as error:
            text = f"no joints of the base are published: {error.outcome.message}"
            self.get_logger().warning(text, throttle_duration_sec=5.0)
            return
        sample = self._motion.sample(stamp_s, origin_T_odom, odom_T_base)
        if sample is not None:
            self._pub.publish(_message(self._base, sample))


def _message(base: BaseSpec, sample: BaseSample) -> JointState:
    message = JointState(
        name=list(base.joint_names), position=sample.q.tolist(), velocity=sample.velocity.tolist()
    )
    message.header.stamp = time_to_msg(sample.stamp_s)
    return message


def main() -> None:
    """Run the node."""
    sys.exit(run(BaseJoints))
