"""A free path on which a carried object, and the arm that carries it, keep a distance from obstacles if there is room.

The arm follows a plan with a lag: it is a little beside the path in fast turns. An empty hand may graze something then,
but a carried object is knocked out of the hand.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from handiwork_planning.collision.motion_check import all_clear, first_blocked
from handiwork_planning.kernels.arrays import OFF, Ints
from handiwork_planning.kernels.simd_kinematics import LANES
from handiwork_planning.scene.query import Query

from .free_motion import CUTS, Path, find
from .requests import Deadline, Failed

CARRY_GAPS_M = (0.015, 0.006)
"""Distances that are tried one after the other, m; 13 mrad of lag at 0.8 m from the joint are 10 mm."""
NEAR_M = 0.003
"""A pair that is nearer than that distance at an end of the path may come nearer than there by this much, m."""
ROOM = 2000
"""Nodes per tree of a search with a distance: without it a search goes on for longer."""
SHARE = 0.25
"""Share of the time left that a search with a distance may take."""
MOST_SAMPLES = 60
"""Number of configurations of a motion at which its distance is measured for a remark."""


def find_carrying(
    query: Query, start: Array, goals: Array, seed: int, deadline: Deadline, cuts: int = CUTS
) -> Path:
    """Find a short free path that keeps the first of CARRY_GAPS_M that can be kept; if nothing is carried as ``find``.

    Near start and goal a pair of bodies may be as near as it is there.

    Args:
        query: Robot, scene and margins.
        start: Start configuration, (n,), rad or m, clear.
        goals: Configurations, (k, n), rad or m, clear.
        seed: Seed of all random numbers.
        deadline: Limit of time, and the client's request to stop.
        cuts: Number of tries to shorten the path; 0 leaves it as it was found.

    Returns:
        The path, with the query that has the distance that it keeps.

    Raises:
        Failed: as ``find``.
    """
    for gap_m in CARRY_GAPS_M if query.carried.any() else ():
        wider, rows = _with_room(query, gap_m, start, goals)
        used = deadline.used_s
        limit = replace(deadline, budget_s=used + SHARE * max(0.0, deadline.budget_s - used))
        try:
            path = find(wider, start, goals[rows], seed, limit, cuts, ROOM)
        except Failed as failed:
            if failed.outcome.code not in (Code.PATH_BLOCKED, Code.PLAN_BUDGET):
                raise
            continue
        return Path(path.points, int(rows[path.goal]), wider)
    return find(query, start, goals, seed, deadline, cuts)


def remark(query: Query, path: Array) -> str:
    """Return a sentence when a motion keeps less than the first of CARRY_GAPS_M; empty when it keeps that.

    Args:
        query: Robot, scene and margins.
        path: Rows of the motion, (k, n), rad or m.
    """
    carried = query.carried
    if not carried.any() or len(path) < 2:
        return ""
    wider = _widened(query, CARRY_GAPS_M[0] - NEAR_M)
    if first_blocked(wider.checker, np.ascontiguousarray(path), np.empty(2, dtype=np.int64)) < 0:
        return ""
    some = path[np.unique(np.linspace(0, len(path) - 1, MOST_SAMPLES).astype(np.int64))]
    least = np.min([query.distances(np.ascontiguousarray(q), 2.0 * CARRY_GAPS_M[0]) for q in some], axis=0)
    least = np.where(_keeping(query), least, np.inf)
    place = np.array(np.unravel_index(int(least.argmin()), least.shape))
    pair, gap_m = query.pair(place), float(least[tuple(place)])
    return (
        f"less than {1e3 * CARRY_GAPS_M[0]:g} mm are kept while something is carried: "
        f"{pair.a} and {pair.b} are {1e3 * gap_m:.1f} mm apart where they are nearest"
    )


def _with_room(query: Query, gap_m: float, start: Array, goals: Array) -> tuple[Query, Ints]:
    """Return the query with a distance that the ends allow, and the goals (k,) for it: those with room, if any."""
    wider = _widened(query, gap_m)
    clear = _clear(wider, goals)
    rows = np.flatnonzero(clear) if clear.any() else np.arange(len(goals))
    tight = [start] if wider.touches(start) else []
    tight += [] if clear.any() else list(goals)
    if not tight:
        return wider, rows
    near = np.min([query.distances(np.ascontiguousarray(q), 2.0 * gap_m) for q in tight], axis=0)
    return query.with_margins(np.maximum(query.margins, np.minimum(wider.margins, near - NEAR_M))), rows


def _clear(query: Query, goals: Array) -> NDArray[np.bool_]:
    """Return which goals (k,) are at or above every margin; blocks of them are tested at once."""
    clear = np.ones(len(goals), dtype=np.bool_)
    for first in range(0, len(goals), LANES - 1):
        some = np.ascontiguousarray(goals[first : first + LANES - 1])
        if not all_clear(query.checker, some[0], some):
            clear[first : first + LANES - 1] = [not query.touches(goal) for goal in some]
    return clear


def _widened(query: Query, gap_m: float) -> Query:
    return query.with_margins(np.where(_keeping(query), np.maximum(query.margins, gap_m), query.margins))


def _keeping(query: Query) -> Array:
    """Return which pairs (g, m + g) keep the distance: the moving arm from the scene, the carried from other links."""
    shapes, carried = len(query.scene.kind), query.carried
    keeping = np.zeros(query.margins.shape, dtype=np.bool_)
    keeping[query.robot.group_body > 0, :shapes] = True
    keeping[carried, shapes:] = True
    keeping[:, shapes:][:, carried] = True
    return np.asarray(keeping & (query.margins > 0.5 * OFF))
