"""The inner loop over the points of a body along a direction, for one world or for many."""

from __future__ import annotations

import math

import numba
import numpy as np

from handiwork_core.model.geometry import Array

from .kernels import F8, OUT2, V1, V2, compiled, turned


@numba.njit
def _reach(
    points: Array, q: Array, p: Array, size: float, x: float, y: float, z: float
) -> tuple[float, float]:
    a, b, c = turned(q, x, y, z, -1.0)
    low, high = math.inf, -math.inf
    for k in range(points.shape[0]):
        along = a * points[k, 0] + b * points[k, 1] + c * points[k, 2]
        low, high = min(low, along), max(high, along)
    origin = x * p[0] + y * p[1] + z * p[2]
    return origin + size * low, origin + size * high


@compiled(numba.types.UniTuple(F8, 2)(V2, V1, V1, F8, F8, F8))
def reach_of_one(points: Array, q: Array, p: Array, x: float, y: float, z: float) -> tuple[float, float]:
    """Return the least and the greatest coordinate of a body along a direction, m.

    Args:
        points: Points of its pieces in its frame, (k, 3), m.
        q: Orientation in world, (4,).
        p: Position in world, (3,), m.
        x: The direction's x.
        y: The direction's y.
        z: The direction's z.
    """
    return _reach(points, q, p, 1.0, x, y, z)


@compiled(numba.void(V2, V1, V2, V2, V2, OUT2))
def reach_of_many(points: Array, sizes: Array, q: Array, p: Array, directions: Array, reach: Array) -> None:
    """Write ``reach_of_one`` for many worlds.

    Args:
        points: Points of the body's pieces at size 1, (k, 3), m.
        sizes: Sizes of the body, (n,).
        q: Its orientations in world, (n, 4).
        p: Its positions in world, (n, 3), m.
        directions: Directions, (n, 3).
        reach: Output, least, then greatest, (2, n), m; nan where a number is nan.
    """
    for i in range(sizes.shape[0]):
        total = np.sum(q[i]) + np.sum(p[i]) + np.sum(directions[i])
        if total - total != 0.0:
            reach[0, i] = reach[1, i] = math.nan
        else:
            reach[0, i], reach[1, i] = _reach(
                points, q[i], p[i], sizes[i], directions[i, 0], directions[i, 1], directions[i, 2]
            )
