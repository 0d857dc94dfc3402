"""Signed distance of a point to a closed triangle mesh: > 0 outside, < 0 inside [m].

The nearest triangle by a walk over a tree of boxes; the sign by the normal of the face, edge or corner that is nearest
(Baerentzen, Aanaes, "Signed distance computation using the angle weighted pseudonormal", 2005).
"""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.kernels.jit import kernel

from .triangles import EDGE, FACE, nearest_on_triangle

KEEP = 1.0 / 1.02**2
"""Outside the box of the whole mesh, boxes that could make the distance smaller by less than 2 % are left out."""
DEEPEST = 64
"""Levels of a tree; only 2^64 triangles would need more."""


@kernel
def _to_box_squared(nodes: Array, i: int, x: float, y: float, z: float) -> float:
    """Return the squared distance [m^2] to the box of node ``i``; 0 inside."""
    u = max(nodes[i, 0] - x, 0.0, x - nodes[i, 3])
    v = max(nodes[i, 1] - y, 0.0, y - nodes[i, 4])
    w = max(nodes[i, 2] - z, 0.0, z - nodes[i, 5])
    return u * u + v * v + w * w


@kernel
def _above(face: Array, region: int, x: float, y: float, z: float) -> float:
    """Return a positive number if the point is outside, seen from the nearest part of ``face`` (31,)."""
    if region == FACE:
        return face[9] * x + face[10] * y + face[11] * z - face[12]
    first = 13 + 3 * (region - EDGE)
    corner = 3 * ((region - EDGE) % 3)
    return (
        face[first] * (x - face[corner])
        + face[first + 1] * (y - face[corner + 1])
        + face[first + 2] * (z - face[corner + 2])
    )


@kernel
def to_mesh(x: float, y: float, z: float, nodes: Array, faces: Array, start: int, offset: int) -> float:
    """Return the signed distance of a point to a closed mesh, m.

    Exact in the box around the mesh; beyond it never more than the true distance, and less by 2 % at most.

    Args:
        x: Coordinate in the mesh frame, m.
        y: Coordinate in the mesh frame, m.
        z: Coordinate in the mesh frame, m.
        nodes: Boxes of trees, (b, 8), see ``mesh_bvh.build``.
        faces: Their triangles, (f, 31).
        start: First row of ``nodes`` of this mesh.
        offset: First row of ``faces`` of this mesh.
    """
    best, passed, nearest, region = 1.0e30, 1.0e30, offset, FACE
    outside = _to_box_squared(nodes, start, x, y, z) > 0.0
    keep = KEEP if outside else 1.0
    waiting, bounds, count = np.empty(DEEPEST, dtype=np.int64), np.empty(DEEPEST), 0
    i = start
    while True:
        while nodes[i, 7] == 0.0:
            left, right = i + 1, start + int(nodes[i, 6])
            near, far = _to_box_squared(nodes, left, x, y, z), _to_box_squared(nodes, right, x, y, z)
            if far < near:
                left, right, near, far = right, left, far, near
            if far < best * keep:
                waiting[count], bounds[count] = right, far
                count += 1
            else:
                passed = min(passed, far)
            i = left
        first = offset + int(nodes[i, 6])
        for k in range(first, first + int(nodes[i, 7])):
            squared, part = nearest_on_triangle(faces, k, x, y, z)
            if squared < best:
                best, nearest, region = squared, k, part
        while count > 0 and bounds[count - 1] >= best * keep:
            count -= 1
            passed = min(passed, bounds[count])
        if count == 0:
            break
        count -= 1
        i = waiting[count]
    if outside:
        return np.sqrt(min(best, passed))  # type: ignore[no-any-return]
    distance = np.sqrt(best)
    return distance if _above(faces[nearest], region, x, y, z) >= 0.0 else -distance  # type: ignore[no-any-return]
