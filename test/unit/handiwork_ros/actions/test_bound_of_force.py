"""A trajectory's bound of the force goes through the message of FollowJointTrajectory and comes back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.testing.fakes import smooth
from handiwork_ros.controllers.goal_messages import read_trajectory
from handiwork_ros.ports.arm_and_gripper import trajectory_goal

WAY = smooth(np.zeros(6), np.full(6, 0.1))


def test_the_bound_is_no_tolerance_of_a_joint() -> None:
    read = read_trajectory(trajectory_goal(replace(WAY, stop_force=np.array((1.0, -2.0, 3.0)))))
    assert read.stop_force == pytest.approx((1.0, -2.0, 3.0))
    assert read.path_tolerance == {}


def test_a_motion_without_a_bound_names_none() -> None:
    goal = trajectory_goal(WAY)
    assert not goal.path_tolerance
    assert read_trajectory(goal).stop_force is None
