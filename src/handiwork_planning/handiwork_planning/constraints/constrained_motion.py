"""Free motion that keeps held pose components: a straight line if it works, else a search on their manifold."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from handiwork_core.contracts.planning import (
    JointGoals,
    PlanRequest,
    PoseGoals,
    StraightGoal,
)
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.robot import ArmSpec
from handiwork_planning.kernels.arrays import Ints, flat
from handiwork_planning.kernels.kinematics import tool_poses
from handiwork_planning.scene.query import Query
from handiwork_planning.search.goal_configurations import joint_goals, pose_goals
from handiwork_planning.search.requests import Deadline, Failed
from handiwork_planning.timing.parameterization import Limits

from .constrained_goals import (
    HeldProblem,
    check_weights,
    compatible,
    compatible_goals,
    worst_share,
)
from .constrained_search import search
from .pose_constraint import hold_of

Move = Callable[[StraightGoal], Trajectory]
"""Plans a straight tool motion, or raises Failed."""
STRAIGHT_TRIES = 4


def plan_held(
    request: PlanRequest,
    arm: ArmSpec,
    query: Query,
    start: Array,
    world_T_base: Pose,
    limits: Limits,
    move: Move,
    deadline: Deadline,
) -> tuple[Trajectory, int]:
    """Plan a motion whose held EE components stay within HOLD_M and HOLD_RAD of those at the start.

    Args:
        request: Goal, weights and seed; components with a weight above zero are held.
        arm: The arm that moves.
        query: Robot, scene and margins.
        start: Start configuration, (n,), rad or m.
        world_T_base: Pose of the arm's base link, whose axes the weights refer to.
        limits: Limits of velocity, acceleration and jerk.
        move: Plans a straight tool motion.
        deadline: Limit of time, and the client's request to stop.

    Returns:
        The trajectory, and the index of the goal that it reaches.

    Raises:
        Failed: BAD_NUMBER, CONTRADICTION when no goal keeps the held components, or the reason that ended the search.
    """
    weights = request.hold_vec_weight or ()
    check_weights(weights)
    here = np.empty((1, 12))
    tool_poses(start[None], query.robot, here)
    hold = hold_of(here[0], world_T_base.rotation.matrix().T, weights)
    problem = HeldProblem(query, weights, hold, limits, arm.joint_names, request.seed, deadline)
    if isinstance(request.goal, StraightGoal):
        return _along(problem, request.goal, move), 0
    if isinstance(request.goal, JointGoals):
        goals, owner = joint_goals(arm, query, request.goal.q)
        kept = compatible_goals(problem, goals)
        goals, owner = goals[kept], owner[kept]
    else:
        poses = request.goal.world_T_ee
        rows = compatible(problem, np.array([flat(pose) for pose in poses]).reshape(-1, 12))
        found = _straight(problem, poses, rows, move)
        if found is not None:
            return found
        goals, owner = _configurations(problem, request.goal, rows, np.array([start, arm.home_q]))
    trajectory, goal = search(problem, start, goals)
    return trajectory, int(owner[goal])


def _along(problem: HeldProblem, goal: StraightGoal, move: Move) -> Trajectory:
    compatible(problem, flat(goal.world_T_ee)[None])
    trajectory = move(goal)
    share = worst_share(problem, trajectory.q)
    if share > 1.0:
        raise Failed(
            Code.CONTRADICTION,
            f"the line departs by {share:.1f} times what hold_vec_weight allows; ask for no line, or hold less",
        )
    return trajectory


def _straight(
    problem: HeldProblem, poses: tuple[Pose, ...], rows: Ints, move: Move
) -> tuple[Trajectory, int] | None:
    """Return the first straight move to one of ``poses`` that keeps the held components; None when none does."""
    for i in rows[:STRAIGHT_TRIES]:
        problem.deadline.poll()
        try:
            trajectory = move(StraightGoal(poses[i]))
        except Failed as failed:
            if failed.outcome.code in (Code.CANCELED, Code.PLAN_BUDGET):
                raise
            continue
        if worst_share(problem, trajectory.q) <= 1.0:
            return trajectory, int(i)
    return None


def _configurations(problem: HeldProblem, goal: PoseGoals, rows: Ints, seeds: Array) -> tuple[Array, Ints]:
    """Return free configurations (k, n) of the poses in ``rows``, and the pose index (k,) of each."""
    poses = tuple(goal.world_T_ee[i] for i in rows)
    goals, owner = pose_goals(problem.query, poses, seeds, problem.seed, problem.deadline)
    kept = compatible_goals(problem, goals)
    return goals[kept], rows[owner[kept]]
