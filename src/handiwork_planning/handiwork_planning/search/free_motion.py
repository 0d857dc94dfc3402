"""Find a path through free space: straight if possible, else by tree search, then shorten it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import BodyPair, Code
from handiwork_planning.kernels.arrays import Ints
from handiwork_planning.kernels.rng import as_bits
from handiwork_planning.scene.query import Query

from . import rrt_connect
from .path_search import FULL, NOT_YET, UNSURE, begin, search
from .requests import Deadline, Failed

FIRST_ROOM, ROOM = 400, 12_000
"""Nodes per tree, at first and at most.

The first number is small, so that a short search does not need the memory of a long one; full trees of the second
mean that the goal is enclosed as far as this search can decide.
"""
CUTS = 300
FIRST_ITERATIONS, CHUNK_S = 200, 0.008


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """Way points of straight joint motions.

    Attributes:
        points: Configurations, (k, n), rad or m.
        goal: The row of the goal array at its end.
        query: The margins with which it is free; None: those that it was searched with.
    """

    points: Array
    goal: int
    query: Query | None = None


def find(
    query: Query,
    start: Array,
    goals: Array,
    seed: int,
    deadline: Deadline,
    cuts: int = CUTS,
    room: int = ROOM,
) -> Path:
    """Find a short free path to any of the goals.

    Args:
        query: Robot, scene and margins.
        start: Start configuration, (n,), rad or m.
        goals: Configurations, (k, n), rad or m.
        seed: Seed of all random numbers.
        deadline: Limit of time, and the client's request to stop.
        cuts: Number of tries to shorten the path; 0 leaves it as it was found.
        room: Nodes per tree at most, at least FIRST_ROOM.

    Raises:
        Failed: CANCELED, PLAN_BUDGET or PATH_BLOCKED.
    """
    path = _find(query, start, goals, seed, deadline, cuts, look=False, most=room)
    assert path is not None
    return path


def find_if_clear(
    query: Query, start: Array, goals: Array, seed: int, deadline: Deadline, cuts: int = CUTS
) -> Path | None:
    """Find a path as ``find`` does, if start and goals are all within limits and clear, and not many.

    Args:
        query: Robot, scene and margins.
        start: Start configuration, (n,), rad or m.
        goals: Configurations, (k, n), rad or m.
        seed: Seed of all random numbers.
        deadline: Limit of time, and the client's request to stop.
        cuts: Number of tries to shorten the path; 0 leaves it as it was found.

    Returns:
        The path; None if start or goals do not meet the condition.

    Raises:
        Failed: as ``find``.
    """
    return _find(query, start, goals, seed, deadline, cuts, look=True)


def _find(
    query: Query,
    start: Array,
    goals: Array,
    seed: int,
    deadline: Deadline,
    cuts: int,
    *,
    look: bool,
    most: int = ROOM,
) -> Path | None:
    deadline.poll()
    before, iterations, room = deadline.used_s, FIRST_ITERATIONS, FIRST_ROOM
    goal, points, trees, state = begin(
        query.checker, start, np.ascontiguousarray(goals), room, iterations, cuts, as_bits(seed), look
    )
    while goal == NOT_YET or (goal == FULL and room < most):
        deadline.poll(partial(most_hit, query, trees.blocked))
        if goal == FULL:
            trees, room = rrt_connect.widened(trees, most), most
        spent = deadline.used_s - before
        iterations = max(1, min(2 * iterations, int(iterations * CHUNK_S / max(spent, 1e-6))))
        before = deadline.used_s
        goal, points = search(query.checker, trees, iterations, cuts, state)
    if goal == FULL:
        raise Failed(
            Code.PATH_BLOCKED,
            f"no path after {int(trees.counts.sum())} samples{most_hit(query, trees.blocked)}; clear the way",
            blocking=most_hit_pair(query, trees.blocked),
        )
    return None if goal == UNSURE else Path(points, int(goal))


def most_hit_pair(query: Query, blocked: Ints) -> BodyPair | None:
    """Return the pair that ended most edges; None if none did.

    Args:
        query: Names of the pairs.
        blocked: Number of hits of each pair, (g, m + g).
    """
    if blocked.max(initial=0) == 0:
        return None
    return query.pair(np.array(np.unravel_index(int(blocked.argmax()), blocked.shape)))


def most_hit(query: Query, blocked: Ints) -> str:
    """Return a description of the pairs that ended most edges, with counts; empty if none did.

    Args:
        query: Names of the pairs.
        blocked: Number of hits of each pair, (g, m + g).
    """
    counts: dict[BodyPair, int] = {}
    for index in np.argwhere(blocked > 0):
        pair = query.pair(index)
        counts[pair] = counts.get(pair, 0) + int(blocked[tuple(index)])
    most = sorted(counts.items(), key=lambda item: -item[1])[:3]
    named = ", ".join(f"{pair.a} into {pair.b} ({count} times)" for pair, count in most)
    return f"; hit most often: {named}" if named else ""
