"""Measured grippers agree with those that people described."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.robot.robot import Robot
from handiwork_core.robot.urdf import read_urdf
from handiwork_core.robot_files.loader import load_robot
from robot_description.formats.given_robot import GivenRobot
from robot_description.import_robot.gripper_facts import GripperFacts
from robot_description.import_robot.gripper_survey import measure_gripper
from robot_description.import_robot.new_robot_arms import (
    Remarks,
    Wanted,
    named_arms,
    points_of,
)
from robot_description.import_robot.survey import FoundArm, find_arms
from robot_description.solids.link_solids import link_solids
from support.paths import ROBOTS


def found(folder: Path, robot: Robot) -> tuple[FoundArm, ...]:
    tips = [arm.ee_link for arm in robot.arms.values()]
    return find_arms(read_urdf(robot.urdf, folder / "robot.urdf"), tips)


def measured(folder: Path, robot: Robot, arm: FoundArm) -> GripperFacts:
    assert arm.gripper is not None
    root = ET.fromstring(robot.urdf)
    points: dict[str, Array] = {}
    for link in arm.gripper.links:
        if solids := link_solids(root, link, folder):
            points[link] = points_of(solids)
    return measure_gripper(robot, arm, arm.gripper, points)


@pytest.mark.parametrize("name", ["fr3", "fr3_robotiq"])
def test_a_gripper_is_measured_as_it_is_described(name: str) -> None:
    robot = load_robot(ROBOTS / name)
    (arm,) = found(ROBOTS / name, robot)
    facts, spec = measured(ROBOTS / name, robot, arm), robot.arm("").gripper
    assert spec is not None
    assert (facts.ee_axis, facts.closing_axis) == (spec.ee_axis, spec.closing_axis)
    assert facts.tcp_m[facts.ee_axis] == pytest.approx(spec.tcp_offset_m, abs=0.001)
    assert set(facts.finger_links) == set(spec.finger_links)
    for position, width in facts.rows:
        # The pads of parallel fingers are exact; the tips of a linkage are rounded hulls.
        assert width == pytest.approx(spec.width(position), abs=0.0003 if name == "fr3" else 0.003)
    assert (facts.slope is not None) == (not spec.width_table)


def test_a_frame_of_the_maker_in_the_palm_is_no_tcp() -> None:
    robot = load_robot(ROBOTS / "fr3")
    spec = robot.arm("").gripper
    assert spec is not None
    for behind_m, is_taken in ((0.01, True), (0.03, False)):
        to_tcp = next(joint for joint in robot.joints.values() if joint.child == robot.arm("").tcp_link)
        back = to_tcp.parent_T_joint @ Pose.of((0.0, 0.0, -behind_m))
        palm = replace(robot, joints={**robot.joints, to_tcp.name: replace(to_tcp, parent_T_joint=back)})
        facts = measured(ROBOTS / "fr3", palm, found(ROBOTS / "fr3", robot)[0])
        assert bool(facts.note) is not is_taken
        expected_m = spec.tcp_offset_m - (behind_m if is_taken else 0.0)
        assert facts.tcp_m[facts.ee_axis] == pytest.approx(expected_m, abs=0.003)


def test_arms_are_named_by_what_begins_their_joints() -> None:
    robot = load_robot(ROBOTS / "lift2")
    model = read_urdf(robot.urdf, ROBOTS / "lift2" / "robot.urdf")
    arms = named_arms(model, Path("lift2.urdf"), Wanted("lift2", "lift2.urdf"), GivenRobot(), Remarks())
    assert list(arms) == ["fl_arm", "fr_arm"]


def test_fingers_without_shapes_are_named() -> None:
    robot = load_robot(ROBOTS / "fr3")
    (arm,) = found(ROBOTS / "fr3", robot)
    assert arm.gripper is not None
    with pytest.raises(
        ValueError, match=r"fr3_finger_joint1: moves 1 fingers with collision shapes; give two"
    ):
        measure_gripper(robot, arm, arm.gripper, {"fr3_leftfinger": np.zeros((1, 3))})


def test_fingers_that_do_not_open_are_named() -> None:
    robot = load_robot(ROBOTS / "fr3")
    (arm,) = found(ROBOTS / "fr3", robot)
    assert arm.gripper is not None
    along = {
        name: replace(j, axis=np.array([1.0, 0.0, 0.0]))
        for name, j in robot.joints.items()
        if "finger" in name
    }
    sliding = replace(robot, joints={**robot.joints, **along})
    cube = np.array([[x, y, z] for x in (-0.01, 0.01) for y in (-0.01, 0.01) for z in (0.0, 0.05)])
    same = {link: cube for link in arm.gripper.links}
    still = {name: replace(j, mimic=None) for name, j in along.items()}
    with pytest.raises(ValueError, match="write gripper by hand"):
        measure_gripper(replace(sliding, joints={**sliding.joints, **still}), arm, arm.gripper, same)
