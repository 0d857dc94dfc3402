"""``safety_node`` with a wrench topic: it names the arm without a wrench, and refuses its motion."""

from __future__ import annotations

import threading

import pytest
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import WrenchStamped
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectoryPoint

from control_msgs.action import FollowJointTrajectory
from handiwork_core.control.goal_refusal import ErrorCode
from handiwork_core.model.diagnostics import Diagnosis, Level
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros.rclpy_support.qos import STREAM
from handiwork_safety.node import SafetyNode
from support.nodes.ros_stage import stage, wait_for
from support.paths import ROBOTS

ROBOT = load_robot(ROBOTS / "fr3")
ARM = ROBOT.arm("")
NAMES = [joint.name for joint in ROBOT.joints.values() if joint.type is not JointKind.FIXED]
HOME = dict(zip(ARM.joint_names, ARM.home_q, strict=True))


def test_an_arm_without_a_wrench_is_named_and_does_not_move() -> None:
    with stage() as on:
        values = {"robot_dir": str(ROBOTS / "fr3"), "wrench_topic": "{arm}/wrench"}
        arguments = [Parameter(name, value=value) for name, value in values.items()]
        node = SafetyNode(context=on.context, parameter_overrides=arguments)
        peer = Node("peer", context=on.context)
        joints = peer.create_publisher(JointState, "joint_states", STREAM)
        wrench = peer.create_publisher(WrenchStamped, f"{ARM.name}/wrench", STREAM)
        sends_wrench = threading.Event()

        def send() -> None:
            message = JointState(name=NAMES, position=[HOME.get(name, 0.0) for name in NAMES])
            message.velocity = [0.0] * len(NAMES)
            message.header.stamp = peer.get_clock().now().to_msg()
            joints.publish(message)
            if sends_wrench.is_set():
                wrench.publish(WrenchStamped())

        peer.create_timer(0.01, send)
        on.add(node)
        on.add(peer)
        client = ActionClient(peer, FollowJointTrajectory, f"{ARM.controller}/follow_joint_trajectory")
        try:
            wait_for(lambda: node.is_active and client.server_is_ready(), 60.0)
            assert diagnosis(node).level is Level.ERROR
            text = f"{ARM.name} has no wrench yet, at most 0.4 s are allowed with a contact force limit: "
            assert diagnosis(node).message == f"{text}start the sensor that publishes {ARM.name}/wrench"
            refused = result_of(client)
            assert refused.error_code == ErrorCode.PROTECTIVE_STOP
            assert refused.error_string.startswith(f"not moved: {text}")
            sends_wrench.set()
            wait_for(lambda: diagnosis(node).level is Level.OK, 60.0)
            moved = result_of(client)
            # A pause of 0.4 s in this process, which is the robot as well, ends a motion.
            while moved.error_string == "joint_states paused":
                moved = result_of(client)
            assert moved.error_code == ErrorCode.SUCCESSFUL, moved.error_string
        finally:
            on.end(node)


def diagnosis(node: SafetyNode) -> Diagnosis:
    """Return the diagnosis of the arm's wrench."""
    return next(one for one in node.diagnostics.diagnoses() if one.name == f"wrench {ARM.name}")


def result_of(client: ActionClient) -> FollowJointTrajectory.Result:
    """Send a goal that keeps the arm at its place; return its result."""
    goal = FollowJointTrajectory.Goal()
    goal.trajectory.joint_names = list(ARM.joint_names)
    point = JointTrajectoryPoint(
        positions=[float(q) for q in ARM.home_q], time_from_start=Duration(nanosec=300_000_000)
    )
    goal.trajectory.points = [point]
    sent = client.send_goal_async(goal)
    wait_for(sent.done, 60.0)
    handle = sent.result()
    if not handle.accepted:
        pytest.fail("the goal was not accepted")
    done = handle.get_result_async()
    wait_for(done.done, 60.0)
    return done.result().result
