"""Exact signed distance of a point to shapes: > 0 outside, < 0 inside [m].

Box, cylinder, capsule: I. Quilez, "Distance functions" (formulas re-derived).
"""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.kernels.arrays import SceneArrays
from handiwork_planning.kernels.jit import kernel

from .mesh import to_mesh
from .triangles import nearest_on_triangle


@kernel
def to_box(x: float, y: float, z: float, hx: float, hy: float, hz: float) -> float:
    """Half edges ``hx, hy, hz`` [m]; the point is in the box frame."""
    u, v, w = abs(x) - hx, abs(y) - hy, abs(z) - hz
    a, b, c = max(u, 0.0), max(v, 0.0), max(w, 0.0)
    return np.sqrt(a * a + b * b + c * c) + min(max(u, v, w), 0.0)


@kernel
def to_cylinder(x: float, y: float, z: float, radius: float, half: float) -> float:
    """Axis along z, flat ends at +-half [m]."""
    u, v = np.sqrt(x * x + y * y) - radius, abs(z) - half
    a, b = max(u, 0.0), max(v, 0.0)
    return np.sqrt(a * a + b * b) + min(max(u, v), 0.0)


@kernel
def to_capsule(x: float, y: float, z: float, radius: float, half: float) -> float:
    """Axis along z, straight part of length 2 half [m]."""
    w = z - min(max(z, -half), half)
    return np.sqrt(x * x + y * y + w * w) - radius


@kernel
def to_convex(x: float, y: float, z: float, triangles: Array, start: int, stop: int) -> float:
    """Convex polyhedron given by triangle rows start..stop.

    Inside, the nearest face plane; outside, the nearest triangle
    among those that face the point.
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
    """Point in the frame of shape ``i`` to that shape."""
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
    return to_convex(x, y, z, scene.triangles, scene.triangle_start[i], scene.triangle_start[i + 1])


@kernel
def to_shape(scene: SceneArrays, i: int, wx: float, wy: float, wz: float) -> float:
    """World point to shape ``i`` of the scene."""
    p = scene.pose[i]
    dx, dy, dz = wx - p[9], wy - p[10], wz - p[11]
    x = p[0] * dx + p[3] * dy + p[6] * dz
    y = p[1] * dx + p[4] * dy + p[7] * dz
    z = p[2] * dx + p[5] * dy + p[8] * dz
    return to_local(scene, i, x, y, z)
