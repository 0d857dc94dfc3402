"""Positions of a base from which an arm may reach a place: it lies before the arm, at a share of the arm's length."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot_files.loader import load_robot
from skill_server.driving.placement import HEADINGS, REACHES, placements
from support.paths import ROBOTS

ROBOT = load_robot(ROBOTS / "fr3_mobile")
ROOT_POSE = Pose.of((0.5, -0.3, 0.1), Rotation.from_rpy(0.0, 0.0, 0.7))
HERE = np.array([0.2, 0.1, -0.4])


def test_the_place_lies_where_the_hand_is_at_home() -> None:
    arm, place = ROBOT.arm(""), np.array([1.5, 0.8, 0.5])
    found = placements(ROBOT, arm, ROOT_POSE, place, HERE)
    assert len(found) == HEADINGS * len(REACHES)
    assert ROBOT.base is not None
    home = dict(zip(arm.joint_names, arm.home_q.tolist(), strict=True))
    shares = set()
    for q in found:
        poses = link_poses(ROBOT, {**home, **dict(zip(ROBOT.base.joint_names, q.tolist(), strict=True))})
        shoulder, tool = ((ROOT_POSE @ poses[link]).translation_m[:2] for link in ("fr3_link1", arm.tcp_link))
        ahead, way = tool - shoulder, place[:2] - shoulder
        assert ahead[0] * way[1] - ahead[1] * way[0] == pytest.approx(0.0, abs=1e-9)
        assert ahead @ way > 0.0
        shares.add(round(float(np.linalg.norm(way)), 6))
    assert len(shares) == len(REACHES)


def test_the_nearest_comes_first_and_limits_hold() -> None:
    arm = ROBOT.arm("")
    near = placements(ROBOT, arm, Pose.identity(), np.array([1.5, 0.0, 0.5]), HERE)
    assert np.linalg.norm(near[0][:2] - HERE[:2]) < np.linalg.norm(near[-1][:2] - HERE[:2])
    assert abs(near[0][2] - HERE[2]) < 1.0
    at_the_rim = placements(ROBOT, arm, Pose.identity(), np.array([10.3, 0.0, 0.5]), HERE)
    assert 0 < len(at_the_rim) < len(near)
    assert all(q[0] <= 10.0 for q in at_the_rim)
    assert placements(ROBOT, arm, Pose.identity(), np.array([30.0, 0.0, 0.5]), HERE) == ()
