"""Axis-aligned boxes around world objects, exact also for round shapes."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from conditionals_node.spaces.hulls import GeometryError
from conditionals_node.spaces.kernels import boxes_of_many
from handiwork_core.model.geometry import Array, Pose, frozen
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.scene.bounds import hull_points

MANY_POINTS = 64
"""Number of points above which only the corners of a point cloud's hull are kept."""


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """The points and circles that determine a body's box, in the body's frame, m.

    Attributes:
        balls: Centre and radius, zero for a plain point, (n, 4).
        discs: Centre, axis and radius, (m, 7).
    """

    balls: Array
    discs: Array


@functools.lru_cache(maxsize=1024)
def outline(item: WorldObject) -> Outline:
    """Return the outline of an object, built once.

    Args:
        item: The object.

    Raises:
        GeometryError: The object has no shape, or one without finite points.
    """
    if not item.shapes or any(not _usable(hull_points(shape)) for shape in item.shapes):
        raise GeometryError(f"object {item.name!r} has a shape without points, or none; give it a solid")
    balls = np.vstack([np.zeros((0, 4)), *(_balls(shape) for shape in item.shapes)])
    discs = np.vstack([np.zeros((0, 7)), *(_discs(shape) for shape in item.shapes)])
    return Outline(frozen(balls), frozen(discs))


def boxes(item: WorldObject, wxyz: Array, places: Array) -> Array:
    """Return the boxes of an object at many poses.

    Args:
        item: The object.
        wxyz: Its orientations as unit quaternions, scalar first, (n, 4).
        places: Its positions, (n, 3), m.

    Returns:
        (n, 6), m: lowest corner, then highest; nan where a pose is not known.

    Raises:
        GeometryError: See ``outline``.
    """
    found, out = outline(item), np.empty((len(places), 6))
    boxes_of_many(found.balls, found.discs, wxyz, places, out)
    return out


def extent(item: WorldObject, world_T_object: Pose) -> tuple[Array, Array]:
    """Return the lower and the upper corner of an object's box in world.

    Args:
        item: The object.
        world_T_object: Its pose.

    Returns:
        Two corners, (3,), m.

    Raises:
        GeometryError: See ``outline``.
    """
    box = boxes(item, world_T_object.rotation.wxyz[None], world_T_object.translation_m[None])[0]
    return box[:3], box[3:]


def _usable(points: Array) -> bool:
    return len(points) > 0 and bool(np.isfinite(points).all())


def _balls(shape: Shape) -> Array:
    place, axis = _place_and_axis(shape)
    if shape.kind is ShapeKind.SPHERE:
        return np.array([[*place, shape.size[0]]])
    if shape.kind is ShapeKind.CAPSULE:
        half = axis * shape.size[1] / 2
        return np.array([[*(place - half), shape.size[0]], [*(place + half), shape.size[0]]])
    if shape.kind is ShapeKind.CYLINDER:
        return np.zeros((0, 4))
    points = _corners(hull_points(shape))
    return np.hstack([points, np.zeros((len(points), 1))])


def _discs(shape: Shape) -> Array:
    if shape.kind is not ShapeKind.CYLINDER:
        return np.zeros((0, 7))
    place, axis = _place_and_axis(shape)
    half, radius = axis * shape.size[1] / 2, shape.size[0]
    return np.array([[*(place - half), *axis, radius], [*(place + half), *axis, radius]])


def _place_and_axis(shape: Shape) -> tuple[Array, Array]:
    return shape.object_T_shape.translation_m, shape.object_T_shape.rotation.matrix()[:, 2]


def _corners(points: Array) -> Array:
    if len(points) <= MANY_POINTS:
        return points
    try:
        return np.asarray(points[ConvexHull(points).vertices], dtype=np.float64)
    except QhullError:  # flat: its box is still a box
        return points
