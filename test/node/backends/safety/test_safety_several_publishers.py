"""``safety_node`` beside a base that nav2 drives: it joins the joints of both publishers, and serves the arm alone."""

from __future__ import annotations

import threading
from itertools import cycle
from pathlib import Path

from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from control_msgs.action import FollowJointTrajectory
from handiwork_core.model.joint_kind import JointKind
from handiwork_ros.rclpy_support.qos import STREAM
from handiwork_safety.node import SafetyNode
from support.navigated import navigated_folder, navigated_robot
from support.nodes.ros_stage import stage, wait_for

ROBOT = navigated_robot()
ARM = ROBOT.arm("")
assert ROBOT.base is not None
BASE = list(ROBOT.base.joint_names)
OTHERS = [
    joint.name
    for joint in ROBOT.joints.values()
    if joint.type is not JointKind.FIXED and joint.name not in BASE
]
HOME = dict(zip(ARM.joint_names, ARM.home_q, strict=True))


def test_joints_of_two_publishers_let_it_start_and_the_base_is_not_its_to_drive(tmp_path: Path) -> None:
    with stage() as on:
        arguments = [Parameter("robot_dir", value=str(navigated_folder(tmp_path)))]
        node = SafetyNode(context=on.context, parameter_overrides=arguments)
        peer = Node("peer", context=on.context)
        joints = peer.create_publisher(JointState, "joint_states", STREAM)
        base = peer.create_publisher(JointState, "joint_states", STREAM)

        turns = cycle(((joints, OTHERS), (base, BASE)))

        def send() -> None:  # in turn: a reader keeps one message, whichever publisher it is of
            publisher, names = next(turns)
            message = JointState(name=names, position=[HOME.get(name, 0.0) for name in names])
            message.velocity = [0.0] * len(names)
            message.header.stamp = peer.get_clock().now().to_msg()
            publisher.publish(message)

        peer.create_timer(0.01, send)
        on.add(node)
        on.add(peer)
        client = ActionClient(peer, FollowJointTrajectory, f"{ARM.controller}/follow_joint_trajectory")
        try:
            wait_for(lambda: node.is_active and client.server_is_ready(), 60.0)
            names = {name for name, _types in peer.get_service_names_and_types()}
            assert not [name for name in names if "base_controller" in name]
            assert not peer.count_publishers("base_hardware_controller/joint_trajectory")
        finally:
            ended = threading.Event()
            on.executor.create_task(lambda: (node.begin_shutdown(), ended.set()))
            assert ended.wait(60.0)
            node.end_shutdown()
