"""Exact signed distance of a point to shapes: > 0 outside, < 0 inside [m].

Box, cylinder, capsule: I. Quilez, "Distance functions" (formulas re-derived).
"""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.kernels.arrays import FIELD, SceneArrays
from handiwork_planning.kernels.jit import kernel

from .mesh import to_mesh
from .triangles import nearest_on_triangle
from .voxel_field import to_field


@kernel
def to_box(x: float, y: float, z: float, hx: float, hy: float, hz: float) -> float:
    """Return the signed distance of a point to a box, m.

    Args:
        x: Coordinate in the box frame, m.
        y: Coordinate in the box frame, m.
        z: Coordinate in the box frame, m.
        hx: Half edge along x, m.
        hy: Half edge along y, m.
        hz: Half edge along z, m.
    """
    u, v, w = abs(x) - hx, abs(y) - hy, abs(z) - hz
    a, b, c = max(u, 0.0), max(v, 0.0), max(w, 0.0)
    return np.sqrt(a * a + b * b + c * c) + min(max(u, v, w), 0.0)


@kernel
def to_cylinder(x: float, y: float, z: float, radius: float, half: float) -> float:
    """Return the signed distance of a point to a cylinder with its axis along z, m.

    Args:
        x: Coordinate in the cylinder's frame, m.
        y: Coordinate in the cylinder's frame, m.
        z: Coordinate in the cylinder's frame, m.
        radius: Radius, m.
        half: Half length; the ends are flat, m.
    """
    u, v = np.sqrt(x * x + y * y) - radius, abs(z) - half
    a, b = max(u, 0.0), max(v, 0.0)
    return np.sqrt(a * a + b * b) + min(max(u, v), 0.0)


@kernel
def to_capsule(x: float, y: float, z: float, radius: float, half: float) -> float:
    """Return the signed distance of a point to a capsule with its axis along z, m.

    Args:
        x: Coordinate in the capsule's frame, m.
        y: Coordinate in the capsule's frame, m.
        z: Coordinate in the capsule's frame, m.
        radius: Radius, m.
        half: Half the length of the straight part, m.
    """
    w = z - min(max(z, -half), half)
    return np.sqrt(x * x + y * y + w * w) - radius


@kernel
def to_convex(x: float, y: float, z: float, triangles: Array, start: int, stop: int) -> float:
    """Return the signed distance of a point to a convex polyhedron, m.

    Inside it is that of the nearest face plane; outside, of the nearest triangle among those that face the point.

    Args:
        x: Coordinate in the shape frame, m.
        y: Coordinate in the shape frame, m.
        z: Coordinate in the shape frame, m.
        triangles: Three corners, outward unit normal and plane offset, (t, 13), m.
        start: First row of the polyhedron.
        stop: The row after its last.
    """
    deepest = -1.0e30
    for i in range(start, stop):
        plane = triangles[i, 9] * x + triangles[i, 10] * y + triangles[i, 11] * z - triangles[i, 12]
        deepest = max(deepest, plane)
    if deepest <= 0.0:
        return deepest
    best = 1.0e30
    for i in range(start, stop):
        plane = triangles[i, 9] * x + triangles[i, 10] * y + triangles[i, 11] * z - triangles[i, 12]
        if plane > 0.0 and plane * plane < best:
            best = min(best, nearest_on_triangle(triangles, i, x, y, z)[0])
    return np.sqrt(best)  # type: ignore[no-any-return]


@kernel
def to_local(scene: SceneArrays, i: int, x: float, y: float, z: float) -> float:
    """Return the signed distance of a point in the frame of a shape to that shape, m.

    Args:
        scene: The shapes of the world.
        i: Index of the shape.
        x: Coordinate in the shape frame, m.
        y: Coordinate in the shape frame, m.
        z: Coordinate in the shape frame, m.
    """
    size, kind = scene.size[i], scene.kind[i]
    if kind == 1:
        return to_box(x, y, z, size[0], size[1], size[2])
    if kind == 2:
        return np.sqrt(x * x + y * y + z * z) - size[0]  # type: ignore[no-any-return]
    if kind == 3:
        return to_cylinder(x, y, z, size[0], size[1])
    if kind == 4:
        return to_capsule(x, y, z, size[0], size[1])
    if kind == 6:
        return to_mesh(
            x, y, z, scene.mesh_nodes, scene.mesh_faces, scene.mesh_start[i, 0], scene.mesh_start[i, 1]
        )
    if kind == FIELD:
        pose = scene.pose[i]
        return to_field(scene.field, scene.field_frame, x + pose[9], y + pose[10], z + pose[11])
    return to_convex(x, y, z, scene.triangles, scene.triangle_start[i], scene.triangle_start[i + 1])


@kernel
def to_shape(scene: SceneArrays, i: int, wx: float, wy: float, wz: float) -> float:
    """Return the signed distance of a point in the world to a shape, m.

    Args:
        scene: The shapes of the world.
        i: Index of the shape.
        wx: Coordinate in the world, m.
        wy: Coordinate in the world, m.
        wz: Coordinate in the world, m.
    """
    p = scene.pose[i]
    dx, dy, dz = wx - p[9], wy - p[10], wz - p[11]
    x = p[0] * dx + p[3] * dy + p[6] * dz
    y = p[1] * dx + p[4] * dy + p[7] * dz
    z = p[2] * dx + p[5] * dy + p[8] * dz
    return to_local(scene, i, x, y, z)
