"""The inner loops: depths of points in hulls, and boxes around bodies, for one world or for many.

They are compiled when this module is imported, so that no decision waits for a compiler, and kept on disk after the
first time. Quaternions are wxyz of unit length, arrays are float64 and C-contiguous.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.process.kernel_cache import prepare
from handiwork_core.process.kernel_index import follow_sources

V1 = numba.types.Array(numba.float64, 1, "C", readonly=True)
V2 = numba.types.Array(numba.float64, 2, "C", readonly=True)
V3 = numba.types.Array(numba.float64, 3, "C", readonly=True)
OUT1 = numba.float64[::1]
OUT2 = numba.float64[:, ::1]
F8 = numba.float64
CACHED = prepare(Path(__file__).parent, numba.config)
BLOCK = 128
"""Number of worlds that are decided together."""

NO_NAN = {"nnan", "nsz", "contract"}
"""Options for loops over numbers that are known to be finite; only these let the compiler vectorise a maximum."""


def compiled(signature: Any) -> Callable[[Any], Any]:  # noqa: ANN401  # a type of Numba
    """Return a decorator that compiles a kernel at once and keeps it on disk; see ``follow_sources``.

    Args:
        signature: Numba signature of the kernel.
    """

    def compile_now(function: Any) -> Any:  # noqa: ANN401  # Numba's dispatcher
        made = numba.njit(cache=CACHED, nogil=True, error_model="numpy")(function)
        if CACHED:
            follow_sources(made)
        made.compile(signature)
        made.disable_compile()
        return made

    return compile_now


@numba.njit(inline="always")
def turned(q: Array, x: float, y: float, z: float, sign: float) -> tuple[float, float, float]:
    """Return a vector turned by a quaternion, or back by it.

    Args:
        q: Unit quaternion, (4,), w first.
        x: First component of the vector.
        y: Second component.
        z: Third component.
        sign: 1 to turn, -1 to turn back.

    Returns:
        The three components of the turned vector.
    """
    w, a, b, c = q[0] * sign, q[1], q[2], q[3]
    u, v, s = 2.0 * (b * z - c * y), 2.0 * (c * x - a * z), 2.0 * (a * y - b * x)
    return (
        x + w * u + (b * s - c * v),
        y + w * v + (c * u - a * s),
        z + w * s + (a * v - b * u),
    )


@numba.njit(fastmath=NO_NAN)
def _outside(planes: Array, x: float, y: float, z: float) -> float:
    """Return the greatest signed distance to a plane; ``planes`` (4, n) has three rows of normals, then offsets."""
    greatest = -1e300
    for i in range(planes.shape[1]):
        greatest = max(greatest, planes[0, i] * x + planes[1, i] * y + planes[2, i] * z + planes[3, i])
    return greatest


@numba.njit(fastmath=NO_NAN)
def _outside_of_block(planes: Array, points: Array, greatest: Array) -> None:
    """Write ``_outside`` of points (3, n): side by side, so that the compiler takes several at once."""
    greatest[:] = -1e300
    for i in range(planes.shape[1]):
        a, b, c, d = planes[0, i], planes[1, i], planes[2, i], planes[3, i]
        for k in range(greatest.shape[0]):
            greatest[k] = max(greatest[k], a * points[0, k] + b * points[1, k] + c * points[2, k] + d)


@numba.njit(inline="always")
def _local(
    point: Array, size: float, q_o: Array, p_o: Array, q_c: Array, p_c: Array
) -> tuple[float, float, float]:
    """Return a point of the object, which is ``size`` times as large, in the container's frame."""
    x, y, z = turned(q_o, size * point[0], size * point[1], size * point[2], 1.0)
    return turned(q_c, x + p_o[0] - p_c[0], y + p_o[1] - p_c[1], z + p_o[2] - p_c[2], -1.0)


@numba.njit(inline="always")
def _rise(
    half: Array, size_o: float, q_o: Array, q_c: Array, size_c: float, share: float, deepest: float
) -> float:
    """Return how much higher than its point an object is tested, along the container's z; see ``depth_of_one``."""
    a, b, c = turned(q_c, 0.0, 0.0, 1.0, 1.0)
    a, b, c = turned(q_o, a, b, c, -1.0)
    length = 2.0 * size_o * (abs(a) * half[0] + abs(b) * half[1] + abs(c) * half[2])
    counts = min(length, deepest * size_c)
    return (share - 0.5) * counts - 0.5 * (length - counts)


@compiled(numba.types.UniTuple(F8, 2)(V2, V2, V1, V1, V1, V1, F8, F8, F8, F8))
def depth_of_one(
    planes: Array, spot: Array, q_o: Array, p_o: Array, q_c: Array, p_c: Array, ceiling: float,
    share: float, deepest: float, room: float,
) -> tuple[float, float]:  # fmt: skip
    """Return the depth of an object's point within the planes of a container.

    Args:
        planes: Planes of the container, (4, n): three rows of outward unit normals, then offsets, m.
        spot: Point in the object's frame, then half the edges of the object's box along its own axes, (2, 3), m.
        q_o: Orientation of the object in world, (4,).
        p_o: Position of the object in world, (3,), m.
        q_c: Orientation of the container in world, (4,).
        p_c: Position of the container in world, (3,), m.
        ceiling: Height in the container's frame above which nothing is inside, m.
        share: Share of the object's length along the container's z that must be inside; 0.5 is that of its point.
        deepest: The length of a longer object counts as this much, from its underside, m.
        room: By how much the container is larger than the object, m; where it is negative, nothing is inside.

    Returns:
        The depth, m, and the number of the nearest face; -1 is the ceiling, -2 that there is no room.
    """
    x, y, z = _local(spot[0], 1.0, q_o, p_o, q_c, p_c)
    z += _rise(spot[1], 1.0, q_o, q_c, 1.0, share, deepest)
    outside, face = _outside(planes, x, y, z), -1
    greatest = -math.inf
    for i in range(planes.shape[1]):
        distance = planes[0, i] * x + planes[1, i] * y + planes[2, i] * z + planes[3, i]
        if distance > greatest:
            greatest, face = distance, i
    if room < 0.0 and -room >= max(outside, z - ceiling):
        return room, -2.0
    if z - ceiling >= outside:
        return ceiling - z, -1.0
    return -outside, float(face)


