"""What an arm with five joints can have of a wanted orientation, and what it lacks, in words."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.nearest_pose import missing_turn, nearest_poses
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from support.five_joint_arm import five_joint_arm
from support.paths import ROBOTS

NO_TOOL = np.zeros(3)


@pytest.fixture(scope="module")
def small() -> Robot:
    return five_joint_arm()


def poses_of(robot: Robot, q: Array) -> Array:
    arm = robot.arm("")
    rows = [
        link_poses(robot, dict(zip(arm.joint_names, row.tolist(), strict=True)), (arm.ee_link,)) for row in q
    ]
    return np.array([found[arm.ee_link].matrix() for found in rows])


def tilted(wanted: Array, axis: str, angle_rad: float) -> Array:
    """Return poses (k, 4, 4) turned about an axis of the hand, their places kept."""
    c, s, made = np.cos(angle_rad), np.sin(angle_rad), wanted.copy()
    turns = {"x": [[1, 0, 0], [0, c, -s], [0, s, c]], "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]]}
    made[:, :3, :3] = wanted[:, :3, :3] @ np.array(turns[axis])
    return made


def test_what_the_arm_can_have_is_found_as_it_is(small: Robot) -> None:
    q = np.random.default_rng(0).uniform(-1.2, 1.2, (40, 5))
    wanted = poses_of(small, q)
    found = nearest_poses(small, small.arm(""), wanted, NO_TOOL)
    assert found.is_met.all()
    assert found.angle_rad.max() < 1e-4
    np.testing.assert_allclose(poses_of(small, found.q), found.base_T_ee, atol=1e-12)


def test_a_turn_out_of_the_plane_of_the_arm_is_what_is_missing(small: Robot) -> None:
    q = np.random.default_rng(1).uniform((-1.2, -0.6, 0.5, 0.4, -0.01), (1.2, 0.4, 1.0, 1.0, 0.01), (30, 5))
    wanted = tilted(poses_of(small, q), "x", 0.2)
    found = nearest_poses(small, small.arm(""), wanted, NO_TOOL)
    assert found.is_met.all()
    # The pan may make up for some of it; it never makes it worse.
    assert (found.angle_rad <= 0.2 + 1e-3).all()
    assert np.median(found.angle_rad) > 0.1
    for pose, turn in zip(found.base_T_ee, found.turn, strict=True):
        assert int(np.abs(pose[:3, :3].T @ turn).argmax()) == 0


def test_places_out_of_reach_are_not_met(small: Robot) -> None:
    far = Pose.of((1.0, 0.0, 0.1)).matrix()[None]
    found = nearest_poses(small, small.arm(""), far, NO_TOOL)
    assert not found.is_met.any()
    assert found.position_error_m[0] > 0.3
    assert missing_turn(small, small.arm(""), far) == ""


def test_the_message_has_an_orientation_that_the_arm_can_have(small: Robot) -> None:
    q = np.array([[0.3, -0.2, 0.8, 0.7, 0.0]])
    wanted = tilted(poses_of(small, q), "x", 0.25)
    text = missing_turn(small, small.arm(""), wanted)
    assert text.startswith("with 5 joints the hand cannot turn freely about its x axis there")
    assert missing_turn(small, small.arm(""), poses_of(small, q)) == ""


def test_an_arm_with_six_joints_or_more_lacks_nothing() -> None:
    robot = load_robot(ROBOTS / "fr3")
    assert missing_turn(robot, robot.arm(""), Pose.of((0.4, 0.0, 0.4)).matrix()[None]) == ""
