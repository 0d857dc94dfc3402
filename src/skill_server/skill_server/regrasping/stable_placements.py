"""The orientations in which an object rests on a level support, from the convex hull of its shapes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from handiwork_core.model.geometry import Array, Rotation
from handiwork_core.model.world import WorldObject
from handiwork_core.scene.bounds import hull_points

MARGIN_M = 0.004
"""The centre of mass must be this far inside of the edges of the face on which the object rests."""
LEAST_TILT_RAD = math.radians(8.0)
"""The support must tilt by more than this before the object falls over."""
COPLANAR = 1e-4
"""Facets are one face if their unit normals differ by less than this, and their distances by a tenth of it [m]."""


@dataclass(frozen=True, slots=True, eq=False)
class StablePlacement:
    """One orientation in which an object rests.

    Attributes:
        down: Outward normal of the face on which it rests, in the object's frame, (3,); it points down there.
        rotation: An orientation in the world in which it rests so; any turn about the vertical gives another one.
        height_m: Height of the object's origin over the support, m.
        tilt_rad: The support may tilt by this much before the object falls over, rad.
    """

    down: Array
    rotation: Rotation
    height_m: float
    tilt_rad: float


def centre_of_mass(body: WorldObject) -> Array:
    """Return the centre of an object's shapes, each weighted by its volume; a mesh is taken as it is, not as its hull.

    Args:
        body: The object, of even density. Shapes that overlap count twice there, as in the simulation.

    Returns:
        The point in the object's frame, (3,), m.

    Raises:
        ValueError: No shape has a volume.
    """
    weights, centres = list[float](), list[Array]()
    for shape in body.shapes:
        points = hull_points(shape)
        inside = points.mean(axis=0) if len(points) else np.zeros(3)
        if shape.triangles is not None:
            corners = points[shape.triangles] - inside
            parts = np.linalg.det(corners) / 6.0  # below 0 where the surface faces the point
        else:
            try:
                corners = points[ConvexHull(points).simplices] - inside
            except (QhullError, ValueError):
                continue
            parts = np.abs(np.linalg.det(corners)) / 6.0
        if parts.sum() <= 0.0:
            continue
        weights.append(float(parts.sum()))
        centres.append(inside + (parts[:, None] * corners.sum(axis=1) / 4.0).sum(axis=0) / parts.sum())
    if not weights:
        raise ValueError(f"no shape of {body.name!r} has a volume")
    return np.asarray(np.average(centres, axis=0, weights=weights))


def stable_placements(
    body: WorldObject, margin_m: float = MARGIN_M, least_tilt_rad: float = LEAST_TILT_RAD
) -> tuple[StablePlacement, ...]:
    """Return the orientations in which an object rests on a level support without falling over or rolling.

    Args:
        body: The object.
        margin_m: Least distance of the centre of mass from the edges of the face, in the plane of the face, m.
        least_tilt_rad: Least tilt of the support before the object falls over, rad.

    Returns:
        The placements, the one that is hardest to overturn first; none for a ball, or a body without a volume.
    """
    clouds = [hull_points(shape) for shape in body.shapes]
    points = np.concatenate(clouds) if clouds else np.zeros((0, 3))
    try:
        hull, centre = ConvexHull(points), centre_of_mass(body)
    except (QhullError, ValueError):
        return ()
    found = []
    for normal, offset in _faces(hull.equations):
        on_face = points[np.abs(points @ normal + offset) < COPLANAR * 0.1 + 1e-6]
        inside_m = _inside_m(on_face, normal, centre)
        height_m = -float(centre @ normal + offset)
        tilt = math.atan2(inside_m, height_m)
        if inside_m >= margin_m and tilt >= least_tilt_rad:
            found.append(StablePlacement(normal, _resting(normal), -offset, tilt))
    return tuple(sorted(found, key=lambda one: -one.tilt_rad))


def _faces(equations: Array) -> list[tuple[Array, float]]:
    """Return the normal (3,) and the offset [m] of each plane of a hull, once."""
    faces = list[tuple[Array, float]]()
    for row in equations:
        normal, offset = row[:3], float(row[3])
        known = (
            np.linalg.norm(normal - other) < COPLANAR and abs(offset - at) < 0.1 * COPLANAR
            for other, at in faces
        )
        if not any(known):
            faces.append((normal, offset))
    return faces


def _inside_m(on_face: Array, normal: Array, centre: Array) -> float:
    """Return how far the foot of a point lies inside of the edges of a face, m; below 0 outside."""
    axis = np.eye(3)[int(np.argmin(np.abs(normal)))]
    first = np.cross(normal, axis) / np.linalg.norm(np.cross(normal, axis))
    plane = np.column_stack([first, np.cross(normal, first)])
    try:
        edges = ConvexHull((on_face - centre) @ plane).equations
    except (QhullError, ValueError):
        return -math.inf
    return -float(edges[:, 2].max())


def _resting(normal: Array) -> Rotation:
    """Return the smallest turn that brings a direction of the object down."""
    down = np.array([0.0, 0.0, -1.0])
    axis, cosine = np.cross(normal, down), float(np.clip(normal @ down, -1.0, 1.0))
    if np.linalg.norm(axis) < 1e-9:
        return Rotation.identity() if cosine > 0.0 else Rotation.from_axis_angle((1.0, 0.0, 0.0), math.pi)
    return Rotation.from_axis_angle(axis, math.acos(cosine))
