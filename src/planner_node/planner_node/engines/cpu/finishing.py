"""From a path to a trajectory: time it, look again for collisions, and give way where rounding a corner touches."""

from __future__ import annotations

import numpy as np

from handiwork_core.geometry import Array
from handiwork_core.outcome import Code
from handiwork_core.trajectory import Trajectory

from .arrays import Ints
from .edges import first_blocked
from .kinematics import tool_poses
from .query import Query
from .requests import Deadline, Failed
from .timing import Limits, Timed, parameterise, sample


def timed_free(
    path: Array, query: Query, limits: Limits, names: tuple[str, ...], deadline: Deadline
) -> Trajectory:
    """Time ``path`` (k, n); corners whose rounding would touch become stops, as the path itself is known to be free.

    Raises:
        Failed: stopped, out of time, or PLAN_FAILED when even the path with stops is not free.
    """
    path, stops = _distinct(path), set[int]()
    hit = np.zeros(2, dtype=np.int64)
    while True:
        deadline.poll()
        points, index = _with_stops(path, stops)
        timed = parameterise(points, limits)
        trajectory = sample(timed, names)
        bad = _first_blocked(trajectory, query, hit)
        if bad < 0:
            return trajectory
        corners = _corners_at(timed, index, float(trajectory.t_s[bad])) - stops
        inner = set(range(1, len(path) - 1))
        if inner <= stops:
            break
        stops |= (corners & inner) or inner
    pair = query.pair(hit)
    raise Failed(
        Code.PLAN_FAILED, f"the timed path touches: {pair.a} and {pair.b}; plan again", blocking=pair
    )


def timed_straight(
    path: Array, deviation_m: float, query: Query, limits: Limits, names: tuple[str, ...], deadline: Deadline
) -> Trajectory:
    """Time a path along a tool line, slower until rounding stays within ``deviation_m`` and touches nothing."""
    path, pace = _distinct(path), 1.0
    hit = np.zeros(2, dtype=np.int64)
    while pace > 0.02:
        deadline.poll()
        trajectory = sample(parameterise(path, limits, pace), names)
        if line_deviation(trajectory.q, query) <= deviation_m and _first_blocked(trajectory, query, hit) < 0:
            return trajectory
        pace *= 0.75
    raise Failed(
        Code.PLAN_FAILED, f"no pace keeps the tool within {deviation_m:g} m of its line; allow more deviation"
    )


def line_deviation(path: Array, query: Query) -> float:
    """Farthest distance [m] of the tool from the segment between its first and last place on ``path`` (k, n)."""
    poses = np.empty((len(path), 12))
    tool_poses(np.ascontiguousarray(path), query.robot, poses)
    p = poses[:, 9:]
    line = p[-1] - p[0]
    share = np.clip((p - p[0]) @ line / max(float(line @ line), 1e-12), 0.0, 1.0)
    return float(np.linalg.norm(p - p[0] - share[:, None] * line, axis=1).max())


def _first_blocked(trajectory: Trajectory, query: Query, hit: Ints) -> int:
    return first_blocked(
        np.ascontiguousarray(trajectory.q), query.robot, query.scene, query.margins, query.frames, hit
    )


def _distinct(path: Array) -> Array:
    """Without way points that repeat the one before; a path that goes nowhere keeps both ends."""
    keep = np.abs(np.diff(path, axis=0)).max(axis=1) > 1e-9
    keep[-1] = True
    return np.ascontiguousarray(path[np.concatenate([[True], keep])])


def _with_stops(path: Array, stops: set[int]) -> tuple[Array, Ints]:
    """Repeat the way points in ``stops``; also the original index of each row."""
    index = np.array([i for i in range(len(path)) for _ in range(2 if i in stops else 1)], dtype=np.int64)
    return path[index], index


def _corners_at(timed: Timed, index: Ints, t_s: float) -> set[int]:
    """Way points that act on the motion at ``t_s``."""
    window = (timed.knots <= t_s) & (timed.knots >= t_s - timed.t1 - timed.t2 - 0.02)
    return {int(i) for i in index[window]}