@compiled(numba.void(V2, V3, V1, V2, V2, V1, V2, V2, F8, F8, F8, F8, V1, F8, OUT1))
def depth_of_many(
    planes: Array,
    spots: Array,
    size_o: Array,
    q_o: Array,
    p_o: Array,
    size_c: Array,
    q_c: Array,
    p_c: Array,
    top: float,
    above: float,
    share: float,
    deepest: float,
    bulks: Array,
    bulk_c: float,
    depths: Array,
) -> None:
    """Write the depths of an object's point within the planes of a container, for many worlds.

    Args:
        planes: Planes of the container at size 1, (4, k): three rows of outward unit normals, then offsets, m.
        spots: ``spot`` of ``depth_of_one`` at size 1, (1, 2, 3), or of one object for each world, (n, 2, 3), m.
        size_o: Sizes of the object, (n,).
        q_o: Orientations of the object in world, (n, 4).
        p_o: Positions of the object in world, (n, 3), m.
        size_c: Sizes of the container, (n,).
        q_c: Orientations of the container in world, (n, 4).
        p_c: Positions of the container in world, (n, 3), m.
        top: Height of the container at size 1, in its frame, m; it grows with the container.
        above: Height over ``top`` up to which the inside reaches, m; it does not grow.
        share: See ``depth_of_one``.
        deepest: See ``depth_of_one``, at size 1, m.
        bulks: Edge of a cube of the object's volume at size 1, (1,) or (n,), m; an object larger than the container is
            not inside.
        bulk_c: The same of the container, m.
        depths: Output, (n,), m; nan where a pose is nan.
    """
    points, greatest = np.zeros((3, BLOCK)), np.empty(BLOCK)
    for first in range(0, depths.shape[0], BLOCK):
        block = depths[first : first + BLOCK]
        for k in range(block.shape[0]):
            i = first + k
            o = min(i, spots.shape[0] - 1)
            x, y, z = _local(spots[o, 0], size_o[i], q_o[i], p_o[i], q_c[i], p_c[i])
            z += _rise(spots[o, 1], size_o[i], q_o[i], q_c[i], size_c[i], share, deepest)
            total = x + y + z
            known = total - total == 0.0
            shrink = 1.0 / size_c[i]
            points[0, k], points[1, k], points[2, k] = (
                (x * shrink, y * shrink, z * shrink) if known else (0.0, 0.0, 0.0)
            )
            block[k] = top * size_c[i] + above - z if known else math.nan
        _outside_of_block(planes, points, greatest)
        for k in range(block.shape[0]):
            depth = -greatest[k] * size_c[first + k]
            # A comparison with nan is false, so that nan stays.
            if depth < block[k]:
                block[k] = depth
            i = first + k
            room = bulk_c * size_c[i] - bulks[min(i, bulks.shape[0] - 1)] * size_o[i]
            if room < 0.0 and room < block[k]:
                block[k] = room


@numba.njit(inline="always")
def _box(balls: Array, discs: Array, q: Array, p: Array, box: Array) -> None:
    """Write the lowest, then the highest corner of the box around balls (n, 4) and discs (m, 7) that were moved."""
    for k in range(3):
        box[k], box[3 + k] = math.inf, -math.inf
    for i in range(balls.shape[0]):
        place = turned(q, balls[i, 0], balls[i, 1], balls[i, 2], 1.0)
        for k in range(3):
            box[k] = min(box[k], place[k] + p[k] - balls[i, 3])
            box[3 + k] = max(box[3 + k], place[k] + p[k] + balls[i, 3])
    for i in range(discs.shape[0]):
        place = turned(q, discs[i, 0], discs[i, 1], discs[i, 2], 1.0)
        axis = turned(q, discs[i, 3], discs[i, 4], discs[i, 5], 1.0)
        for k in range(3):
            reach = discs[i, 6] * math.sqrt(max(0.0, 1.0 - axis[k] * axis[k]))
            box[k] = min(box[k], place[k] + p[k] - reach)
            box[3 + k] = max(box[3 + k], place[k] + p[k] + reach)


@compiled(numba.void(V2, V2, V2, V2, OUT2))
def boxes_of_many(balls: Array, discs: Array, q: Array, p: Array, boxes: Array) -> None:
    """Write the axis-aligned boxes of a body at many poses.

    Args:
        balls: Centre and radius in the body's frame, zero for a plain point, (k, 4), m.
        discs: Centre, axis and radius in the body's frame, (m, 7), m.
        q: Orientations in world, (n, 4).
        p: Positions in world, (n, 3), m.
        boxes: Output, (n, 6), m: lowest corner, then highest, in world; nan where a pose is nan.
    """
    for i in range(boxes.shape[0]):
        total = np.sum(q[i]) + np.sum(p[i])
        if total - total != 0.0:
            boxes[i, :] = math.nan
        else:
            _box(balls, discs, q[i], p[i], boxes[i])
