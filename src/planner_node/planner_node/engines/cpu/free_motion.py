"""Find a path through free space: straight if possible, else by tree search, then shorten it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.geometry import Array
from handiwork_core.outcome import BodyPair, Code

from . import shortcut, tree_search
from .arrays import Ints
from .edges import edge_is_free
from .query import Query
from .requests import Deadline, Failed
from .rng import new_state

ROOM = 12_000
"""Nodes per tree; full trees mean that the goal is walled in as far as this search can tell."""
CUTS, CUTS_AT_ONCE = 120, 10
CHUNK_S = 0.008


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """Way points (k, n) of straight joint motions, and the row of the goal array it ends in."""

    points: Array
    goal: int


def find(query: Query, start: Array, goals: Array, seed: int, deadline: Deadline) -> Path:
    """A short free path from ``start`` (n,) to any row of ``goals`` (k, n).

    Raises:
        Failed: CANCELED, PLAN_BUDGET or PATH_BLOCKED.
    """
    hit, frames = np.zeros(2, dtype=np.int64), query.frames
    for i in np.argsort(np.linalg.norm(goals - start, axis=1), kind="stable")[:8]:
        deadline.poll()
        if edge_is_free(start, goals[i], query.robot, query.scene, query.margins, frames, hit):
            return Path(np.array([start, goals[i]]), int(i))
    return _search(query, start, goals, seed, deadline)


def _search(query: Query, start: Array, goals: Array, seed: int, deadline: Deadline) -> Path:
    state = new_state(seed)
    rows, columns = query.margins.shape
    trees = tree_search.plant(start, goals, (rows, columns), ROOM)
    iterations, met = 4, 0
    while met == 0:
        deadline.poll(lambda: most_hit(query, trees.blocked))
        before = deadline.used_s
        met = tree_search.grow(trees, iterations, query.robot, query.scene, query.margins, state)
        spent = deadline.used_s - before
        iterations = max(1, min(2 * iterations, int(iterations * CHUNK_S / max(spent, 1e-6))))
    if met < 0:
        pair = _most_hit(query, trees.blocked)
        raise Failed(
            Code.PATH_BLOCKED,
            f"no path after {int(trees.counts.sum())} samples{most_hit(query, trees.blocked)}; clear the way",
            blocking=pair,
        )
    points, goal = tree_search.path_of(trees)
    points = shortcut.skip(points, query.robot, query.scene, query.margins)
    for _ in range(CUTS // CUTS_AT_ONCE):
        if len(points) < 3:
            break
        deadline.poll()
        points = shortcut.cut(points, CUTS_AT_ONCE, query.robot, query.scene, query.margins, state)
    return Path(shortcut.skip(points, query.robot, query.scene, query.margins), goal)


def _most_hit(query: Query, blocked: Ints) -> BodyPair | None:
    if blocked.max(initial=0) == 0:
        return None
    return query.pair(np.array(np.unravel_index(int(blocked.argmax()), blocked.shape)))


def most_hit(query: Query, blocked: Ints) -> str:
    """Words that name the pairs that ended most edges, with counts."""
    counts: dict[BodyPair, int] = {}
    for index in np.argwhere(blocked > 0):
        pair = query.pair(index)
        counts[pair] = counts.get(pair, 0) + int(blocked[tuple(index)])
    most = sorted(counts.items(), key=lambda item: -item[1])[:3]
    named = ", ".join(f"{pair.a} into {pair.b} ({count} times)" for pair, count in most)
    return f"; what was hit most often: {named}" if named else ""
