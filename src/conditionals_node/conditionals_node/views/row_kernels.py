"""The inner loops over the objects of one world: centres, boxes and depths, each row with a geometry of its own.

Rows of ``planes`` (k, 4), ``balls`` and ``discs`` belong to object i from ``ends[i]`` up to ``ends[i + 1]``.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numpy.typing import NDArray

from conditionals_node.spaces.kernels import F8, OUT1, OUT2, V1, V2, _box, _local, compiled, turned
from handiwork_core.model.geometry import Array

Ends = NDArray[np.int64]
I1 = numba.types.Array(numba.int64, 1, "C", readonly=True)


@compiled(numba.void(V2, V2, V2, OUT2))
def centres_of_each(points: Array, q: Array, p: Array, centres: Array) -> None:
    """Write one point of each object in world.

    Args:
        points: Points in the objects' frames, (n, 3), m.
        q: Orientations in world, (n, 4).
        p: Positions in world, (n, 3), m.
        centres: Output, (n, 3), m.
    """
    for i in range(centres.shape[0]):
        x, y, z = turned(q[i], points[i, 0], points[i, 1], points[i, 2], 1.0)
        centres[i, 0], centres[i, 1], centres[i, 2] = x + p[i, 0], y + p[i, 1], z + p[i, 2]


@compiled(numba.void(V2, I1, V2, I1, V2, V2, OUT2))
def boxes_of_each(
    balls: Array, ball_ends: Ends, discs: Array, disc_ends: Ends, q: Array, p: Array, boxes: Array
) -> None:
    """Write the axis-aligned box of each object.

    Args:
        balls: Centre and radius in the objects' frames, (k, 4), m.
        ball_ends: Where the balls of each object begin, (n + 1,).
        discs: Centre, axis and radius in the objects' frames, (m, 7), m.
        disc_ends: Where the discs of each object begin, (n + 1,).
        q: Orientations in world, (n, 4).
        p: Positions in world, (n, 3), m.
        boxes: Output, (n, 6) in world, m: lowest corner, then highest.
    """
    for i in range(boxes.shape[0]):
        own_balls = balls[ball_ends[i] : ball_ends[i + 1]]
        own_discs = discs[disc_ends[i] : disc_ends[i + 1]]
        _box(own_balls, own_discs, q[i], p[i], boxes[i])


@compiled(numba.void(V2, I1, V2, V2, V2, I1, I1, V1, F8, OUT1))
def depth_of_each(
    planes: Array,
    ends: Ends,
    points: Array,
    q: Array,
    p: Array,
    of: Ends,
    at: Ends,
    tops: Array,
    above: float,
    depths: Array,
) -> None:
    """Write the depths for pairs of objects; see ``kernels.depth_of_one``.

    Args:
        planes: Outward unit normal and offset in the objects' frames, (k, 4), m.
        ends: Where the planes of each object begin, (n + 1,).
        points: Points in the objects' frames, (n, 3), m.
        q: Orientations in world, (n, 4).
        p: Positions in world, (n, 3), m.
        of: Objects whose point is taken, (r,).
        at: Objects that are the container, (r,).
        tops: z of the highest corner in the objects' frames, (n,), m.
        above: Height over the top up to which the inside reaches, m.
        depths: Output, (r,), m.
    """
    for k in range(depths.shape[0]):
        o, c = of[k], at[k]
        x, y, z = _local(points[o], 1.0, q[o], p[o], q[c], p[c])
        greatest = -math.inf
        for i in range(ends[c], ends[c + 1]):
            distance = planes[i, 0] * x + planes[i, 1] * y + planes[i, 2] * z + planes[i, 3]
            greatest = max(greatest, distance)
        depths[k] = -max(greatest, z - tops[c] - above)
