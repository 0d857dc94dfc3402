"""The start time of a trajectory: now, in the future, partly past, past."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.control.goal_refusal import ErrorCode, GoalRefused
from handiwork_core.control.trajectory_goal import TrajectoryGoal
from handiwork_core.control.trajectory_start import from_now


def goal(start_s: float) -> TrajectoryGoal:
    return TrajectoryGoal(
        ("a",), np.array([0.0, 1.0, 2.0]), np.array([[0.0], [0.1], [0.2]]), np.zeros((3, 1)), start_s=start_s
    )


def test_zero_is_now():
    assert from_now(goal(0.0), 50.0).t_s.tolist() == [0.0, 1.0, 2.0]


def test_a_start_to_come_is_awaited():
    assert from_now(goal(53.0), 50.0).t_s.tolist() == [3.0, 4.0, 5.0]


def test_points_that_are_over_are_left_out():
    left = from_now(goal(48.5), 50.0)
    assert left.t_s.tolist() == [0.5]
    assert left.q.tolist() == [[0.2]]
    assert left.qd is not None and len(left.qd) == 1


def test_a_trajectory_that_is_over_is_refused():
    with pytest.raises(GoalRefused, match=r"end 8.000 s ago") as refused:
        from_now(goal(40.0), 50.0)
    assert refused.value.code is ErrorCode.OLD_HEADER_TIMESTAMP
