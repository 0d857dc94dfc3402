"""The SRDF names what exists in the URDF, for each robot."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from moveit_facade.model.error_codes import ErrorCode, RequestError
from moveit_facade.robot.chain import LinkChain
from moveit_facade.robot.groups import checked_group, groups_of, rigid_links
from moveit_facade.robot.srdf import srdf_of
from support.planning.moveit import load

ROBOTS = ("fr3", "ur10_suction", "lift2")


@pytest.mark.parametrize("name", ROBOTS)
def test_everything_that_the_srdf_names_exists(name: str) -> None:
    robot = load(name)
    root = ElementTree.fromstring(srdf_of(robot))
    groups = {group.get("name") for group in root.findall("group")}
    assert groups == set(groups_of(robot))
    for chain in root.iter("chain"):
        assert {chain.get("base_link"), chain.get("tip_link")} <= set(robot.links)
    for state in root.findall("group_state"):
        assert state.get("group") in groups
        assert {joint.get("name") for joint in state} <= set(robot.joints)
    for pair in root.findall("disable_collisions"):
        assert {pair.get("link1"), pair.get("link2")} <= set(robot.links)
    for hand in root.findall("end_effector"):
        assert hand.get("group") in groups and hand.get("parent_group") in robot.arms


def test_the_gripper_of_the_fr3_opens_to_the_range_of_both_fingers() -> None:
    root = ElementTree.fromstring(srdf_of(load("fr3")))
    found = {
        state.get("name"): {joint.get("name"): float(str(joint.get("value"))) for joint in state}
        for state in root.findall("group_state[@group='fr3_gripper']")
    }
    assert found["open"] == {"fr3_finger_joint1": 0.04, "fr3_finger_joint2": 0.04}
    assert found["close"] == {"fr3_finger_joint1": 0.0, "fr3_finger_joint2": 0.0}


def test_a_suction_cup_is_no_group() -> None:
    assert set(groups_of(load("ur10_suction"))) == set(load("ur10_suction").arms)


def test_an_unknown_group_is_named_with_those_that_exist() -> None:
    with pytest.raises(RequestError, match=r"'panda_arm'.*fr3_arm") as refused:
        checked_group(groups_of(load("fr3")), "panda_arm")
    assert refused.value.value is ErrorCode.INVALID_GROUP_NAME


def test_an_empty_name_means_the_only_arm_and_is_refused_with_two() -> None:
    assert checked_group(groups_of(load("fr3")), "").name == "fr3_arm"
    with pytest.raises(RequestError):
        checked_group(groups_of(load("lift2")), "")


def test_the_tool_centre_point_is_fixed_to_the_hand_and_a_finger_is_not() -> None:
    links = rigid_links(load("fr3"), "fr3_hand")
    assert "fr3_hand_tcp" in links and "fr3_leftfinger" not in links and "fr3_link6" not in links


def random_q(robot: Robot, names: tuple[str, ...]) -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.array([rng.uniform(robot.joints[n].lower, robot.joints[n].upper) for n in names])


@pytest.mark.parametrize(("name", "link"), [("fr3", "fr3_leftfinger"), ("lift2", "fl_link5")])
def test_the_chain_agrees_with_the_kinematics_of_the_robot_and_with_differences(name: str, link: str) -> None:

    robot = load(name)
    names = next(iter(robot.arms.values())).joint_names
    chain, q = LinkChain(robot, link, names, Pose.identity(), {}), random_q(robot, names)
    state = chain.state(q)
    expected = link_poses(robot, dict(zip(names, q.tolist(), strict=True)))[link]
    assert state.world_T_link.almost_equal(expected, within_m=1e-9, within_rad=1e-7)
    for i in range(len(names)):
        moved = chain.state(q + 1e-6 * np.eye(len(names))[i]).world_T_link
        speed = (moved.translation_m - expected.translation_m) / 1e-6
        assert np.allclose(speed, state.jacobian[:3, i], atol=1e-4)
