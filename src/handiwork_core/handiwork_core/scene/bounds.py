"""Bounds of shapes and bodies: support distances, axis-aligned boxes, and the points that span boxes and hulls.

The boxes of a body at many poses are computed by a kernel of ``conditionals_node.views``, for speed.
"""

from __future__ import annotations

import itertools

import numpy as np

from handiwork_core.model.geometry import Array, Pose, frozen
from handiwork_core.model.world import Shape, ShapeKind, WorldObject

from .round_points import ball, ring
from .shape_cache import kept_with_shape


def support(shape: Shape, direction: Array) -> float:
    """Return the largest coordinate of a solid along a direction.

    Args:
        shape: Solid.
        direction: Unit vector in the shape's frame, (3,).

    Returns:
        The coordinate, m, from the origin of the shape's frame.
    """
    d, s = direction, shape.size
    if shape.kind is ShapeKind.BOX:
        return float(np.abs(d) @ s) / 2.0
    if shape.kind is ShapeKind.SPHERE:
        return float(s[0])
    if shape.kind is ShapeKind.CYLINDER:
        return float(s[0] * np.hypot(d[0], d[1]) + abs(d[2]) * s[1] / 2.0)
    if shape.kind is ShapeKind.CAPSULE:
        return float(s[0] + abs(d[2]) * s[1] / 2.0)
    assert shape.vertices is not None
    return float(np.max(shape.vertices @ d))


def world_aabb(body: WorldObject, world_T_object: Pose) -> tuple[Array, Array]:
    """Return the exact axis-aligned bounds of all shapes of a body.

    Args:
        body: Object.
        world_T_object: Pose of the object.

    Returns:
        Least and greatest coordinates in the world, (3,) each, m.
    """
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for shape in body.shapes:
        world_T_shape = world_T_object @ shape.object_T_shape
        turn = world_T_shape.rotation.matrix()
        for axis in range(3):
            centre = float(world_T_shape.translation_m[axis])
            high[axis] = max(high[axis], centre + support(shape, turn[axis]))
            low[axis] = min(low[axis], centre - support(shape, -turn[axis]))
    return low, high


def box_points(shape: Shape) -> Array:
    """Return points whose axis-aligned box contains a shape; the box is loose for round shapes that are turned.

    Scenes draw free places by these boxes, so a change of them changes the scene of every seed.

    Args:
        shape: The shape.

    Returns:
        Points in the object's frame, (n, 3), m.
    """
    if shape.vertices is not None:
        return shape.object_T_shape.apply(shape.vertices)
    if shape.kind is ShapeKind.BOX:
        half = shape.size / 2.0
    elif shape.kind is ShapeKind.SPHERE:
        half = np.repeat(shape.size[0], 3)
    else:
        cap = shape.size[0] if shape.kind is ShapeKind.CAPSULE else 0.0
        half = np.array([shape.size[0], shape.size[0], shape.size[1] / 2.0 + cap])
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
    return shape.object_T_shape.apply(corners * half)


@kept_with_shape
def hull_points(shape: Shape) -> Array:
    """Return the points whose convex hull represents a shape; kept as long as the shape, which never changes.

    Args:
        shape: The shape.

    Returns:
        (n, 3) in the object's frame, m; empty for a shape without geometry.
    """
    if shape.vertices is not None:
        local: Array = shape.vertices.reshape(-1, 3)
    elif shape.kind is ShapeKind.BOX:
        local = np.array(list(itertools.product((-0.5, 0.5), repeat=3))) * shape.size
    elif shape.kind is ShapeKind.CYLINDER:
        circle = ring(shape.size[0])
        local = np.vstack([circle + (0.0, 0.0, z) for z in (-shape.size[1] / 2, shape.size[1] / 2)])
    elif shape.kind in (ShapeKind.SPHERE, ShapeKind.CAPSULE):
        half = shape.size[1] / 2 if shape.kind is ShapeKind.CAPSULE else 0.0
        local = ball(shape.size[0], half)
    else:
        local = np.zeros((0, 3))
    with np.errstate(invalid="ignore"):  # a point that is not finite is reported later, by name
        return frozen(shape.object_T_shape.apply(local))
