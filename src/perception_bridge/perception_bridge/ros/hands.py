"""The joints of the robot: they carry cameras, and what the fingers hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState as JointStateMsg

from handiwork_core.model.geometry import Pose
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from handiwork_ros.conversions import joint_state_from_msg
from handiwork_ros.intake.topic_intake import taken
from handiwork_ros.rclpy_support.polled_group import PolledGroup
from perception_bridge.robot.hand import HandWatch
from perception_bridge.robot.joint_history import JointHistory
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
        self._node, self._robot, self._history = node, robot, history
        self._tracker, self._base = tracker, base
        newest = QoSProfile(depth=DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT)
        self._joints = node.create_subscription(
            JointStateMsg, "joint_states", _unused, newest, callback_group=PolledGroup(), raw=True
        )
        tools = [(arm, arm.gripper) for arm in robot.arms.values() if arm.gripper is not None]
        self._watches = [HandWatch(arm, tool) for arm, tool in tools if tool.suction is None]

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
        for watch in self._watches:
            self._carry(watch, newest.stamp_s, dict(newest.position), base)

    def _take(self, data: bytes) -> None:
        try:
            self._history.take(joint_state_from_msg(deserialize_message(data, JointStateMsg)))
        except Exception as error:  # noqa: BLE001 - no content of a message may stop the node
            text = f"joint_states: a message was dropped: {error}"
            self._node.get_logger().warning(text, throttle_duration_sec=5.0)

    def _carry(self, watch: HandWatch, stamp_s: float, joints: dict[str, float], base: Pose) -> None:
        arm, tracker = watch.arm, self._tracker
        links = link_poses(self._robot, joints, (arm.ee_link, arm.tcp_link))
        world_T_ee, world_T_tcp = base @ links[arm.ee_link], base @ links[arm.tcp_link]
        held = watch.object
        if held and not tracker.is_held(held):  # it was seen elsewhere
            watch.drop()
        bodies = {item.name: item for item in tracker.objects()}
        poses = {name: state.world_T_object for name, state in tracker.states(stamp_s).items()}
        free = {
            n: (bodies[n], pose) for n, pose in poses.items() if n == watch.object or not tracker.is_held(n)
        }
        if released := watch.take(stamp_s, joints, world_T_ee, world_T_tcp, free):
            tracker.release(released)
            self._node.get_logger().info(
                f"{arm.name} has let {released!r} go; its pose is that of detections again"
            )
        if watch.object:
            if not tracker.is_held(watch.object):
                self._node.get_logger().info(
                    f"{arm.name} holds {watch.object!r}; its pose is that of the hand"
                )
            tracker.carry(watch.object, world_T_ee @ watch.ee_T_object, stamp_s)


def _unused(_message: Any) -> None:
    """Do nothing: no executor serves the subscription."""
