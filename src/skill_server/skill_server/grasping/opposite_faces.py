"""Contacts of two parallel pads on a convex hull: one flat on a face, the other opposite to it, over that face."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from handiwork_core.model.geometry import Array
from skill_server.geometry.orientation_cones import orthogonal

MOST_FACES = 12
SAME_FACE = 0.999
"""The cosine between normals of triangles that make one face."""
CONTACT_M = 1e-3
"""Corners this near to the outermost one touch the pad as well."""


def face_closings(vertices: Array) -> list[tuple[Array, Array]]:
    """Return the closing directions of a hull, largest faces first.

    The far side may be a face, an edge or a corner; pushed at a point over the face, the body cannot tip.

    Args:
        vertices: Corners of the hull, (n, 3), m.

    Returns:
        Directions (3,) and middles (3,) between the pads, in the frame of the corners.
    """
    found: list[tuple[Array, Array]] = []
    for normal in _normals(vertices):
        if any(abs(float(normal @ other)) > SAME_FACE for other, _ in found):
            continue
        centre = _middle(vertices, normal)
        if centre is not None:
            found.append((normal, centre))
    return found


def _normals(vertices: Array) -> list[Array]:
    """Return the outward unit normals of faces, largest first; none of a flat body."""
    try:
        hull = ConvexHull(vertices)
    except QhullError:
        return []
    a, b, c = (vertices[hull.simplices[:, k]] for k in range(3))
    areas = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    faces: list[tuple[Array, float]] = []
    for i in np.argsort(-areas):
        normal = hull.equations[i, :3]
        for k, (other, area) in enumerate(faces):
            if float(normal @ other) > SAME_FACE:
                faces[k] = (other, area + float(areas[i]))
                break
        else:
            faces.append((normal, float(areas[i])))
    faces.sort(key=lambda face: -face[1])
    return [normal for normal, _ in faces[:MOST_FACES]]


def _middle(vertices: Array, normal: Array) -> Array | None:
    """Return the middle between pads that close along a face's normal; None where the far side is not over the face."""
    along = vertices @ normal
    e1, e2 = orthogonal(normal)
    flat = np.column_stack([vertices @ e1, vertices @ e2])
    face, far = flat[along > along.max() - CONTACT_M], flat[along < along.min() + CONTACT_M]
    height = 0.5 * float(along.max() + along.min())
    outline = _outline(face)
    if outline is None:
        return None
    for point in (far.mean(axis=0), face.mean(axis=0), 0.5 * (far.mean(axis=0) + face.mean(axis=0))):
        if _inside(outline, point) and _touches(far, point):
            return np.asarray(point[0] * e1 + point[1] * e2 + height * normal)
    return None


def _outline(points: Array) -> Array | None:
    """Return rows (a, b, c) with a x + b y + c <= 0 inside; None for fewer points than a triangle."""
    try:
        return np.asarray(ConvexHull(points).equations)
    except (QhullError, ValueError):
        return None


def _inside(outline: Array, point: Array) -> bool:
    return bool((outline[:, :2] @ point + outline[:, 2] <= 1e-9).all())


def _touches(far: Array, point: Array) -> bool:
    """Check that the point is on the far contact: in its outline, or at the middle of an edge or a corner."""
    outline = _outline(far)
    if outline is not None:
        return _inside(outline, point)
    return bool(np.linalg.norm(far.mean(axis=0) - point) < CONTACT_M)
