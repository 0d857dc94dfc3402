"""Poses of many configurations at once against those of one configuration after the other."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.robot.batch_kinematics import BatchChain
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from support.paths import ROBOTS

BASE = Pose.of((0.3, -0.2, 0.9), Rotation.from_rpy(0.1, -0.2, 0.7))
CASES = [("lift2", "fl_link6", ""), ("genie1", "arm_r_end_link", ""), ("fr3", "fr3_rightfinger", "fr3_link3")]


def drawn(robot: Robot, chain: BatchChain, count: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(4)
    return {
        name: rng.uniform(robot.joints[name].lower, robot.joints[name].upper, count) for name in chain.drivers
    }


@pytest.mark.parametrize(("name", "tip", "base"), CASES)
def test_poses_are_those_of_one_configuration_after_the_other(name: str, tip: str, base: str) -> None:
    robot = load_robot(ROBOTS / name)
    chain = BatchChain(robot, tip, base)
    positions = drawn(robot, chain, 5)
    assert len(chain.drivers) > 2
    found = chain.poses(positions, np.tile(BASE.matrix(), (5, 1, 1)))
    for i, pose in enumerate(found):
        one = link_poses(robot, {joint: float(values[i]) for joint, values in positions.items()})
        wanted = BASE @ one[base or robot.root_link].inverse() @ one[tip]
        np.testing.assert_allclose(pose, wanted.matrix(), atol=1e-12)


def test_frames_have_the_axes_about_which_the_joints_turn() -> None:
    robot = load_robot(ROBOTS / "lift2")
    chain = BatchChain(robot, robot.arms["left_arm"].ee_link, robot.arms["left_arm"].base_link)
    positions = drawn(robot, chain, 3)
    *frames, before = chain.frames(positions, np.eye(4))
    last, step = chain.joints[-1], 1e-6
    after = chain.poses({**positions, last.name: positions[last.name] + step}, np.eye(4))
    turned = (after[:, :3, :3] @ before[:, :3, :3].transpose(0, 2, 1) - np.eye(3)) / step
    axis = np.stack([turned[:, 2, 1], turned[:, 0, 2], turned[:, 1, 0]], axis=1)
    np.testing.assert_allclose(axis, frames[-1][:, :3, :3] @ last.axis, atol=1e-5)


def test_a_position_that_is_missing_is_named() -> None:
    robot = load_robot(ROBOTS / "fr3")
    with pytest.raises(KeyError, match="fr3_joint1"):
        BatchChain(robot, "fr3_hand").poses({}, np.eye(4))
