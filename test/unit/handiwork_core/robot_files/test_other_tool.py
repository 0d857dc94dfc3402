"""Robots are the same arms with other tools, or the reasons why they are not."""

from __future__ import annotations

from dataclasses import replace

from handiwork_core.model.geometry import Pose
from handiwork_core.robot.robot import Mimic
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.robot_files.other_tool import tool_faults
from support.paths import ROBOTS

FR3, ROBOTIQ = load_robot(ROBOTS / "fr3"), load_robot(ROBOTS / "fr3_robotiq")


def test_two_hands_of_one_arm_are_tools() -> None:
    assert tool_faults(FR3, ROBOTIQ) == []
    assert tool_faults(ROBOTIQ, FR3) == []


def test_another_arm_is_no_tool() -> None:
    (fault,) = tool_faults(FR3, load_robot(ROBOTS / "ur10_suction"))
    assert "the arms are" in fault
    assert "instead of ['fr3_arm']" in fault


def test_a_base_is_no_tool() -> None:
    faults = tool_faults(FR3, load_robot(ROBOTS / "fr3_mobile"))
    assert any("mobile bases" in fault for fault in faults)
    assert any("root link" in fault for fault in faults)


def test_the_same_name_is_refused() -> None:
    assert "both robots have the name 'fr3'" in tool_faults(FR3, replace(ROBOTIQ, name="fr3"))[0]


def test_a_joint_at_another_place_is_named() -> None:
    joint = ROBOTIQ.joints["fr3_joint4"]
    moved = replace(joint, parent_T_joint=joint.parent_T_joint @ Pose.of((0.0, 0.0, 1e-4)))
    other = replace(ROBOTIQ, joints={**ROBOTIQ.joints, "fr3_joint4": moved})
    (fault,) = tool_faults(FR3, other)
    assert "'fr3_joint4'" in fault


def test_other_joints_of_an_arm_are_named() -> None:
    arm = replace(ROBOTIQ.arms["fr3_arm"], joint_names=ROBOTIQ.arms["fr3_arm"].joint_names[:-1])
    (fault,) = tool_faults(FR3, replace(ROBOTIQ, arms={"fr3_arm": arm}))
    assert "arm 'fr3_arm' has the joints" in fault


def test_another_controller_is_named() -> None:
    arm = replace(ROBOTIQ.arms["fr3_arm"], controller_name="other_controller")
    (fault,) = tool_faults(FR3, replace(ROBOTIQ, arms={"fr3_arm": arm}))
    assert "'other_controller' instead of 'fr3_arm_controller'" in fault


def test_joints_that_follow_an_arm_are_part_of_it() -> None:
    follower = replace(ROBOTIQ.joints["robotiq_85_left_knuckle_joint"], mimic=Mimic("fr3_joint2", 1.0, 0.0))
    other = replace(ROBOTIQ, joints={**ROBOTIQ.joints, follower.name: follower})
    (fault,) = tool_faults(FR3, other)
    assert "that carry or follow an arm are ['robotiq_85_left_knuckle_joint']" in fault
