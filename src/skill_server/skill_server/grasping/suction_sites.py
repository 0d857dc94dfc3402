"""Places on an object's surface where a round cup fits: on its plane faces, and on round ones that bend little."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from handiwork_core.model.geometry import Array, Rotation
from handiwork_core.model.world import Shape, ShapeKind

EDGE_M = 0.002
"""The rim stays this far inside of a face, m."""
RIM_POINTS = 16
DISC_CORNERS = 32
ROUND_TURNS = 12


@dataclass(frozen=True, slots=True, eq=False)
class CupSite:
    """A place for the cup, in the frame of the shape.

    Attributes:
        point: Point of the surface, (3,), m.
        normal: Outward unit normal, (3,).
        off_m: Distance from the middle of the face, m.
        face: Number of the face; 0 for a round surface.
    """

    point: Array
    normal: Array
    off_m: float
    face: int = 0
    """Places of one face have one number; those of a round surface 0."""


def places(shape: Shape, radius_m: float, bend_m: float) -> Iterator[CupSite]:
    """Find places where a rim meets the shape all around.

    Args:
        shape: Shape of an object.
        radius_m: Radius of the rim, m.
        bend_m: Largest distance of the surface from the plane of the rim, m.

    Yields:
        The places; on a plane face the middle first.
    """
    for face, (triangles, normal) in enumerate(_faces(shape), 1):
        yield from _on_face(triangles, normal, radius_m, face)
    if shape.kind is ShapeKind.SPHERE and _sagitta(float(shape.size[0]), radius_m) <= bend_m:
        for normal in _directions():
            yield CupSite(shape.size[0] * normal, normal, 0.0)
    if shape.kind is ShapeKind.CYLINDER and shape.size[1] / 2.0 > radius_m + EDGE_M:
        if _sagitta(float(shape.size[0]), radius_m) > bend_m:
            return
        for angle in 2.0 * np.pi * np.arange(ROUND_TURNS) / ROUND_TURNS:
            normal = np.array([np.cos(angle), np.sin(angle), 0.0])
            yield CupSite(shape.size[0] * normal, normal, 0.0)


def _sagitta(radius_m: float, rim_m: float) -> float:
    """Return the distance of a rim's plane from the top of the ball below it; infinite where they do not meet."""
    return radius_m - float(np.sqrt(radius_m**2 - rim_m**2)) if radius_m > rim_m else float("inf")


def _directions() -> list[Array]:
    tilts = [Rotation.from_axis_angle((np.cos(a), np.sin(a), 0.0), 0.5) for a in np.arange(8) * np.pi / 4.0]
    return [np.array([0.0, 0.0, 1.0]), *(turn.matrix()[:, 2] for turn in tilts)]


def _faces(shape: Shape) -> Iterator[tuple[Array, Array]]:
    """Yield plane faces as triangles (n, 3, 3), with outward normals (3,)."""
    if shape.kind is ShapeKind.CYLINDER:
        yield from _discs(float(shape.size[0]), float(shape.size[1]) / 2.0)
        return
    if shape.kind in (ShapeKind.SPHERE, ShapeKind.CAPSULE):
        return
    if shape.kind is ShapeKind.MESH:
        assert shape.vertices is not None
        assert shape.triangles is not None
        corners = shape.vertices[shape.triangles]
        across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals = across / np.maximum(np.linalg.norm(across, axis=1), 1e-12)[:, None]
    else:
        vertices = shape.vertices
        if vertices is None:
            signs = np.array(np.meshgrid((-0.5, 0.5), (-0.5, 0.5), (-0.5, 0.5))).reshape(3, 8).T
            vertices = signs * shape.size
        try:
            hull = ConvexHull(vertices)
        except QhullError:  # flat: it has no outside
            return
        corners, normals = vertices[hull.simplices], hull.equations[:, :3]
    offsets = np.einsum("ni,ni->n", normals, corners[:, 0])
    planes = np.round(np.column_stack([normals * 1e3, offsets * 1e4])).astype(np.int64)
    for plane in np.unique(planes, axis=0):
        chosen = (planes == plane).all(axis=1)
        yield corners[chosen], normals[chosen][0]


def _discs(radius: float, half: float) -> Iterator[tuple[Array, Array]]:
    angles = 2.0 * np.pi * np.arange(DISC_CORNERS + 1) / DISC_CORNERS
    rim = np.stack([radius * np.cos(angles), radius * np.sin(angles), np.zeros(DISC_CORNERS + 1)], axis=1)
    for sign in (1.0, -1.0):
        up = np.array([0.0, 0.0, sign])
        middle = np.broadcast_to(half * up, (DISC_CORNERS, 3))
        yield np.stack([middle, rim[:-1] + half * up, rim[1:] + half * up], axis=1), up


def _on_face(triangles: Array, normal: Array, radius_m: float, face: int) -> Iterator[CupSite]:
    """Yield points of a grid over the face, the middle first, whose rim is on it."""
    side = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    side /= np.linalg.norm(side)
    axes = np.stack([side, np.cross(normal, side)])
    flat = triangles @ axes.T
    areas = 0.5 * np.abs(_cross(flat[:, 1] - flat[:, 0], flat[:, 2] - flat[:, 0]))
    if areas.sum() < np.pi * radius_m**2:
        return
    middle = (areas[:, None] * flat.mean(axis=1)).sum(axis=0) / areas.sum()
    reach = np.abs(flat.reshape(-1, 2) - middle).max()
    steps = np.arange(-4, 5) * max(radius_m, reach / 5.0)
    grid = middle + np.array(np.meshgrid(steps, steps)).reshape(2, -1).T
    grid = grid[np.argsort(np.linalg.norm(grid - middle, axis=1), kind="stable")]
    angles = 2.0 * np.pi * np.arange(RIM_POINTS) / RIM_POINTS
    rim = (radius_m + EDGE_M) * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    inside = _inside(flat, (grid[:, None] + rim).reshape(-1, 2)).reshape(len(grid), -1).all(axis=1)
    height = float(triangles[0, 0] @ normal)
    for point in grid[inside]:
        yield CupSite(point @ axes + height * normal, normal, float(np.linalg.norm(point - middle)), face)


def _cross(a: Array, b: Array) -> Array:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])


def _inside(triangles: Array, points: Array) -> Array:
    """Check which points (n, 2) are in any of the triangles (m, 3, 2), edges included (n,)."""
    edges = np.roll(triangles, -1, axis=1) - triangles
    sides = _cross(edges[None], points[:, None, None] - triangles[None])
    within = (sides >= -1e-12).all(axis=2) | (sides <= 1e-12).all(axis=2)
    return np.asarray(np.any(within, axis=1))
