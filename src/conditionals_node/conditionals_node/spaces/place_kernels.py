"""The inner loops over two bodies seen from above, given their poses, for one world or for many."""

from __future__ import annotations

import math

import numba
import numpy as np

from handiwork_core.model.geometry import Array

from .footprint_kernels import I1, Ends, _between_bodies, _inset_of_body, _outline, _scratch
from .kernels import F8, OUT1, V1, V2, compiled, turned


@compiled(F8(V2, I1, V1, V1, V1, V1, V1))
def inset_at(points: Array, ends: Ends, q: Array, p: Array, spot: Array, q_o: Array, p_o: Array) -> float:
    """Return how far a point of an object is within the outline of a body, m; less than 0 outside.

    Args:
        points: Points of the body's pieces in its frame, (k, 3), m.
        ends: Where the points of each piece begin, (m + 1,).
        q: Orientation of the body in world, (4,).
        p: Position of the body in world, (3,), m.
        spot: The point in the object's frame, (3,), m.
        q_o: Orientation of the object in world, (4,).
        p_o: Position of the object in world, (3,), m.
    """
    outline, counts = np.empty((points.shape[0], 2)), np.empty(ends.shape[0] - 1, np.int64)
    flat, keys, order, used = _scratch(ends)
    _outline(points, ends, q, p, 1.0, outline, counts, flat, keys, order, used)
    x, y, _ = turned(q_o, spot[0], spot[1], spot[2], 1.0)
    return _inset_of_body(outline, ends, counts, 0, counts.shape[0], x + p_o[0], y + p_o[1])


@compiled(numba.types.UniTuple(F8, 2)(V2, I1, V1, V1, V2, I1, V1, V1))
def between_at(
    a: Array, a_ends: Ends, a_q: Array, a_p: Array, b: Array, b_ends: Ends, b_q: Array, b_p: Array
) -> tuple[float, float]:
    """Return the shortest vector (x, y) from body b to body a, seen from above, m; zero where they overlap.

    Args:
        a: Points of the pieces of a, (k, 3), m.
        a_ends: Where the points of each piece of a begin.
        a_q: Orientation of a in world, (4,).
        a_p: Position of a in world, (3,), m.
        b: Points of the pieces of b, m.
        b_ends: Where the points of each piece of b begin.
        b_q: Orientation of b in world, (4,).
        b_p: Position of b in world, (3,), m.
    """
    a_outline, a_counts = np.empty((a.shape[0], 2)), np.empty(a_ends.shape[0] - 1, np.int64)
    b_outline, b_counts = np.empty((b.shape[0], 2)), np.empty(b_ends.shape[0] - 1, np.int64)
    flat, keys, order, used = _scratch(a_ends)
    _outline(a, a_ends, a_q, a_p, 1.0, a_outline, a_counts, flat, keys, order, used)
    flat, keys, order, used = _scratch(b_ends)
    _outline(b, b_ends, b_q, b_p, 1.0, b_outline, b_counts, flat, keys, order, used)
    return _between_bodies(
        a_outline, a_ends, a_counts, 0, a_counts.shape[0], b_outline, b_ends, b_counts, 0, b_counts.shape[0]
    )


@compiled(numba.void(V2, I1, V1, V2, V2, V1, V1, OUT1))
def insets_of_many(
    points: Array, ends: Ends, sizes: Array, q: Array, p: Array, x: Array, y: Array, insets: Array
) -> None:
    """Write how far points are within the outline of a body, for many worlds.

    Args:
        points: Points of the body's pieces at size 1, (k, 3), m.
        ends: Where the points of each piece begin, (m + 1,).
        sizes: Sizes of the body, (n,).
        q: Its orientations in world, (n, 4).
        p: Its positions in world, (n, 3), m.
        x: The points' x, (n,), m.
        y: The points' y, (n,), m.
        insets: Output, (n,), m; nan where a number is nan.
    """
    outline, counts = np.empty((points.shape[0], 2)), np.empty(ends.shape[0] - 1, np.int64)
    flat, keys, order, used = _scratch(ends)
    for i in range(insets.shape[0]):
        total = np.sum(q[i]) + np.sum(p[i]) + x[i] + y[i]
        if total - total != 0.0:
            insets[i] = math.nan
            continue
        _outline(points, ends, q[i], p[i], sizes[i], outline, counts, flat, keys, order, used)
        insets[i] = _inset_of_body(outline, ends, counts, 0, counts.shape[0], x[i], y[i])


@compiled(numba.void(V2, I1, V1, V2, V2, V2, I1, V1, V2, V2, OUT1, OUT1))
def between_many(
    a: Array, a_ends: Ends, a_sizes: Array, a_q: Array, a_p: Array,
    b: Array, b_ends: Ends, b_sizes: Array, b_q: Array, b_p: Array, x: Array, y: Array,
) -> None:  # fmt: skip
    """Write the shortest vector from body b to body a, seen from above, for many worlds.

    Args:
        a: Points of the pieces of a at size 1, (k, 3), m.
        a_ends: Where the points of each piece of a begin.
        a_sizes: Sizes of a, (n,).
        a_q: Orientations of a in world, (n, 4).
        a_p: Positions of a in world, (n, 3), m.
        b: Points of the pieces of b at size 1, m.
        b_ends: Where the points of each piece of b begin.
        b_sizes: Sizes of b, (n,).
        b_q: Orientations of b in world, (n, 4).
        b_p: Positions of b in world, (n, 3), m.
        x: Output, (n,), m; zero where they overlap, nan where a pose is nan.
        y: Output, (n,), m.
    """
    a_outline, a_counts = np.empty((a.shape[0], 2)), np.empty(a_ends.shape[0] - 1, np.int64)
    b_outline, b_counts = np.empty((b.shape[0], 2)), np.empty(b_ends.shape[0] - 1, np.int64)
    a_flat, a_keys, a_order, a_used = _scratch(a_ends)
    b_flat, b_keys, b_order, b_used = _scratch(b_ends)
    for i in range(x.shape[0]):
        total = np.sum(a_q[i]) + np.sum(a_p[i]) + np.sum(b_q[i]) + np.sum(b_p[i])
        if total - total != 0.0:
            x[i], y[i] = math.nan, math.nan
            continue
        _outline(a, a_ends, a_q[i], a_p[i], a_sizes[i], a_outline, a_counts, a_flat, a_keys, a_order, a_used)
        _outline(b, b_ends, b_q[i], b_p[i], b_sizes[i], b_outline, b_counts, b_flat, b_keys, b_order, b_used)
        x[i], y[i] = _between_bodies(
            a_outline,
            a_ends,
            a_counts,
            0,
            a_counts.shape[0],
            b_outline,
            b_ends,
            b_counts,
            0,
            b_counts.shape[0],
        )
