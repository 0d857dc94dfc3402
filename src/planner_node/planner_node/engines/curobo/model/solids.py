"""Round shapes and hulls as closed meshes for cuRobo, which knows boxes and meshes only."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.world import Indices, Shape, ShapeKind
from handiwork_planning.distance.convex_hulls import triangulate

AROUND = 32
"""Corners of a circle. They lie 0.24 % of the radius outside, and the middles of the edges as far inside."""
RINGS = 8


def mesh_of(shape: Shape) -> tuple[Array, Indices]:
    """Return a closed mesh of a shape that is no box.

    The frame of CONVEX and MESH is moved to the middle of their vertices, as the CPU engine's packing does.

    Args:
        shape: The shape; sizes in m.

    Returns:
        Vertices in the shape's frame, (n, 3), m, and triangles, (m, 3).
    """
    if shape.vertices is not None:
        middle = 0.5 * (shape.vertices.min(axis=0) + shape.vertices.max(axis=0))
        if shape.triangles is not None:
            return shape.vertices - middle, shape.triangles
        corners = triangulate(shape.vertices - middle)
        return _outward(corners)
    if shape.kind is ShapeKind.CYLINDER:
        radius, length = shape.size
        return _revolved([(radius, -0.5 * length), (radius, 0.5 * length)])
    radius = float(shape.size[0])
    straight = float(shape.size[1]) if shape.kind is ShapeKind.CAPSULE else 0.0
    grow = 1.0 / np.cos(0.25 * np.pi / RINGS) ** 0.5
    quarter = np.linspace(0.0, 0.5 * np.pi, RINGS + 1)[:-1]
    upper = [
        (grow * radius * float(np.cos(a)), grow * radius * float(np.sin(a)) + 0.5 * straight) for a in quarter
    ]
    lower = [(r, -z) for r, z in reversed(upper if straight > 0.0 else upper[1:])]
    top = grow * radius + 0.5 * straight
    return _revolved([(0.0, -top), *lower, *upper, (0.0, top)])


def _outward(rows: Array) -> tuple[Array, Indices]:
    """Turn rows of corners and normals (t, 13) into triangles with corners counter-clockwise seen from outside."""
    a, b, c, normal = rows[:, 0:3], rows[:, 3:6], rows[:, 6:9], rows[:, 9:12]
    turned = np.einsum("ij,ij->i", np.cross(b - a, c - a), normal) < 0.0
    b, c = np.where(turned[:, None], c, b), np.where(turned[:, None], b, c)
    points, index = np.unique(
        np.stack([a, b, c], axis=1).reshape(-1, 3).round(9), axis=0, return_inverse=True
    )
    return points, index.reshape(-1, 3).astype(np.int64)


def _revolved(profile: list[tuple[float, float]]) -> tuple[Array, Indices]:
    """Return a body of revolution about z. ``profile`` has radii and heights from below; fans close the ends."""
    angle = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)
    grow = 1.0 / np.cos(np.pi / AROUND) ** 0.5
    rings = [
        np.column_stack([grow * r * np.cos(angle), grow * r * np.sin(angle), np.full(AROUND, z)])
        for r, z in profile
        if r > 0.0
    ]
    low, high = profile[0][1], profile[-1][1]
    points = np.concatenate([[(0.0, 0.0, low)], *rings, [(0.0, 0.0, high)]])
    i = np.arange(AROUND)
    k, last = (i + 1) % AROUND, len(points) - 1
    rows = [np.column_stack([np.zeros(AROUND, dtype=np.int64), 1 + k, 1 + i])]
    for ring in range(len(rings) - 1):
        a, b = 1 + ring * AROUND, 1 + (ring + 1) * AROUND
        rows += [np.column_stack([a + i, a + k, b + i]), np.column_stack([a + k, b + k, b + i])]
    top = 1 + (len(rings) - 1) * AROUND
    rows.append(np.column_stack([np.full(AROUND, last), top + i, top + k]))
    return points, np.concatenate(rows).astype(np.int64)
