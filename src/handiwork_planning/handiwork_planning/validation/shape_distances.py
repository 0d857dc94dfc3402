"""Shapes for the referee: exact distances of many points, and points on the surface, in plain numpy."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.world import Shape, ShapeKind

from .mesh_distances import mesh_distance

PITCH_M = 0.008
"""Surface points of a held object are at most this far apart."""


def radius(shape: Shape) -> float:
    """Return the radius of a ball around the shape's origin, m.

    Args:
        shape: The shape.
    """
    if shape.vertices is not None:
        return float(np.linalg.norm(shape.vertices, axis=1).max())
    if shape.kind is ShapeKind.SPHERE:
        return float(shape.size[0])
    if shape.kind is ShapeKind.BOX:
        return float(0.5 * np.linalg.norm(shape.size))
    return float(shape.size[0] + 0.5 * shape.size[1])


def distance(shape: Shape, p: Array) -> Array:
    """Return signed distances of points to a shape, (m,), m.

    Args:
        shape: The shape.
        p: Points in the shape's frame, (m, 3), m.
    """
    if shape.kind is ShapeKind.MESH:
        assert shape.vertices is not None
        assert shape.triangles is not None
        return mesh_distance(shape.vertices, shape.triangles, p)
    if shape.kind is ShapeKind.CONVEX:
        return _to_hull(shape, p)
    if shape.kind is ShapeKind.SPHERE:
        return np.asarray(np.linalg.norm(p, axis=1) - shape.size[0])
    if shape.kind is ShapeKind.BOX:
        outside = np.abs(p) - 0.5 * shape.size
    else:
        across, along = np.linalg.norm(p[:, :2], axis=1), np.abs(p[:, 2]) - 0.5 * shape.size[1]
        if shape.kind is ShapeKind.CAPSULE:
            return np.asarray(np.hypot(across, np.maximum(along, 0.0)) - shape.size[0])
        outside = np.column_stack([across - shape.size[0], along])
    return np.asarray(np.linalg.norm(np.maximum(outside, 0.0), axis=1) + np.minimum(outside.max(axis=1), 0.0))


def _to_hull(shape: Shape, p: Array) -> Array:
    """Return the distance to the nearest plane inside; outside to the nearest of all faces, edges and corners."""
    from scipy.spatial import ConvexHull  # type: ignore[import-untyped]

    hull = ConvexHull(shape.vertices)
    planes = p @ hull.equations[:, :3].T + hull.equations[:, 3]
    gaps = planes.max(axis=1)
    out = np.flatnonzero(gaps > 0.0)
    best = np.full(len(out), np.inf)
    for face, equation in zip(hull.points[hull.simplices], hull.equations, strict=True):
        best = np.minimum(best, _to_face(p[out], face, equation[:3]))
    gaps[out] = best
    return np.asarray(gaps)


def _to_face(p: Array, corners: Array, normal: Array) -> Array:
    """Return the distance (m,) to a triangle (3, 3): to its plane above its inside, else to its nearest edge."""
    inside = np.ones(len(p), dtype=bool)
    best = np.full(len(p), np.inf)
    for i, j in ((0, 1), (1, 2), (2, 0)):
        edge, third = corners[j] - corners[i], corners[3 - i - j]
        inward = np.cross(normal, edge)
        inward *= np.sign(inward @ (third - corners[i]))
        inside &= (p - corners[i]) @ inward >= 0.0
        t = np.clip((p - corners[i]) @ edge / (edge @ edge), 0.0, 1.0)
        best = np.minimum(best, np.linalg.norm(p - corners[i] - t[:, None] * edge, axis=1))
    return np.where(inside, np.abs((p - corners[0]) @ normal), best)


def surface(shape: Shape) -> Array:
    """Return balls of radius zero on the surface; those of a sphere or capsule keep its radius.

    Args:
        shape: The shape.

    Returns:
        Centres in the object's frame and radii, (k, 4), m.
    """
    if shape.kind is ShapeKind.SPHERE:
        points: Array = np.zeros((1, 3))
    elif shape.kind is ShapeKind.CAPSULE:
        points = _line(np.array([0.0, 0.0, -0.5 * shape.size[1]]), np.array([0.0, 0.0, 0.5 * shape.size[1]]))
    elif shape.kind is ShapeKind.BOX:
        points = _box_points(0.5 * shape.size)
    elif shape.kind is ShapeKind.CYLINDER:
        points = _cylinder_points(*shape.size)
    else:
        assert shape.vertices is not None
        points = _face_points(_faces(shape))
    round_m = float(shape.size[0]) if shape.kind in (ShapeKind.SPHERE, ShapeKind.CAPSULE) else 0.0
    return np.column_stack([shape.object_T_shape.apply(points), np.full(len(points), round_m)])


def _line(a: Array, b: Array) -> Array:
    count = int(np.ceil(np.linalg.norm(b - a) / PITCH_M)) + 1
    return np.asarray(a + np.linspace(0.0, 1.0, max(count, 2))[:, None] * (b - a))


def _box_points(half: Array) -> Array:
    axes = [np.linspace(-h, h, int(np.ceil(2.0 * h / PITCH_M)) + 1) for h in half]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    return np.asarray(grid[(np.abs(np.abs(grid) - half) < 1e-12).any(axis=1)])


def _cylinder_points(round_m: float, length: float) -> Array:
    angles = np.linspace(
        0.0, 2.0 * np.pi, max(8, int(np.ceil(2.0 * np.pi * round_m / PITCH_M))), endpoint=False
    )
    rim = np.column_stack([np.cos(angles), np.sin(angles)])
    rings = [
        np.column_stack([round_m * rim, np.full(len(rim), z)])
        for z in np.linspace(-0.5 * length, 0.5 * length, int(np.ceil(length / PITCH_M)) + 1)
    ]
    for r in np.arange(0.0, round_m, PITCH_M):
        rings += [np.column_stack([r * rim, np.full(len(rim), z)]) for z in (-0.5 * length, 0.5 * length)]
    return np.concatenate(rings)


def _faces(shape: Shape) -> Array:
    """Return triangles (t, 3, 3) of a mesh, or of the hull of the vertices."""
    from scipy.spatial import ConvexHull

    assert shape.vertices is not None
    rows = ConvexHull(shape.vertices).simplices if shape.triangles is None else shape.triangles
    return np.asarray(shape.vertices[rows])


def _face_points(faces: Array) -> Array:
    """Return points at most PITCH_M apart on triangles (t, 3, 3): in rows along their edges, corners included."""
    edges = np.linalg.norm(np.roll(faces, -1, axis=1) - faces, axis=2).max(axis=1)
    steps = np.maximum(1, np.ceil(edges / PITCH_M)).astype(int)
    found = []
    for n in np.unique(steps):
        i, j = (k.ravel() for k in np.meshgrid(np.arange(n + 1), np.arange(n + 1)))
        i, j = i[i + j <= n], j[i + j <= n]
        corner, one, two = (faces[steps == n, k, None] for k in range(3))
        found.append(
            (corner + (one - corner) * (i / n)[:, None] + (two - corner) * (j / n)[:, None]).reshape(-1, 3)
        )
    return np.unique(np.round(np.concatenate(found), 6), axis=0)
