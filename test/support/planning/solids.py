"""Meshes for tests: bodies of revolution and boxes, made here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import Shape, ShapeKind
from handiwork_core.scene.mesh import closed_mesh


def mesh_shape(vertices: object, triangles: object, pose: Pose | None = None) -> Shape:
    points, corners = closed_mesh(vertices, triangles)  # type: ignore[arg-type]
    return Shape(ShapeKind.MESH, np.zeros(0), pose or Pose.identity(), points, corners)


def revolved(profile: Sequence[tuple[float, float]], around: int, pose: Pose | None = None) -> Shape:
    """Make a body with the given radii and heights from axis to axis, ``around`` corners in each ring."""
    angle = np.linspace(0.0, 2.0 * np.pi, around, endpoint=False)
    rings = [
        np.column_stack([r * np.cos(angle), r * np.sin(angle), np.full(around, z)]) for r, z in profile[1:-1]
    ]
    points = np.concatenate([[(0.0, 0.0, profile[0][1])], *rings, [(0.0, 0.0, profile[-1][1])]])
    rows, last = [], len(points) - 1
    for j in range(around):
        k = (j + 1) % around
        rows.append((0, 1 + k, 1 + j))
        rows.append((last, last - around + j, last - around + k))
        for i in range(len(rings) - 1):
            a, b = 1 + i * around, 1 + (i + 1) * around
            rows += [(a + j, a + k, b + j), (a + k, b + k, b + j)]
    return mesh_shape(points, rows, pose)


def bowl(
    radius: float = 0.12, wall: float = 0.006, around: int = 32, rings: int = 9, pose: Pose | None = None
) -> Shape:
    """Make half of a hollow ball, open above."""
    angles = np.linspace(0.0, 0.5 * np.pi, rings + 1)
    outer = [(radius * float(np.sin(a)), radius - radius * float(np.cos(a))) for a in angles]
    inner = [
        ((radius - wall) * float(np.sin(a)), radius - (radius - wall) * float(np.cos(a)))
        for a in angles[::-1]
    ]
    return revolved([(0.0, 0.0), *outer[1:], *inner[:-1], (0.0, inner[-1][1])], around, pose)


def frame(outer: float, inner: float, thick: float, pose: Pose | None = None) -> Shape:
    """Make a square plate in xy with a square hole: solid between half edges ``inner`` and ``outer`` [m]."""
    points = [
        (sx * half, sy * half, sz * 0.5 * thick)
        for half in (outer, inner)
        for sz in (-1, 1)
        for sx, sy in ((-1, -1), (1, -1), (1, 1), (-1, 1))
    ]
    rows = []
    for i in range(4):
        k = (i + 1) % 4
        for a, b, c, d in (
            (i, k, 4 + k, 4 + i),
            (8 + k, 8 + i, 12 + i, 12 + k),
            (4 + i, 4 + k, 12 + k, 12 + i),
            (k, i, 8 + i, 8 + k),
        ):
            rows += [(a, b, c), (a, c, d)]
    return mesh_shape(np.array(points), rows, pose)


def box_mesh(size: Array, pose: Pose | None = None) -> Shape:
    """Make a box as a mesh of twelve triangles."""
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * size
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return mesh_shape(corners, [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))], pose)
