"""``safety_node`` joins the joints of several publishers, such as a base that nav2 drives, and serves the arm alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from rcl_interfaces.msg import Log
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from control_msgs.action import FollowJointTrajectory
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros.rclpy_support.qos import STREAM
from handiwork_safety.node import SafetyNode
from support.navigated import navigated_folder, navigated_robot
from support.nodes.ros_stage import stage, wait_for
from support.paths import ROBOTS


@dataclass
class Cell:
    """The node, and a peer that publishes the robot's joints in groups.

    Attributes:
        node: The safety node.
        peer: The peer.
        client: Client of the arm's action.
        silent: Groups, by place, that are published no more.
        said: Lines of the log.
    """

    node: SafetyNode
    peer: Node
    client: ActionClient
    silent: set[int] = field(default_factory=set)
    said: list[str] = field(default_factory=list)


@contextmanager
def joined(robot: Robot, folder: Path, groups: Sequence[Sequence[str]]) -> Iterator[Cell]:
    """Run the node beside one publisher for each group of joints, at home and at rest."""
    arms = list(robot.arms.values())
    home = {n: v for arm in arms for n, v in zip(arm.joint_names, arm.home_q.tolist(), strict=True)}
    with stage() as on:
        arguments = [Parameter("robot_dir", value=str(folder))]
        node = SafetyNode(context=on.context, parameter_overrides=arguments)
        peer = Node("peer", context=on.context)
        publishers = [peer.create_publisher(JointState, "joint_states", STREAM) for _ in groups]
        client = ActionClient(peer, FollowJointTrajectory, f"{arms[0].controller}/follow_joint_trajectory")
        cell, turns = Cell(node, peer, client), count()
        peer.create_subscription(Log, "/rosout", lambda line: cell.said.append(line.msg), 100)

        def send() -> None:  # in turn: a reader keeps one message, whichever publisher it is of
            turn = next(turns) % len(groups)
            if turn in cell.silent:
                return
            names = list(groups[turn])
            message = JointState(name=names, position=[home.get(name, 0.0) for name in names])
            message.velocity = [0.0] * len(names)
            message.header.stamp = peer.get_clock().now().to_msg()
            publishers[turn].publish(message)

        peer.create_timer(0.01, send)
        on.add(node)
        on.add(peer)
        try:
            yield cell
        finally:
            on.end(node)


def moving(robot: Robot, but: Sequence[str]) -> list[str]:
    """Return the joints that move, without some."""
    joints = robot.joints.values()
    return [one.name for one in joints if one.type is not JointKind.FIXED and one.name not in but]


def test_joints_of_two_publishers_let_it_start_and_the_base_is_not_its_to_drive(tmp_path: Path) -> None:
    robot = navigated_robot()
    assert robot.base is not None
    groups = (moving(robot, robot.base.joint_names), robot.base.joint_names)
    with joined(robot, navigated_folder(tmp_path), groups) as cell:
        wait_for(lambda: cell.node.is_active and cell.client.server_is_ready(), 60.0)
        names = {name for name, _types in cell.peer.get_service_names_and_types()}
        assert not [name for name in names if "base_controller" in name]
        assert not cell.peer.count_publishers("base_hardware_controller/joint_trajectory")


def test_drivers_of_an_arm_and_of_its_hand_may_publish_apart() -> None:
    robot = load_robot(ROBOTS / "fr3")
    arm = robot.arm("").joint_names
    with joined(robot, ROBOTS / "fr3", (arm, moving(robot, arm))) as cell:
        wait_for(lambda: cell.node.is_active and cell.client.server_is_ready(), 60.0)


def test_an_arm_whose_driver_has_stopped_is_not_commanded_by_what_the_other_ones_driver_says() -> None:
    robot = load_robot(ROBOTS / "lift2")
    right = robot.arms["right_arm"].joint_names
    with joined(robot, ROBOTS / "lift2", (moving(robot, right), right)) as cell:
        wait_for(lambda: cell.node.is_active and cell.client.server_is_ready(), 60.0)
        # Again and again: on a busy machine a whole second may pass between two messages.
        cell.peer.create_timer(1.5, lambda: cell.silent.symmetric_difference_update({1}))
        wait_for(lambda: any("joint_states of an arm are 0." in line for line in cell.said), 60.0)
