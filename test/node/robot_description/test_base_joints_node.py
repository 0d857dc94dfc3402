"""The node base_joints: odometry and localization on tf become the joints of the base on joint_states."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_ros.conversions import transform_to_msg
from handiwork_ros.ports.frames import FrameBuffer
from handiwork_ros.rclpy_support.qos import LATEST, TF, TF_STATIC
from robot_description.base_joints.node import BaseJoints
from support.navigated import navigated_folder
from support.nodes.ros_stage import stage, wait_for
from support.paths import ROBOTS
from tf2_msgs.msg import TFMessage

SPEED = 0.2


def planar(x: float, y: float, yaw: float) -> Pose:
    return Pose.of((x, y, 0.0), Rotation.from_rpy(0.0, 0.0, yaw))


def edge(parent: str, child: str, pose: Pose, peer: Node) -> TransformStamped:
    made = TransformStamped(child_frame_id=child, transform=transform_to_msg(pose))
    made.header.frame_id, made.header.stamp = parent, peer.get_clock().now().to_msg()
    return made


def test_the_base_is_where_localization_says_and_as_fast_as_odometry_says(tmp_path: Path) -> None:
    with stage() as on:
        values = {"robot_dir": str(navigated_folder(tmp_path)), "world_to_map": "1.0 0 0"}
        node = BaseJoints(
            context=on.context, parameter_overrides=[Parameter(k, value=v) for k, v in values.items()]
        )
        peer, received = Node("peer", context=on.context), list[JointState]()
        moving = peer.create_publisher(TFMessage, "tf", TF)
        static = peer.create_publisher(TFMessage, "tf_static", TF_STATIC)
        peer.create_subscription(JointState, "joint_states", received.append, LATEST)
        frames, begun_s = FrameBuffer(peer), peer.get_clock().now().nanoseconds * 1e-9

        def send() -> None:
            x = SPEED * (peer.get_clock().now().nanoseconds * 1e-9 - begun_s)
            base = edge("odom", "base_link", planar(x, 0.0, 0.0), peer)
            place = edge("map", "odom", planar(0.0, 2.0, math.pi / 2), peer)
            moving.publish(TFMessage(transforms=[place, base]))
            static.publish(
                TFMessage(transforms=[edge("world", "fr3_mobile/base_origin", planar(0, 0.5, 0), peer)])
            )

        peer.create_timer(0.02, send)
        on.add(node)
        on.add(peer)
        try:
            wait_for(lambda: len(received) >= 10, 60.0)
            message = received[-1]
            assert message.name == ["base_x", "base_y", "base_yaw"]
            x, y, yaw = message.position
            stamp_s = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
            assert (x, yaw) == pytest.approx((1.0, math.pi / 2), abs=1e-6)
            # The place and the stamp are of two readings of the clock, which this process may take far apart.
            assert y == pytest.approx(1.5 + SPEED * (stamp_s - begun_s), abs=0.1)
            assert message.velocity[0] == pytest.approx(0.0, abs=1e-6)
            assert message.velocity[1] == pytest.approx(SPEED, abs=0.15)
            wait_for(lambda: "map" in frames.known(), 60.0)
            assert frames.newest("map")[0] == "world"
            assert frames.newest("map")[1].translation_m == pytest.approx([1.0, 0.0, 0.0])
        finally:
            on.end(node)


@pytest.mark.parametrize(
    ("robot", "map_pose", "fault"),
    [("fr3_mobile", "0 0 0", "has none with navigate_action"), ("", "0 0", "world_to_map: is '0 0'")],
)
def test_what_cannot_be_is_refused(tmp_path: Path, robot: str, map_pose: str, fault: str) -> None:
    folder = ROBOTS / robot if robot else navigated_folder(tmp_path)
    with stage() as on:
        values = {"robot_dir": str(folder), "world_to_map": map_pose, "autostart": False}
        node = BaseJoints(
            context=on.context, parameter_overrides=[Parameter(k, value=v) for k, v in values.items()]
        )
        on.add(node)
        with pytest.raises(ConfigError, match=fault):
            node.on_load(lambda _share, _text: None)
