"""A path to any of many poses: first with some goals, then, if that fails, with more of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.robot.robot import ArmSpec
from handiwork_planning.kernels.arrays import Ints
from handiwork_planning.scene.query import Query

from .carried_clearance import find_carrying
from .free_motion import CUTS, Path
from .goal_configurations import ENOUGH, PER_POSE, goal_rounds
from .requests import Deadline, Failed

MANY = 1024
"""Goals of the second search, which is the last."""
FIRST_SHARE = 0.5
"""Share of the time left that the first search of two may take."""

Find = Callable[[Array, int, Deadline], Path]
"""A search: from goals (k, n), a number to add to the seed, and a deadline to a path, or Failed."""


def find_pose(
    arm: ArmSpec,
    query: Query,
    start: Array,
    poses: tuple[Pose, ...],
    seed: int,
    deadline: Deadline,
    cuts: int = CUTS,
) -> tuple[Path, int]:
    """Find a short free path to any of several poses.

    Args:
        arm: The arm that moves.
        query: Robot, scene and margins.
        start: Start configuration, (n,), rad or m.
        poses: world_T_ee.
        seed: Seed of all random numbers.
        deadline: Limit of time, and the client's request to stop.
        cuts: Number of tries to shorten the path.

    Returns:
        The path, and the index of the pose that it reaches.

    Raises:
        Failed: BAD_GOAL, NO_IK, GOAL_IN_COLLISION, PATH_BLOCKED, PLAN_BUDGET or CANCELED.
    """

    def find(goals: Array, salt: int, limit: Deadline) -> Path:
        return find_carrying(query, start, goals, seed + salt, limit, cuts)

    rounds = goal_rounds(query, poses, np.array([start, arm.home_q]), seed, deadline)
    return find_any(rounds, len(poses), find, deadline)


def find_any(
    rounds: Iterator[tuple[Array, Ints]], poses: int, find: Find, deadline: Deadline
) -> tuple[Path, int]:
    """Find a path with the goals of one round, then, if that fails, with those of more rounds.

    Args:
        rounds: Goals as ``goal_rounds`` yields them.
        poses: Number of poses that the rounds are for.
        find: One search.
        deadline: Limit of time, and the client's request to stop.

    Returns:
        The path, and the index of the pose that it reaches.

    Raises:
        Failed: the failure of ``rounds`` or of the last ``find``.
    """
    goals, owner = next(rounds)
    if poses * PER_POSE <= ENOUGH:
        path = find(goals, 0, deadline)
        return path, int(owner[path.goal])
    used = deadline.used_s
    first = replace(deadline, budget_s=used + FIRST_SHARE * (deadline.budget_s - used))
    try:
        path = find(goals, 0, first)
        return path, int(owner[path.goal])
    except Failed as failed:
        if failed.outcome.code not in (Code.PATH_BLOCKED, Code.PLAN_BUDGET):
            raise
        count = len(goals)
        goals, owner = _with_more(goals, owner, rounds)
        if len(goals) == count and failed.outcome.code is Code.PATH_BLOCKED:
            raise
    path = find(goals, 1, deadline)
    return path, int(owner[path.goal])


def _with_more(goals: Array, owner: Ints, rounds: Iterator[tuple[Array, Ints]]) -> tuple[Array, Ints]:
    """Return at most MANY goals: the first ones and an even choice of those that rounds add."""
    more_q, more_owner = [], []
    for q, i in rounds:
        more_q.append(q)
        more_owner.append(i)
        if sum(map(len, more_q)) >= MANY:
            break
    if not more_q:
        return goals, owner
    q, i = np.concatenate(more_q), np.concatenate(more_owner)
    chosen = np.unique(np.linspace(0, len(q) - 1, max(1, MANY - len(goals))).astype(np.int64))
    return np.concatenate([goals, q[chosen]]), np.concatenate([owner, i[chosen]])
