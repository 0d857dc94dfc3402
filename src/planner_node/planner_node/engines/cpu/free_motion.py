"""Find a path through free space: straight if possible, else by tree search, then shorten it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.geometry import Array
from handiwork_core.outcome import BodyPair, Code

from . import shortcut, tree_search
from .arrays import Ints
from .edges import nearest_free
from .query import Query
from .requests import Deadline, Failed
from .rng import State, new_state

ROOM = 12_000
"""Nodes per tree; full trees mean that the goal is walled in as far as this search can tell."""
CUTS = 120
DIRECT = 8
"""Nearest goals to which the straight way is tried."""
FIRST_ITERATIONS, CHUNK_S = 200, 0.008


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
    deadline.poll()
    away = np.linalg.norm(goals - start, axis=1)
    order = np.argsort(away, kind="stable")[:DIRECT]
    direct = nearest_free(query.checker, start, goals, order, np.zeros(2, dtype=np.int64))
    if direct >= 0:
        return Path(np.array([start, goals[direct]]), int(direct))
    state = new_state(seed)
    points, goal = _search(query, start, goals, state, deadline)
    deadline.poll()
    return Path(shortcut.shorten(query.checker, points, CUTS, state), goal)


def _search(query: Query, start: Array, goals: Array, state: State, deadline: Deadline) -> tuple[Array, int]:
    """Way points (k, n) as the trees met, and the row of ``goals``."""
    rows, columns = query.margins.shape
    trees = tree_search.plant(start, goals, (rows, columns), ROOM)
    iterations, met = FIRST_ITERATIONS, 0
    while met == 0:
        before = deadline.used_s
        met = tree_search.grow(trees, iterations, query.checker, state)
        deadline.poll(lambda: most_hit(query, trees.blocked))
        spent = deadline.used_s - before
        iterations = max(1, min(2 * iterations, int(iterations * CHUNK_S / max(spent, 1e-6))))
    if met < 0:
        pair = _most_hit(query, trees.blocked)
        raise Failed(
            Code.PATH_BLOCKED,
            f"no path after {int(trees.counts.sum())} samples{most_hit(query, trees.blocked)}; clear the way",
            blocking=pair,
        )
    return tree_search.path_of(trees)


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
