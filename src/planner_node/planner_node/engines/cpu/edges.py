"""Continuous test of straight joint motions by bisection with motion bounds (Schwarzer, Saha, Latombe 2005).

Each piece of a path asks only the pairs that its parent could not clear, so deep pieces ask few.
"""

from __future__ import annotations

import numpy as np

from handiwork_core.geometry import Array

from .arrays import Ints, RobotArrays, SceneArrays
from .collision import pairs_on, screen, touches
from .jit import kernel


@kernel
def middle_of(path: Array, low: float, high: float, q: Array, move: Array) -> float:
    """Middle of the piece between places ``low`` and ``high`` on ``path`` (k, n), counted in rows.

    Writes the configuration there to ``q`` (n,) and the farthest that each joint is from it on the piece to
    ``move`` (n,). A piece longer than one row starts and ends at rows, and is split at a row.
    """
    n = path.shape[1]
    if high - low > 1.0:
        middle = np.floor(0.5 * (low + high))
        m = int(middle)
        for j in range(n):
            q[j], move[j] = path[m, j], 0.0
            for i in range(int(low), int(high) + 1):
                move[j] = max(move[j], abs(path[i, j] - q[j]))
        return middle
    middle = 0.5 * (low + high)
    i = min(int(low), len(path) - 2)
    for j in range(n):
        step = path[i + 1, j] - path[i, j]
        q[j] = path[i, j] + (middle - i) * step
        move[j] = 0.5 * (high - low) * abs(step)
    return middle


@kernel
def blocked_at(
    path: Array, robot: RobotArrays, scene: SceneArrays, margins: Array, frames: Array, hit: Ints
) -> int:
    """Row of ``path`` (k, n) at, or before, which the straight motions through all rows touch; -1: they are free.

    The last row is tested, the first is taken as tested. Breadth first: all pieces of one size before the next, so that
    blocked paths end early; the row is therefore not always the first one. ``hit`` (2,) gets the pair.
    """
    n = path.shape[1]
    q, move = np.empty(n), np.empty(n)
    active = pairs_on(robot, scene, margins)
    ends, first = np.array([[0.0, len(path) - 1.0]]), np.array([0, len(active)])
    root = True
    while len(ends) > 0:
        count, filled = 0, 0
        halves, begin = np.empty((2 * len(ends), 2)), np.zeros(2 * len(ends) + 1, dtype=np.int64)
        kept = np.empty((2 * len(active), 2), dtype=np.int64)
        for i in range(len(ends)):
            low, high = ends[i, 0], ends[i, 1]
            middle = middle_of(path, low, high, q, move)
            near = screen(
                q, move, active[first[i] : first[i + 1]], robot, scene, margins, frames, kept[filled:], hit
            )
            if near < 0:
                return max(1, int(np.ceil(middle)))
            if root and touches(path[-1], kept[:near], robot, scene, margins, frames, hit):
                return len(path) - 1
            root = False
            if near == 0 or middle <= low or middle >= high:
                continue
            kept[filled + near : filled + 2 * near] = kept[filled : filled + near]
            halves[count, 0], halves[count, 1] = low, middle
            halves[count + 1, 0], halves[count + 1, 1] = middle, high
            begin[count + 1], begin[count + 2] = filled + near, filled + 2 * near
            filled += 2 * near
            count += 2
        ends, first, active = halves[:count], begin[: count + 1], kept[:filled]
    return -1


@kernel
def edge_is_free(
    a: Array, b: Array, robot: RobotArrays, scene: SceneArrays, margins: Array, frames: Array, hit: Ints
) -> bool:
    """Is the straight motion from ``a`` (n,) to ``b`` (n,) free? ``b`` itself is tested, ``a`` is taken as tested."""
    path = np.empty((2, len(a)))
    path[0], path[1] = a, b
    return blocked_at(path, robot, scene, margins, frames, hit) < 0


@kernel
def first_blocked(
    path: Array, robot: RobotArrays, scene: SceneArrays, margins: Array, frames: Array, hit: Ints
) -> int:
    """The first row of ``path`` (k, n) that cannot be reached from the one before, as bisection tells; -1: none."""
    row, earlier = -1, blocked_at(path, robot, scene, margins, frames, hit)
    pair = hit.copy()
    while earlier >= 0:
        row = earlier
        pair[:] = hit
        if row < 2:
            break
        earlier = blocked_at(path[:row], robot, scene, margins, frames, hit)
    hit[:] = pair
    return row
