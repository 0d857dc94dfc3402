"""Distances to the regions of position constraints."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.world import Shape, ShapeKind

REGION_KINDS = (ShapeKind.BOX, ShapeKind.SPHERE, ShapeKind.CYLINDER)
"""The kinds of shapes that a region may have."""


def nearest_in(shape: Shape, point: Array, margin: float = 0.0) -> Array:
    """Return the point of a region that is nearest to a point.

    Args:
        shape: A box, sphere or cylinder in ``world``.
        point: The point in ``world``, (3,), m.
        margin: Share of the region that is left out at its border, 0 to 1.

    Returns:
        Its nearest point, (3,), m; the point itself if it is inside.
    """
    local, keep = shape.object_T_shape.inverse().apply(point), 1.0 - margin
    if shape.kind is ShapeKind.BOX:
        half = 0.5 * keep * shape.size
        local = np.clip(local, -half, half)
    elif shape.kind is ShapeKind.SPHERE:
        local = _within(local, keep * float(shape.size[0]))
    else:
        half_m = 0.5 * keep * float(shape.size[1])
        flat = _within(local[:2], keep * float(shape.size[0]))
        local = np.array([*flat, np.clip(local[2], -half_m, half_m)])
    return shape.object_T_shape.apply(local)


def nearest_of(region: tuple[Shape, ...], point: Array, margin: float = 0.0) -> Array:
    """Return the nearest point of the union of several regions; see ``nearest_in``.

    Args:
        region: The regions, at least one.
        point: The point in ``world``, (3,), m.
        margin: Share that is left out at the border.
    """
    found = [nearest_in(shape, point, margin) for shape in region]
    return min(found, key=lambda one: float(np.linalg.norm(one - point)))


def radius_of(shape: Shape) -> float:
    """Return the greatest distance of a point of a region from its middle, m.

    Args:
        shape: A box, sphere or cylinder.
    """
    if shape.kind is ShapeKind.BOX:
        return 0.5 * float(np.linalg.norm(shape.size))
    if shape.kind is ShapeKind.SPHERE:
        return float(shape.size[0])
    return float(np.hypot(shape.size[0], 0.5 * shape.size[1]))


def sample_in(shape: Shape, rng: np.random.Generator) -> Array:
    """Return a random point of a region, evenly distributed, (3,), m.

    Args:
        shape: A box, sphere or cylinder in ``world``.
        rng: Source of random numbers.
    """
    if shape.kind is ShapeKind.BOX:
        local = (rng.random(3) - 0.5) * shape.size
    elif shape.kind is ShapeKind.SPHERE:
        direction = rng.normal(size=3)
        local = direction / np.linalg.norm(direction) * float(shape.size[0]) * rng.random() ** (1.0 / 3.0)
    else:
        angle, radius = 2.0 * np.pi * rng.random(), float(shape.size[0]) * np.sqrt(rng.random())
        height = (rng.random() - 0.5) * float(shape.size[1])
        local = np.array([radius * np.cos(angle), radius * np.sin(angle), height])
    return shape.object_T_shape.apply(local)


def _within(vector: Array, radius: float) -> Array:
    length = float(np.linalg.norm(vector))
    return vector if length <= radius else vector * (radius / length)
