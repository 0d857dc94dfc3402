"""The conversion of a trajectory with a start time to times from now."""

from __future__ import annotations

from dataclasses import replace

from handiwork_core.control.goal_refusal import ErrorCode, GoalRefused
from handiwork_core.control.trajectory_goal import TrajectoryGoal


def from_now(goal: TrajectoryGoal, now_s: float) -> TrajectoryGoal:
    """Convert the goal's times to times from ``now_s``; points in the past are left out.

    A start in the future delays the trajectory; a start of 0 is now. The rules are joint_trajectory_controller's.

    Args:
        goal: The goal as received.
        now_s: The present, s of simulated time.

    Returns:
        The goal with ``start_s`` 0.

    Raises:
        GoalRefused: The last point is in the past.
    """
    if goal.start_s == 0.0 or len(goal.t_s) == 0:
        return goal
    t = goal.t_s + (goal.start_s - now_s)
    if t[-1] < 0.0:
        raise GoalRefused(
            ErrorCode.OLD_HEADER_TIMESTAMP,
            f"header.stamp {goal.start_s:.3f} s makes the trajectory end {-t[-1]:.3f} s ago; give 0 to start now",
        )
    ahead = t >= 0.0
    qd = None if goal.qd is None else goal.qd[ahead]
    return replace(goal, t_s=t[ahead], q=goal.q[ahead], qd=qd, start_s=0.0)
