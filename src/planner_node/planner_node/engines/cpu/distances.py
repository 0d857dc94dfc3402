"""Exact signed distance of a point to convex shapes: > 0 outside, < 0 inside [m].

Box, cylinder, capsule: I. Quilez, "Distance functions" (formulas re-derived). Triangle: C. Ericson, Real-Time Collision
Detection, section 5.1.5.
"""

from __future__ import annotations

import numpy as np

from handiwork_core.geometry import Array

from .arrays import SceneArrays
from .jit import kernel


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
def _dot(a: Array, i: int, j: int, k: int, x: float, y: float, z: float) -> float:
    """(corner j - corner i) . (p - corner k), corners of a triangle row."""
    return (
        (a[3 * j] - a[3 * i]) * (x - a[3 * k])
        + (a[3 * j + 1] - a[3 * i + 1]) * (y - a[3 * k + 1])
        + (a[3 * j + 2] - a[3 * i + 2]) * (z - a[3 * k + 2])
    )


@kernel
def _gap2(a: Array, u: float, v: float, w: float, x: float, y: float, z: float) -> float:
    """Squared distance to the triangle's point with barycentric weights u, v, w."""
    dx = u * a[0] + v * a[3] + w * a[6] - x
    dy = u * a[1] + v * a[4] + w * a[7] - y
    dz = u * a[2] + v * a[5] + w * a[8] - z
    return dx * dx + dy * dy + dz * dz


@kernel
def to_triangle_squared(a: Array, x: float, y: float, z: float) -> float:
    """Squared distance [m^2] to a triangle row (13,) by the Voronoi region the point is in."""
    d1, d2 = _dot(a, 0, 1, 0, x, y, z), _dot(a, 0, 2, 0, x, y, z)
    if d1 <= 0.0 and d2 <= 0.0:
        return _gap2(a, 1.0, 0.0, 0.0, x, y, z)
    d3, d4 = _dot(a, 0, 1, 1, x, y, z), _dot(a, 0, 2, 1, x, y, z)
    if d3 >= 0.0 and d4 <= d3:
        return _gap2(a, 0.0, 1.0, 0.0, x, y, z)
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        t = d1 / (d1 - d3)
        return _gap2(a, 1.0 - t, t, 0.0, x, y, z)
    d5, d6 = _dot(a, 0, 1, 2, x, y, z), _dot(a, 0, 2, 2, x, y, z)
    if d6 >= 0.0 and d5 <= d6:
        return _gap2(a, 0.0, 0.0, 1.0, x, y, z)
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        t = d2 / (d2 - d6)
        return _gap2(a, 1.0 - t, 0.0, t, x, y, z)
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        t = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return _gap2(a, 0.0, 1.0 - t, t, x, y, z)
    plane = a[9] * x + a[10] * y + a[11] * z - a[12]
    return plane * plane


@kernel
def to_convex(x: float, y: float, z: float, triangles: Array, start: int, stop: int) -> float:
    """Convex polyhedron given by triangle rows start..stop.

    Inside, the nearest face plane; outside, the nearest triangle
    among those that face the point.
    """
    deepest = -1.0e30
    for i in range(start, stop):
        a = triangles[i]
        deepest = max(deepest, a[9] * x + a[10] * y + a[11] * z - a[12])
    if deepest <= 0.0:
        return deepest
    best = 1.0e30
    for i in range(start, stop):
        a = triangles[i]
        plane = a[9] * x + a[10] * y + a[11] * z - a[12]
        if plane > 0.0 and plane * plane < best:
            best = min(best, to_triangle_squared(a, x, y, z))
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
