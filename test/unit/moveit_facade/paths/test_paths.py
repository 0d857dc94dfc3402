"""Straight paths, jumps, motions of grippers, and trajectories of clients."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, Rotation
from moveit_facade.model.error_codes import ErrorCode, RequestError
from moveit_facade.paths.cartesian import MOST_POSES, interpolated, jump_index
from moveit_facade.paths.gripper_motion import gripper_rows
from moveit_facade.paths.timed_path import completed, group_of_joints
from moveit_facade.robot.groups import groups_of
from support.planning.moveit import load

START = Pose.of((0.0, 0.0, 0.0))


def test_steps_are_at_most_as_long_as_asked_and_end_at_each_waypoint() -> None:
    ends = [Pose.of((0.1, 0.0, 0.0)), Pose.of((0.1, 0.05, 0.0))]
    found = interpolated(START, ends, 0.012)
    places = np.array([START.translation_m, *(pose.translation_m for pose in found)])
    assert np.linalg.norm(np.diff(places, axis=0), axis=1).max() <= 0.012 + 1e-9
    assert np.allclose(places[-1], (0.1, 0.05, 0.0)) and any(np.allclose(p, (0.1, 0.0, 0.0)) for p in places)


def test_a_turn_on_the_spot_is_divided_as_well() -> None:
    found = interpolated(START, [Pose.of((0.0, 0.0, 0.0), Rotation.from_rpy(0.0, 0.0, 1.0))], 0.01)
    assert len(found) == 10
    assert np.allclose([pose.rotation.angle_to(START.rotation) for pose in found], np.arange(1, 11) / 10)


def test_the_number_of_poses_is_bounded() -> None:
    assert len(interpolated(START, [Pose.of((1.0, 0.0, 0.0))], 1e-7)) <= MOST_POSES


ROWS = np.cumsum(np.full((20, 2), 0.01), axis=0)
JUMPED = ROWS + np.where(np.arange(20)[:, None] >= 12, [0.5, 0.0], 0.0)


@pytest.mark.parametrize(
    ("thresholds", "index"),
    [
        ((0.0, 0.0, 0.0), 20),
        ((5.0, 0.0, 0.0), 12),
        ((0.0, 0.3, 0.0), 12),
        ((0.0, 0.0, 0.3), 20),
        ((50.0, 0.0, 0.0), 20),
    ],
)
def test_a_jump_is_found_by_the_threshold_of_its_kind(
    thresholds: tuple[float, float, float], index: int
) -> None:
    assert jump_index(JUMPED, *thresholds, [False, False]) == index


def test_a_path_without_a_jump_has_none() -> None:
    assert jump_index(ROWS, 2.0, 0.1, 0.1, [False, False]) == 20


def test_a_gripper_moves_from_rest_to_rest_within_its_limits() -> None:
    joint = load("fr3").joints["fr3_finger_joint1"]
    t, q, qd, qdd = gripper_rows(joint, 0.0, 0.04, 0.5)
    assert q[0, 0] == 0.0 and abs(q[-1, 0] - 0.04) < 1e-12 and abs(qd[[0, -1]]).max() < 1e-12
    assert abs(qd).max() <= 0.5 * joint.velocity and abs(qdd).max() <= 0.5 * joint.acceleration
    assert (np.diff(t) > 0.0).all()


def test_the_joints_of_a_trajectory_name_its_group_and_mimics_are_left_out() -> None:
    groups = groups_of(load("fr3"))
    names = ["fr3_finger_joint1", "fr3_finger_joint2"]
    assert group_of_joints(groups, names, frozenset({"fr3_finger_joint2"})).name == "fr3_gripper"
    with pytest.raises(RequestError, match="exactly these") as refused:
        group_of_joints(groups, ["fr3_joint1"], frozenset())
    assert refused.value.value is ErrorCode.INVALID_MOTION_PLAN


def test_a_trajectory_is_completed_in_the_order_of_the_group() -> None:
    group = groups_of(load("fr3"))["fr3_arm"]
    names = list(reversed(group.joint_names))
    q = np.linspace(0.5, 1.0, 5)[:, None] * np.arange(7)
    measured = dict(zip(names, (q[0] + 0.005).tolist(), strict=True))
    found = completed(group, names, np.arange(1, 6) * 0.1, (q, None, None), measured)
    assert found.joint_names == group.joint_names and found.t_s[0] == 0.0 and len(found.t_s) == 6
    assert np.allclose(found.q[0], q[0, ::-1] + 0.005) and np.allclose(found.q[-1], q[-1, ::-1])
    assert abs(found.qd[[0, -1]]).max() == 0.0 and found.qdd.shape == found.q.shape


@pytest.mark.parametrize("first_s", [0.0, 5.0])
def test_a_first_point_that_is_not_where_the_arm_is_is_refused_whatever_its_time(first_s: float) -> None:
    group = groups_of(load("fr3"))["fr3_arm"]
    measured = dict.fromkeys(group.joint_names, 0.0)
    rows = np.zeros((2, 7))
    rows[:, 3] = 0.011
    with pytest.raises(RequestError, match=r"'fr3_joint4' at 0\.0110") as refused:
        completed(group, group.joint_names, first_s + np.arange(2), (rows, None, None), measured)
    assert refused.value.value is ErrorCode.START_STATE_INVALID
    rows[:, 3] = 0.009
    assert (
        completed(group, group.joint_names, first_s + np.arange(2), (rows, None, None), measured).q[-1, 3]
        == 0.009
    )


@pytest.mark.parametrize("times", [[0.0, 0.0, 0.0], [0.0], [0.0, 0.2, 0.1]])
def test_a_trajectory_without_rising_times_is_refused(times: list[float]) -> None:
    group = groups_of(load("fr3"))["fr3_arm"]
    with pytest.raises(RequestError, match="rise strictly"):
        completed(group, group.joint_names, np.array(times), (np.zeros((len(times), 7)), None, None), {})
