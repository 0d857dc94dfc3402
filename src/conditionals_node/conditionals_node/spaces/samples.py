"""Points that stand for equal shares of a body: within its convex shapes, on the surface of its meshes."""

from __future__ import annotations

import functools
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from handiwork_core.model.geometry import Array, frozen
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.scene.bounds import hull_points
from handiwork_core.scene.mesh import signed_volume

COUNT = 33
"""Odd, so that the middle point of a body that is the same on both sides is its centre."""
LATTICE = np.array([1.0, 4.0, 10.0]) / COUNT
"""Steps through a box in which the points have equal distances along each axis."""
SEQUENCE: Array = np.power(1.2207440846057596, [-1.0, -2.0, -3.0])
"""Steps that spread any number of points; the number is that of the golden ratio for three axes."""


@functools.lru_cache(maxsize=1024)
def samples(item: WorldObject) -> Array:
    """Return points of a body.

    Args:
        item: The body; its shapes have volume together.

    Returns:
        (``COUNT``, 3) in the body's frame, m.
    """
    volumes = np.array([_volume(shape) for shape in item.shapes])
    if not volumes.any():  # sheets that cross
        points = np.vstack([hull_points(shape) for shape in item.shapes])
        return frozen(_within(points, COUNT))
    ends = np.rint(np.cumsum(volumes) / volumes.sum() * COUNT).astype(int)
    counts = np.diff(ends, prepend=0).tolist()
    return frozen(np.vstack([_points(s, n) for s, n in zip(item.shapes, counts, strict=True) if n]))


def _volume(shape: Shape) -> float:
    if shape.triangles is not None:
        return abs(signed_volume(cast("Array", shape.vertices), shape.triangles))
    try:
        return float(ConvexHull(hull_points(shape)).volume)
    except QhullError:
        return 0.0


def _points(shape: Shape, count: int) -> Array:
    points, pose = hull_points(shape), shape.object_T_shape
    if shape.triangles is not None:
        return _on_surface(points[shape.triangles], count)
    local = pose.inverse().apply(points)
    if shape.kind is ShapeKind.BOX and count == COUNT:
        return pose.apply(local.min(axis=0) + _steps(COUNT, LATTICE) * np.ptp(local, axis=0))
    return pose.apply(_within(local, count))


def _steps(count: int, step: Array) -> Array:
    """Return points (count, 3) of the unit cube, in pairs about its middle, the nearest first."""
    turns = np.arange(1, count + 1) // 2 * np.where(np.arange(count) % 2, 1, -1)
    return np.asarray((turns[:, None] * step + 0.5) % 1.0)


def _within(points: Array, count: int) -> Array:
    """Return points spread evenly in the hull of points."""
    planes, low, edges = ConvexHull(points).equations, points.min(axis=0), np.ptp(points, axis=0)
    found, tried = np.zeros((0, 3)), 4 * count
    while len(found) < count:
        drawn = low + _steps(tried, SEQUENCE) * edges
        found = drawn[(drawn @ planes[:, :3].T + planes[:, 3] <= 0.0).all(axis=1)]
        tried *= 4
    return found[:count]


def _on_surface(triangles: Array, count: int) -> Array:
    """Return points spread evenly over triangles (n, 3, 3)."""
    a, b, c = np.moveaxis(triangles, 1, 0)
    sizes = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    which, s, t = (_radical_inverses(count, base) for base in (2, 3, 5))
    row = np.searchsorted(np.cumsum(sizes) / sizes.sum(), which).clip(max=len(sizes) - 1)
    # The root gives equal areas equal numbers of points.
    s, t = np.sqrt(s)[:, None], t[:, None]
    return np.asarray(a[row] + s * ((1.0 - t) * (b - a)[row] + t * (c - a)[row]), dtype=np.float64)


def _radical_inverses(count: int, base: int) -> Array:
    """Return the numbers 1 to ``count``, their digits in ``base`` mirrored at the point: an axis of Halton's sequence.

    ``scipy.stats.qmc`` has it too, but takes a fifth of the start of the node to import.

    Source: J. H. Halton, "On the efficiency of certain quasi-random sequences of points in evaluating
    multi-dimensional integrals", Numerische Mathematik 2, 1960.
    """
    numbers: NDArray[np.int64] = np.arange(1, count + 1)
    inverses, weight = np.zeros(count), 1.0
    while numbers.any():
        weight /= base
        numbers, digits = np.divmod(numbers, base)
        inverses += weight * digits
    return inverses
