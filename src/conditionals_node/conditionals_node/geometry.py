"""Hulls, extents and centroids of world objects. Hulls are built once per object and kept."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from handiwork_core.geometry import Array, Pose, frozen
from handiwork_core.world import Shape, ShapeKind, WorldObject

OPEN_TOP_NORMAL_Z = 0.7
"""Hull faces whose normal points up at least this much belong to the open top."""

MIN_THICKNESS_M = 1e-5
ROUND_STEPS = 32
"""Corners of the polygon that stands for a circle: 0.5 % too thin at worst."""


class GeometryError(ValueError):
    """An object has no volume that could be tested; the message names it."""


@dataclass(frozen=True, slots=True, eq=False)
class Hull:
    """Convex hull in the object's frame.

    ``vertices`` (n, 3) [m]; ``planes`` and ``open_planes`` (m, 4): outward unit normal and offset, so that a point p is
    inside where ``normal . p + offset <= 0``; ``centroid`` (3,) of the volume, ``vertex_mean`` (3,) of the corners [m].
    """

    vertices: Array
    planes: Array
    open_planes: Array
    centroid: Array
    vertex_mean: Array


@functools.lru_cache(maxsize=512)
def hull(item: WorldObject) -> Hull:
    """Hull over all shapes of an object. Objects compare by identity, so a new version is built anew.

    Raises:
        GeometryError: flat, tiny or empty geometry.
    """
    return hull_of(np.vstack([np.zeros((0, 3)), *(shape_points(shape) for shape in item.shapes)]), item.name)


def hull_of(points: Array, name: str) -> Hull:
    """Hull of ``points`` (n, 3) [m].

    Raises:
        GeometryError: fewer than four points, not finite, or thinner than ``MIN_THICKNESS_M`` in some direction.
    """
    if len(points) < 4 or not np.isfinite(points).all():
        raise GeometryError(f"object {name!r} has no usable geometry; give it a solid with volume")
    spread = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2]
    thickness = float(np.ptp(points @ spread.T, axis=0).min())
    if thickness < MIN_THICKNESS_M:
        raise GeometryError(f"object {name!r} is flat ({thickness:.1e} m thick); give it a volume")
    try:
        found = ConvexHull(points)
    except QhullError as error:
        raise GeometryError(f"object {name!r} has no convex hull: {str(error).splitlines()[0]}") from error
    vertices, planes = points[found.vertices], found.equations
    return Hull(
        frozen(vertices),
        frozen(planes),
        frozen(planes[planes[:, 2] < OPEN_TOP_NORMAL_Z]),
        frozen(_volume_centroid(points[found.simplices], vertices.mean(axis=0))),
        frozen(vertices.mean(axis=0)),
    )


@functools.lru_cache(maxsize=2048)
def shape_points(shape: Shape) -> Array:
    """Points (n, 3) in the object's frame [m] whose hull stands for the shape; kept, since shapes never change."""
    if shape.kind is ShapeKind.CONVEX:
        local: Array = np.zeros((0, 3)) if shape.vertices is None else shape.vertices.reshape(-1, 3)
    elif shape.kind is ShapeKind.BOX:
        local = np.array(list(itertools.product((-0.5, 0.5), repeat=3))) * shape.size
    elif shape.kind is ShapeKind.CYLINDER:
        ring = _ring(shape.size[0])
        local = np.vstack([ring + (0.0, 0.0, z) for z in (-shape.size[1] / 2, shape.size[1] / 2)])
    else:
        half = shape.size[1] / 2 if shape.kind is ShapeKind.CAPSULE else 0.0
        local = _ball(shape.size[0], half)
    return frozen(shape.object_T_shape.apply(local))


def extent(item: WorldObject, world_T_object: Pose) -> tuple[Array, Array]:
    """Lower and upper corner (3,) of the object's axis-aligned box in ``world`` [m], exact also for round shapes.

    Raises:
        GeometryError: the object has no shape, or one without points.
    """
    if not item.shapes or any(len(shape_points(shape)) == 0 for shape in item.shapes):
        raise GeometryError(f"object {item.name!r} has a shape without points, or none; give it a solid")
    boxes = [_shape_extent(shape, world_T_object) for shape in item.shapes]
    return np.min([low for low, _ in boxes], axis=0), np.max([high for _, high in boxes], axis=0)


def _shape_extent(shape: Shape, world_T_object: Pose) -> tuple[Array, Array]:
    if shape.kind in (ShapeKind.BOX, ShapeKind.CONVEX):
        points = world_T_object.apply(shape_points(shape))
        return points.min(axis=0), points.max(axis=0)
    world_T_shape = world_T_object @ shape.object_T_shape
    middle = world_T_shape.translation_m
    axis = np.abs(world_T_shape.rotation.matrix()[:, 2])
    if shape.kind is ShapeKind.SPHERE:
        reach = np.full(3, shape.size[0])
    elif shape.kind is ShapeKind.CAPSULE:
        reach = axis * shape.size[1] / 2 + shape.size[0]
    else:
        reach = axis * shape.size[1] / 2 + shape.size[0] * np.sqrt(np.maximum(0.0, 1.0 - axis**2))
    return middle - reach, middle + reach


def _ring(radius: float) -> Array:
    angle = np.arange(ROUND_STEPS) * (2.0 * np.pi / ROUND_STEPS)
    return radius * np.stack([np.cos(angle), np.sin(angle), np.zeros(ROUND_STEPS)], axis=1)


def _ball(radius: float, half_length: float) -> Array:
    rings = []
    for tilt in np.linspace(0.0, np.pi / 2, ROUND_STEPS // 4 + 1):
        ring = _ring(radius * np.cos(tilt)) + (0.0, 0.0, half_length + radius * np.sin(tilt))
        rings += [ring, ring * (1.0, 1.0, -1.0)]
    return np.vstack(rings)


def _volume_centroid(triangles: Array, inner: Array) -> Array:
    """Centroid (3,) of the body between ``triangles`` (n, 3, 3) and the point ``inner`` (3,) within it."""
    edges = triangles - inner
    volumes = np.abs(np.einsum("ij,ij->i", edges[:, 0], np.cross(edges[:, 1], edges[:, 2])))
    middles = (triangles.sum(axis=1) + inner) / 4.0
    return np.asarray(volumes @ middles / volumes.sum(), dtype=np.float64)
