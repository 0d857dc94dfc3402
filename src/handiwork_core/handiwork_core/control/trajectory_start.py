"""A trajectory that names its time of start, seen from now."""

from __future__ import annotations

from dataclasses import replace

from handiwork_core.control.trajectory_goal import ErrorCode, GoalRefused, TrajectoryGoal


def from_now(goal: TrajectoryGoal, now_s: float) -> TrajectoryGoal:
    """Let the goal's times count from ``now_s`` [s of simulated time]; points that are over are left out.

    A start in the future is awaited; a start of 0 is now. The same rules as joint_trajectory_controller's.

    Raises:
        GoalRefused: the last point is over.
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
