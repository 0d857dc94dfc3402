"""The part of a triangle that is nearest to a point. C. Ericson, Real-Time Collision Detection, section 5.1.5."""

from __future__ import annotations

from handiwork_core.model.geometry import Array
from handiwork_planning.kernels.jit import kernel

FACE, EDGE, CORNER = 0, 1, 4
"""Parts: the face, edges 1 to 3 (01, 12, 20), corners 4 to 6."""


@kernel
def _dot(rows: Array, t: int, i: int, j: int, k: int, x: float, y: float, z: float) -> float:
    """Return (corner j - corner i) . (p - corner k) of triangle ``t``."""
    return (
        (rows[t, 3 * j] - rows[t, 3 * i]) * (x - rows[t, 3 * k])
        + (rows[t, 3 * j + 1] - rows[t, 3 * i + 1]) * (y - rows[t, 3 * k + 1])
        + (rows[t, 3 * j + 2] - rows[t, 3 * i + 2]) * (z - rows[t, 3 * k + 2])
    )


@kernel
def _gap2(rows: Array, t: int, u: float, v: float, w: float, x: float, y: float, z: float) -> float:
    """Return the squared distance to the point of triangle ``t`` with barycentric weights u, v, w."""
    dx = u * rows[t, 0] + v * rows[t, 3] + w * rows[t, 6] - x
    dy = u * rows[t, 1] + v * rows[t, 4] + w * rows[t, 7] - y
    dz = u * rows[t, 2] + v * rows[t, 5] + w * rows[t, 8] - z
    return dx * dx + dy * dy + dz * dz


@kernel
def nearest_on_triangle(rows: Array, t: int, x: float, y: float, z: float) -> tuple[float, int]:
    """Return the squared distance [m^2] to a triangle, and its part that is nearest.

    Args:
        rows: Three corners, unit normal, plane offset, (m, 13 or more), m.
        t: Row of the triangle.
        x: Coordinate in the frame of ``rows``, m.
        y: Coordinate in the frame of ``rows``, m.
        z: Coordinate in the frame of ``rows``, m.
    """
    d1, d2 = _dot(rows, t, 0, 1, 0, x, y, z), _dot(rows, t, 0, 2, 0, x, y, z)
    if d1 <= 0.0 and d2 <= 0.0:
        return _gap2(rows, t, 1.0, 0.0, 0.0, x, y, z), CORNER
    d3, d4 = _dot(rows, t, 0, 1, 1, x, y, z), _dot(rows, t, 0, 2, 1, x, y, z)
    if d3 >= 0.0 and d4 <= d3:
        return _gap2(rows, t, 0.0, 1.0, 0.0, x, y, z), CORNER + 1
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        s = d1 / (d1 - d3)
        return _gap2(rows, t, 1.0 - s, s, 0.0, x, y, z), EDGE
    d5, d6 = _dot(rows, t, 0, 1, 2, x, y, z), _dot(rows, t, 0, 2, 2, x, y, z)
    if d6 >= 0.0 and d5 <= d6:
        return _gap2(rows, t, 0.0, 0.0, 1.0, x, y, z), CORNER + 2
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        s = d2 / (d2 - d6)
        return _gap2(rows, t, 1.0 - s, 0.0, s, x, y, z), EDGE + 2
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        s = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return _gap2(rows, t, 0.0, 1.0 - s, s, x, y, z), EDGE + 1
    plane = rows[t, 9] * x + rows[t, 10] * y + rows[t, 11] * z - rows[t, 12]
    return plane * plane, FACE
