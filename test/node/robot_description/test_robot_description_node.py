"""The robot_description node in this process: model, static frames and moving frames."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros.ports.frames import FrameBuffer, UnknownFrame
from handiwork_ros.rclpy_support.destroy import destroy_with_actions
from handiwork_ros.rclpy_support.qos import (
    LATCHED,
    LATEST,
    TF,
    TF_STATIC,
)
from robot_description.node import RobotDescription
from support.paths import ROBOTS
from tf2_msgs.msg import TFMessage

FR3 = ROBOTS / "fr3"
LIMIT_S = 60.0


@pytest.fixture
def peer(request: pytest.FixtureRequest) -> Iterator[Node]:
    more = getattr(request, "param", ())
    rclpy.init(args=["--ros-args", "-p", f"robot_dir:={FR3}", *more])
    node, other = RobotDescription(), Node("peer")
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    executor.add_node(other)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    yield other
    executor.shutdown()
    thread.join(LIMIT_S)
    node.begin_shutdown()
    node.end_shutdown()
    destroy_with_actions(node)
    other.destroy_node()
    rclpy.shutdown()


@pytest.mark.parametrize("peer", [("-p", "joint_frames:=false")], indirect=True)
def test_only_the_frame_of_the_root_is_published_beside_robot_state_publisher(peer: Node) -> None:
    received, ready = list[str](), threading.Event()

    def take(msg: TFMessage) -> None:
        received.extend(edge.child_frame_id for edge in msg.transforms)
        ready.set()

    joints_pub = peer.create_publisher(JointState, "joint_states", LATEST)
    peer.create_subscription(TFMessage, "/tf", take, TF)
    peer.create_subscription(TFMessage, "/tf_static", take, TF_STATIC)
    msg = JointState(name=["fr3_joint1"], position=[0.1])

    def tell() -> None:
        msg.header.stamp = peer.get_clock().now().to_msg()
        joints_pub.publish(msg)

    peer.create_timer(0.02, tell)
    assert ready.wait(LIMIT_S)
    ready.clear()
    assert ready.wait(LIMIT_S), "static frames are repeated"
    assert set(received) == {"fr3/fr3_link0"}


def test_model_and_frames(peer: Node) -> None:
    robot = load_robot(FR3)
    described, framed = threading.Event(), threading.Event()
    models: list[str] = []
    frames = FrameBuffer(peer)
    joints_pub = peer.create_publisher(JointState, "joint_states", LATEST)
    names = list(robot.arm("").joint_names)
    q = [0.1, -0.5, 0.2, -2.0, 0.3, 1.7, 0.4]

    def on_model(msg: String) -> None:
        models.append(msg.data)
        described.set()

    def look() -> None:
        msg = JointState(name=[*names, "fr3_finger_joint1"], position=[*q, 0.02])
        msg.header.stamp = peer.get_clock().now().to_msg()
        joints_pub.publish(msg)
        try:
            frames.lookup("world", "fr3/fr3_leftfinger")
        except UnknownFrame:
            return
        framed.set()

    peer.create_subscription(String, "robot_description", on_model, LATCHED)
    peer.create_timer(0.05, look)
    assert described.wait(LIMIT_S), "no robot_description"
    assert models[0] == robot.urdf
    assert framed.wait(LIMIT_S), f"frames known: {frames.known()}"
    want = link_poses(robot, {**dict(zip(names, q, strict=True)), "fr3_finger_joint1": 0.02})
    for link in ("fr3_hand_tcp", "fr3_rightfinger"):
        assert frames.lookup("world", f"fr3/{link}").almost_equal(want[link], within_m=1e-9, within_rad=1e-6)


@pytest.mark.parametrize(("kind", "topic"), [(String, "robot_description"), (TFMessage, "/tf_static")])
def test_a_late_subscriber_that_lost_the_latched_message_gets_it_again(
    peer: Node, kind: type, topic: str
) -> None:
    before, late = threading.Event(), threading.Event()
    peer.create_subscription(kind, topic, lambda _message: before.set(), TF_STATIC)
    assert before.wait(LIMIT_S), f"nothing was published on {topic}"
    # A volatile subscriber receives no earlier messages.
    peer.create_subscription(kind, topic, lambda _message: late.set(), TF)
    assert late.wait(LIMIT_S), f"{topic} was not repeated"
