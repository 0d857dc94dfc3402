"""A timed motion between configurations that keeps held components all along."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_planning.collision.motion_check import first_blocked
from handiwork_planning.kernels.arrays import OFF
from handiwork_planning.kernels.rng import State, new_state
from handiwork_planning.scene.query import Query
from handiwork_planning.search.free_motion import most_hit, most_hit_pair
from handiwork_planning.search.requests import Failed
from handiwork_planning.timing.parameterization import parameterise, sample

from .cbirrt import (
    HeldTrees,
    grow_held,
    path_of,
    plant,
)
from .constrained_goals import HeldProblem, worst_share
from .constrained_shortcut import (
    FLAT_RAD,
    cut_held,
    evened,
    relax,
)

WIDE_ROOM, ROOM = 4_000, 12_000
"""Nodes per tree, with extra margin and without; full trees mean that the goal is enclosed, as far as is known."""
CHUNK_S = 0.008
CUTS, CUTS_AT_ONCE = 100, 4
RELAXATIONS = 12
RELAXED_RAD, SPACING_RAD = 0.08, 0.03
"""Distance between rows while the path is smoothed, and before it is timed."""
EXTRA_M = 0.008
"""Added to the margins at first: timing rounds the path a little, and needs room where it grazes something."""


def search(problem: HeldProblem, start: Array, goals: Array) -> tuple[Trajectory, int]:
    """Return a timed motion to one of the goals, all of which keep the held components.

    Args:
        problem: The request.
        start: Start configuration, (n,), rad or m.
        goals: Configurations, (k, n), rad or m.

    Returns:
        The trajectory, and the row of ``goals`` that it reaches.

    Raises:
        Failed: CANCELED, PLAN_BUDGET, PATH_BLOCKED, or PLAN_FAILED when no pace keeps to the path.
    """
    query, state = problem.query, new_state(problem.seed)
    wider = _wider(query, np.concatenate([start[None], goals]))
    trees = plant(start, goals, query.margins.shape, WIDE_ROOM)
    if not _meet(problem, trees, wider, state):
        wider, trees = query, plant(start, goals, query.margins.shape, ROOM)
        if not _meet(problem, trees, wider, state):
            raise _blocked(query, trees)
    path, goal = path_of(trees)
    for _ in range(CUTS // CUTS_AT_ONCE):
        problem.deadline.poll()
        path = cut_held(path, CUTS_AT_ONCE, problem.hold, wider.checker, state)
    for rows in (_relaxed(problem, path, wider), path):
        trajectory = _timed(problem, evened(rows, SPACING_RAD, problem.hold, query.robot))
        if trajectory is not None:
            return trajectory, goal
    raise Failed(
        Code.PLAN_FAILED, "a path was found, but no pace keeps what hold_vec_weight holds on it; plan again"
    )


def _wider(query: Query, roots: Array) -> Query:
    """Return margins with EXTRA_M of room for rounding, except for pairs that are closer at a root (k, n)."""
    nearest = np.min([query.distances(q, 2.0 * EXTRA_M + 0.01) for q in roots], axis=0)
    wider = query.margins + EXTRA_M
    return query.with_margins(
        np.where((query.margins > 0.5 * OFF) & (nearest > wider + EXTRA_M), wider, query.margins)
    )


def _relaxed(problem: HeldProblem, path: Array, query: Query) -> Array:
    path = evened(path, RELAXED_RAD, problem.hold, query.robot)
    for _ in range(RELAXATIONS):
        problem.deadline.poll()
        if relax(path, problem.hold, query.checker) < FLAT_RAD:
            break
    return path


def _meet(problem: HeldProblem, trees: HeldTrees, query: Query, state: State) -> bool:
    """Continue the search until the trees meet; False when they are full."""
    deadline, iterations, met = problem.deadline, 1, 0
    while met == 0:
        deadline.poll(lambda: most_hit(query, trees.blocked))
        before = deadline.used_s
        met = grow_held(trees, iterations, problem.hold, query.checker, state)
        spent = deadline.used_s - before
        iterations = max(1, min(2 * iterations, int(iterations * CHUNK_S / max(spent, 1e-6))))
    return met > 0


def _blocked(query: Query, trees: HeldTrees) -> Failed:
    return Failed(
        Code.PATH_BLOCKED,
        f"no path that keeps what hold_vec_weight holds after {int(trees.counts.sum())} steps"
        f"{most_hit(query, trees.blocked)}; clear the way or hold less",
        blocking=most_hit_pair(query, trees.blocked),
    )


def _timed(problem: HeldProblem, path: Array) -> Trajectory | None:
    """Time a path, slower until rounding keeps the held components and touches nothing; None when no pace does."""
    query, hit, pace = problem.query, np.zeros(2, dtype=np.int64), 1.0
    distinct = np.abs(np.diff(path, axis=0)).max(axis=1) > 1e-9
    path = np.ascontiguousarray(path[np.concatenate([[True], distinct])])
    if len(path) == 1:
        path = np.repeat(path, 2, axis=0)
    while pace > 0.02:
        problem.deadline.poll()
        trajectory = sample(parameterise(path, problem.limits, pace), problem.names)
        q = np.ascontiguousarray(trajectory.q)
        blocked = first_blocked(query.checker, q, hit)
        if blocked < 0 and worst_share(problem, q) <= 1.0:
            return trajectory
        pace *= 0.85
    return None
