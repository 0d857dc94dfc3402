"""The step from path to trajectory: time it, test it again for collisions, and round a corner less if it touches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from handiwork_core.model.thresholds import SAME_WAYPOINT_RAD
from handiwork_core.model.trajectory import Trajectory

from .collision.motion_check import first_blocked
from .kernels.arrays import Ints
from .kernels.kinematics import tool_poses
from .scene.query import Query
from .search.requests import Deadline, Failed
from .timing.jerk_filter import Samples
from .timing.parameterization import (
    Corners,
    Limits,
    parameterise,
    sample,
)

ROUNDING = ((1.0, 1.0), (0.5, 1.0), (0.25, 1.0), (0.1, 1.0), (0.03, 0.0), (0.0, 0.0))
"""Share and shift of a corner, by level.

The first passes about through the way point at full speed, as the obstacle is on its inner side; the last is a stop.
"""
PARTS = 8
"""The number of pieces of a rounded corner."""
SECOND_LOOK_M = 0.0005
"""Amount by which bodies may come closer than their margins if nothing is rounded, m.

The path there was found free by a test that may miss as much between two places, and a second test at other places
must not refuse it.
"""


MOST_PAIRS = 100_000
"""Pairs of a sample and a part of a line that are compared at once, which bounds the memory."""


def timed_free(
    path: Array, query: Query, limits: Limits, names: tuple[str, ...], deadline: Deadline
) -> Trajectory:
    """Time a free path; corners whose rounding would touch are rounded less, and are stops in the end.

    Args:
        path: Way points, (k, n), rad or m.
        query: Robot, scene and margins.
        limits: Limits of velocity, acceleration and jerk.
        names: Joint names, (n,).
        deadline: Limit of time, and the client's request to stop.

    Raises:
        Failed: CANCELED, PLAN_BUDGET, or PLAN_FAILED when even the path with stops is not free.
    """
    path, table = _distinct(path), np.array(ROUNDING)
    level, hit = np.zeros(len(path), dtype=np.int64), np.zeros(2, dtype=np.int64)
    level[[0, -1]] = len(table) - 1
    relaxed = _relaxed(query)
    while True:
        deadline.poll()
        share, shift = table[level].T.copy()
        corners = Corners(share, shift, PARTS, query.robot.lower, query.robot.upper)
        samples = parameterise(path, limits, corners=corners)
        start = 0
        guilty: Ints = np.zeros(0, dtype=np.int64)
        while (bad := _first_blocked(samples.q[start:], query, hit)) >= 0:
            start += bad
            guilty = _guilty(samples, start, level < len(table) - 1)
            if len(guilty) or _first_blocked(samples.q[start - 1 : start + 1], relaxed, hit) >= 0:
                break
        else:
            return sample(samples, names)
        if len(guilty) == 0:
            break
        level[guilty] += 1
    pair = query.pair(hit)
    raise Failed(
        Code.PLAN_FAILED, f"the timed path touches: {pair.a} and {pair.b}; plan again", blocking=pair
    )


def timed_line(
    path: Array,
    line: Array,
    deviation_m: float,
    query: Query,
    limits: Limits,
    names: tuple[str, ...],
    deadline: Deadline,
) -> Trajectory:
    """Time a path along a tool line, slower until rounding stays within ``deviation_m`` and touches nothing.

    Args:
        path: Way points, (k, n), rad or m.
        line: Points of the tool's line in the world, (m, 3), straight between them, m.
        deviation_m: Largest distance of the tool from the line, m.
        query: Robot, scene and margins.
        limits: Limits of velocity, acceleration and jerk.
        names: Joint names, (n,).
        deadline: Limit of time, and the client's request to stop.

    Raises:
        Failed: CANCELED, PLAN_BUDGET, or PLAN_FAILED when no pace does.
    """
    path, pace, relaxed = _distinct(path), 1.0, _relaxed(query)
    hit = np.zeros(2, dtype=np.int64)
    while pace > 0.02:
        deadline.poll()
        samples = parameterise(path, limits, pace)
        off_m = line_deviation(tool_points(samples.q, query), line)
        if off_m <= deviation_m and _first_blocked(samples.q, relaxed, hit) < 0:
            return sample(samples, names)
        pace *= 0.6
    raise Failed(
        Code.PLAN_FAILED, f"no pace keeps the tool within {deviation_m:g} m of its line; allow more deviation"
    )


def tool_points(path: Array, query: Query) -> Array:
    """Return the places of the tool in the world, (k, 3), m.

    Args:
        path: Configurations, (k, n), rad or m.
        query: The robot.
    """
    poses = np.empty((len(path), 12))
    tool_poses(np.ascontiguousarray(path), query.robot, poses)
    return poses[:, 9:]


def line_deviation(points: Array, line: Array) -> float:
    """Return the largest distance of points from a line of straight parts, m.

    Args:
        points: Points, (k, 3), m.
        line: Points of the line, (m, 3), m >= 2, m.
    """
    start, along = line[:-1], np.diff(line, axis=0)
    square = np.maximum((along * along).sum(axis=1), 1e-12)
    worst = 0.0
    for some in np.array_split(points, 1 + len(points) * len(line) // MOST_PAIRS):
        gap = some[:, None] - start
        share = np.clip((gap * along).sum(axis=2) / square, 0.0, 1.0)
        off = np.linalg.norm(gap - share[..., None] * along, axis=2)
        worst = max(worst, float(off.min(axis=1).max(initial=0.0)))
    return worst


def _first_blocked(q: Array, query: Query, hit: Ints) -> int:
    if len(q) < 2:
        return -1
    return first_blocked(query.checker, np.ascontiguousarray(q), hit)


def _relaxed(query: Query) -> Query:
    return query.with_margins(query.margins - SECOND_LOOK_M)


def _guilty(samples: Samples, bad: int, can_yield: NDArray[np.bool_]) -> Ints:
    """Return the way points that shape the motion up to sample ``bad``: rounded ones, else the ends of its line."""
    low, high = int(samples.near[bad - 1, 0]), int(samples.near[bad, 1])
    rounded = np.arange((low + 1) // 2, high // 2 + 1)
    rounded = rounded[can_yield[rounded]]
    if len(rounded):
        return rounded
    ends = np.arange(low // 2, (high + 1) // 2 + 1)
    return ends[can_yield[ends]]


def _distinct(path: Array) -> Array:
    """Return the path without way points that repeat the one before; a path that goes nowhere keeps both ends."""
    keep = np.abs(np.diff(path, axis=0)).max(axis=1) > SAME_WAYPOINT_RAD
    keep[-1] = True
    return np.ascontiguousarray(path[np.concatenate([[True], keep])])
