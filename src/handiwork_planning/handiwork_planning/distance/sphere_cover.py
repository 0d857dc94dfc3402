"""Spheres that cover a held object: no part of it is left out, and no sphere stands out by more than PROTRUSION_M."""

from __future__ import annotations

from itertools import product

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.world import Indices, Shape, ShapeKind

from .convex_hulls import triangulate
from .mesh_sphere_cover import cover_mesh

PROTRUSION_M = 0.003


def cover(shape: Shape) -> Array:
    """Return spheres that cover a shape: a hollow shell plus one ball for the core.

    Args:
        shape: The shape.

    Returns:
        Centres in the object's frame and radii, (k, 4), m.
    """
    spheres = {
        ShapeKind.BOX: _box,
        ShapeKind.SPHERE: _sphere,
        ShapeKind.CYLINDER: _cylinder,
        ShapeKind.CAPSULE: _capsule,
        ShapeKind.CONVEX: _convex,
        ShapeKind.MESH: _mesh,
    }[shape.kind](shape)
    centres: Array = shape.object_T_shape.apply(spheres[:, :3])
    return np.column_stack([centres, spheres[:, 3]])


def patches(spheres: Array, edge_m: float = 0.04) -> list[Array]:
    """Split spheres by a coarse grid, so that each part has a small bounding sphere.

    Args:
        spheres: Centres and radii, (k, 4), m.
        edge_m: Edge of a cell, m.
    """
    return [spheres[part] for part in patch_indices(spheres[:, :3], edge_m)]


def patch_indices(points_m: Array, edge_m: float) -> list[Indices]:
    """Return the indices of the points in each cell of a grid that has some.

    Args:
        points_m: The points, (k, 3), m.
        edge_m: Edge of a cell, m.
    """
    cells = np.floor((points_m - points_m.min(axis=0)) / edge_m).astype(int)
    _, owner = np.unique(cells, axis=0, return_inverse=True)
    return [np.flatnonzero(owner.ravel() == i) for i in range(int(owner.max()) + 1)]


def _box(shape: Shape) -> Array:
    """Return one sphere around each outer cell of a grid; it stands out by half a diagonal less half an edge."""
    size, edge = shape.size, 0.0082
    while True:
        counts = np.maximum(1, np.ceil(size / edge)).astype(int)
        half = 0.5 * size / counts
        radius = float(np.linalg.norm(half))
        if radius - float(half.min()) <= PROTRUSION_M:
            break
        edge *= 0.9
    outer = [
        cell
        for cell in product(*(range(c) for c in counts))
        if any(i in (0, c - 1) for i, c in zip(cell, counts, strict=True))
    ]
    centres = (2.0 * np.array(outer) + 1.0) * half - 0.5 * size
    core = np.array([[0.0, 0.0, 0.0, 0.5 * size.min()]])
    return np.concatenate([np.column_stack([centres, np.full(len(outer), radius)]), core])


def _sphere(shape: Shape) -> Array:
    return np.array([[0.0, 0.0, 0.0, shape.size[0]]])


def _capsule(shape: Shape) -> Array:
    radius, length = shape.size
    pitch = 2.0 * float(np.sqrt((radius + PROTRUSION_M) ** 2 - radius**2))
    count = int(np.ceil(length / pitch)) + 1
    step = length / (count - 1) if count > 1 else 0.0
    z = np.linspace(-0.5 * length, 0.5 * length, count)
    return np.column_stack([np.zeros((count, 2)), z, np.full(count, np.hypot(radius, 0.5 * step))])


def _cylinder(shape: Shape) -> Array:
    """Return rings on the side and on both ends; every surface point is within PROTRUSION_M of a centre."""
    radius, length = shape.size
    pitch = PROTRUSION_M * np.sqrt(2.0)
    rings = [(radius, z) for z in np.linspace(-0.5 * length, 0.5 * length, int(np.ceil(length / pitch)) + 1)]
    for r in np.linspace(0.0, radius, int(np.ceil(radius / pitch)) + 1)[:-1]:
        rings += [(r, -0.5 * length), (r, 0.5 * length)]
    points = [np.array([[0.0, 0.0, 0.0, min(radius, 0.5 * length)]])]
    for r, z in rings:
        a = np.linspace(0.0, 2.0 * np.pi, max(1, int(np.ceil(2.0 * np.pi * r / pitch))), endpoint=False)
        flat = np.column_stack([r * np.cos(a), r * np.sin(a)])
        points.append(np.column_stack([flat, np.full(len(a), z), np.full(len(a), PROTRUSION_M)]))
    return np.concatenate(points)


def _convex(shape: Shape) -> Array:
    """Return a grid on each triangle; every point of it is within PROTRUSION_M of a centre."""
    assert shape.vertices is not None
    rows = triangulate(shape.vertices)
    points = []
    for row in rows:
        a, b, c = row[:9].reshape(3, 3)
        longest = max(np.linalg.norm(b - a), np.linalg.norm(c - a), np.linalg.norm(c - b))
        n = max(1, int(np.ceil(longest / (np.sqrt(3.0) * PROTRUSION_M))))
        weights = np.array([(i, j) for i in range(n + 1) for j in range(n + 1 - i)]) / n
        points.append(a + weights[:, :1] * (b - a) + weights[:, 1:] * (c - a))
    found = np.unique(np.round(np.concatenate(points), 5), axis=0)
    middle = shape.vertices.mean(axis=0)
    inside = float((rows[:, 12] - rows[:, 9:12] @ middle).min())
    core = np.append(middle, inside)[None]
    return np.concatenate([np.column_stack([found, np.full(len(found), PROTRUSION_M)]), core])


def _mesh(shape: Shape) -> Array:
    """Return spheres that may stand out farther than the others, if their number would be too large otherwise."""
    assert shape.vertices is not None
    assert shape.triangles is not None
    return cover_mesh(shape.vertices, shape.triangles, PROTRUSION_M)
