"""The inner loops over bodies seen from above: polygons of their convex pieces, and distances between these.

Piece j of a body has the points ``ends[j]`` to ``ends[j + 1]``; its polygon begins at the same row of ``outline`` and
has ``counts[j]`` corners, counter-clockwise. Several bodies may lie in one array.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array

from .kernels import F8, OUT2, V1, V2, compiled, turned

Ends = NDArray[np.int64]
I1 = numba.types.Array(numba.int64, 1, "C", readonly=True)
OUT_I1 = numba.int64[::1]
I8 = numba.int64
FEW = 32
TIE = 1e-7
"""Share of y in the order of corners along x, so that those of equal x are in order too."""


@numba.njit
def _sorted(keys: Array, order: Ends) -> None:
    """Write the indices of rising keys; the few corners of a box need no better way."""
    if keys.shape[0] > FEW:
        order[:] = np.argsort(keys)
        return
    for k in range(keys.shape[0]):
        m = k
        while m > 0 and keys[order[m - 1]] > keys[k]:
            order[m] = order[m - 1]
            m -= 1
        order[m] = k


@numba.njit
def _scratch(ends: Ends) -> tuple[Array, Array, Ends, Ends]:
    most = np.max(ends[1:] - ends[:-1])
    return np.empty((most, 2)), np.empty(most), np.empty(most, np.int64), np.empty(2 * most + 2, np.int64)


@numba.njit
def _outline(
    points: Array, ends: Ends, q: Array, p: Array, size: float, outline: Array, counts: Ends,
    flat: Array, keys: Array, order: Ends, used: Ends,
) -> None:  # fmt: skip
    """Write the polygons of one body: the lower half of the outline by rising x, then the upper half."""
    for j in range(counts.shape[0]):
        first, n, m = ends[j], ends[j + 1] - ends[j], 0
        for k in range(n):
            x, y, z = size * points[first + k, 0], size * points[first + k, 1], size * points[first + k, 2]
            x, y, z = turned(q, x, y, z, 1.0)
            flat[k, 0], flat[k, 1], keys[k] = x + p[0], y + p[1], x + TIE * y
        _sorted(keys[:n], order[:n])
        for half in range(2):
            start = m
            for k in range(n):
                c = order[k] if half == 0 else order[n - 1 - k]
                while m >= start + 2:
                    a, b = used[m - 2], used[m - 1]
                    turn = (flat[b, 0] - flat[a, 0]) * (flat[c, 1] - flat[a, 1]) - (
                        flat[b, 1] - flat[a, 1]
                    ) * (flat[c, 0] - flat[a, 0])
                    if turn > 0.0:
                        break
                    m -= 1
                used[m] = c
                m += 1
            m -= 1
        counts[j] = max(m, 1)
        for k in range(counts[j]):
            outline[first + k, 0], outline[first + k, 1] = flat[used[k], 0], flat[used[k], 1]


@numba.njit
def _to_side(ax: float, ay: float, bx: float, by: float, x: float, y: float) -> tuple[float, float]:
    """Return the shortest vector from the line between two corners to a point."""
    ex, ey = bx - ax, by - ay
    length = ex * ex + ey * ey
    share = min(max(((x - ax) * ex + (y - ay) * ey) / length, 0.0), 1.0) if length > 0.0 else 0.0
    return x - ax - share * ex, y - ay - share * ey


@numba.njit
def _inset(outline: Array, first: int, n: int, x: float, y: float) -> float:
    """Return how far a point is within a polygon; less than 0 outside."""
    nearest, inside = math.inf, n > 2
    for k in range(n):
        a, b = first + k, first + (k + 1) % n
        dx, dy = _to_side(outline[a, 0], outline[a, 1], outline[b, 0], outline[b, 1], x, y)
        nearest = min(nearest, dx * dx + dy * dy)
        left = (outline[b, 0] - outline[a, 0]) * (y - outline[a, 1]) - (outline[b, 1] - outline[a, 1]) * (
            x - outline[a, 0]
        )
        inside = inside and left >= 0.0
    return math.sqrt(nearest) if inside else -math.sqrt(nearest)


@numba.njit
def _inset_of_body(
    outline: Array, ends: Ends, counts: Ends, first: int, last: int, x: float, y: float
) -> float:
    greatest = -math.inf
    for j in range(first, last):
        greatest = max(greatest, _inset(outline, ends[j], counts[j], x, y))
    return greatest


@numba.njit
def _is_apart(a: Array, i: int, n: int, b: Array, j: int, m: int) -> bool:
    """Return True when a side of the first polygon has the other one wholly beyond it."""
    for k in range(n):
        s, t = i + k, i + (k + 1) % n
        ex, ey = a[t, 0] - a[s, 0], a[t, 1] - a[s, 1]
        beyond = True
        for o in range(j, j + m):
            beyond = beyond and ex * (b[o, 1] - a[s, 1]) - ey * (b[o, 0] - a[s, 0]) < 0.0
        if beyond:
            return True
    return False


@numba.njit
def _between(a: Array, i: int, n: int, b: Array, j: int, m: int) -> tuple[float, float]:
    """Return the shortest vector from the second polygon to the first; zero where they overlap."""
    if not (_is_apart(a, i, n, b, j, m) or _is_apart(b, j, m, a, i, n)):
        return 0.0, 0.0
    x, y, nearest = 0.0, 0.0, math.inf
    for k in range(n):
        s, t = i + k, i + (k + 1) % n
        for o in range(m):
            u, v = j + o, j + (o + 1) % m
            dx, dy = _to_side(b[u, 0], b[u, 1], b[v, 0], b[v, 1], a[s, 0], a[s, 1])
            if dx * dx + dy * dy < nearest:
                x, y, nearest = dx, dy, dx * dx + dy * dy
            dx, dy = _to_side(a[s, 0], a[s, 1], a[t, 0], a[t, 1], b[u, 0], b[u, 1])
            if dx * dx + dy * dy < nearest:
                x, y, nearest = -dx, -dy, dx * dx + dy * dy
    return x, y


@numba.njit
def _between_bodies(
    a: Array, a_ends: Ends, a_counts: Ends, a_first: int, a_last: int,
    b: Array, b_ends: Ends, b_counts: Ends, b_first: int, b_last: int,
) -> tuple[float, float]:  # fmt: skip
    x, y, nearest = math.nan, math.nan, math.inf
    for j in range(a_first, a_last):
        for k in range(b_first, b_last):
            dx, dy = _between(a, a_ends[j], a_counts[j], b, b_ends[k], b_counts[k])
            if dx * dx + dy * dy < nearest:
                x, y, nearest = dx, dy, dx * dx + dy * dy
    return x, y


@compiled(numba.void(V2, I1, V1, V1, OUT2, OUT_I1))
def outline_of_one(points: Array, ends: Ends, q: Array, p: Array, outline: Array, counts: Ends) -> None:
    """Write the polygons of a body.

    Args:
        points: Points of its pieces in its frame, (k, 3), m.
        ends: Where the points of each piece begin, (m + 1,).
        q: Orientation in world, (4,).
        p: Position in world, (3,), m.
        outline: Output, corners in world, (k, 2), m.
        counts: Output, number of corners of each piece, (m,).
    """
    flat, keys, order, used = _scratch(ends)
    _outline(points, ends, q, p, 1.0, outline, counts, flat, keys, order, used)


@compiled(F8(V2, I1, I1, F8, F8))
def inset_of_one(outline: Array, ends: Ends, counts: Ends, x: float, y: float) -> float:
    """Return how far a point is within the outline of a body, m; less than 0 outside.

    Args:
        outline: Corners, (k, 2), m.
        ends: Where each piece begins, (m + 1,).
        counts: Number of corners of each piece, (m,).
        x: The point's x, m.
        y: The point's y, m.
    """
    return _inset_of_body(outline, ends, counts, 0, counts.shape[0], x, y)


@compiled(numba.types.UniTuple(F8, 2)(V2, I1, I1, V2, I1, I1))
def between_two(
    a: Array, a_ends: Ends, a_counts: Ends, b: Array, b_ends: Ends, b_counts: Ends
) -> tuple[float, float]:
    """Return the shortest vector (x, y) from body b to body a, seen from above; zero where they overlap.

    Args:
        a: Corners of a, (k, 2), m.
        a_ends: Where each piece of a begins.
        a_counts: Number of corners of each piece of a.
        b: Corners of b, m.
        b_ends: Where each piece of b begins.
        b_counts: Number of corners of each piece of b.
    """
    return _between_bodies(
        a, a_ends, a_counts, 0, a_counts.shape[0], b, b_ends, b_counts, 0, b_counts.shape[0]
    )
