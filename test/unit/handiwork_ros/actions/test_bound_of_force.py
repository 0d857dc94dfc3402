"""A trajectory's bound of the force goes through the message of FollowJointTrajectory and comes back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from control_msgs.msg import JointTolerance
from handiwork_core.control.contact_guard import FORCE_TOLERANCES
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


@pytest.mark.parametrize("field", ["path_tolerance", "goal_tolerance"])
def test_two_tolerances_of_one_name_are_refused_since_one_would_be_dropped(field: str) -> None:
    goal = trajectory_goal(replace(WAY, stop_force=np.array((0.0, 0.0, 5.0))))
    setattr(goal, field, [JointTolerance(name=FORCE_TOLERANCES[2], position=force) for force in (5.0, 50.0)])
    with pytest.raises(ValueError, match=f"{field} names .*; send one for each name"):
        read_trajectory(goal)
