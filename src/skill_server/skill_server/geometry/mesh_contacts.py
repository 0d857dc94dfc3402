"""Contacts on triangle meshes, also concave ones: pairs of opposite surface points, and points inside of the mesh."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from handiwork_core.model.geometry import Array
from handiwork_core.model.world import Shape

from .orientation_cones import Mask

PAIRS, PAIR_DRAWS = 40, 240
SURFACE_POINTS = 4000
OPPOSITE = float(np.cos(np.deg2rad(15.0)))
"""The cosine within which normals of a pair are opposite; friction holds such a pair."""
LEAST_THICKNESS_M = 1e-3


def opposite_pairs(shape: Shape) -> list[tuple[Array, Array, float]]:
    """Find pairs of opposite points on a mesh; the result is the same for each call.

    From a surface point the search goes straight in to the first exit, and keeps it if the surface there faces the
    other way.

    Args:
        shape: Mesh.

    Returns:
        Closing direction (3,), middle (3,) and distance [m] of each pair, in the frame of the mesh.
    """
    corners, normals, areas = _faces(shape)
    points, face = _surface(corners, areas, PAIR_DRAWS)
    found = []
    for point, normal in zip(points, normals[face], strict=True):
        far, at = _first_exit(point, -normal, corners)
        if far > LEAST_THICKNESS_M and float(normals[at] @ normal) < -OPPOSITE:
            found.append((normal, point - 0.5 * far * normal, far))
        if len(found) == PAIRS:
            break
    return found


def inside_mesh(shape: Shape, points: Array, margin_m: float | Array) -> Mask:
    """Check which points are deeper inside of a mesh than a margin.

    A point is judged by the nearest of many surface points and its normal.

    Args:
        shape: Mesh.
        points: Points in the frame of the mesh, (n, 3), m.
        margin_m: Least depth, m, one or one for each point, (n,).

    Returns:
        Mask, (n,).
    """
    corners, normals, areas = _faces(shape)
    surface, face = _surface(corners, areas, SURFACE_POINTS)
    _, near = cKDTree(surface).query(points)
    height = np.einsum("ij,ij->i", points - surface[near], normals[face[near]])
    return np.asarray(height < -margin_m)


def _faces(shape: Shape) -> tuple[Array, Array, Array]:
    """Return corners (m, 3, 3), outward unit normals (m, 3) and areas (m,) of triangles that are not slivers."""
    assert shape.vertices is not None
    assert shape.triangles is not None
    corners = shape.vertices[shape.triangles]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(cross, axis=1)
    good = length > 1e-14
    return corners[good], cross[good] / length[good, None], 0.5 * length[good]


def _surface(corners: Array, areas: Array, n: int) -> tuple[Array, Array]:
    """Return points (n, 3) spread over the surface, and the triangle (n,) of each."""
    rng = np.random.default_rng(0)
    edges = np.cumsum(areas)
    face = np.minimum(np.searchsorted(edges, rng.random(n) * edges[-1]), len(areas) - 1)
    u, v = rng.random((2, n, 1))
    flip = u + v > 1.0
    u, v = np.where(flip, 1.0 - u, u), np.where(flip, 1.0 - v, v)
    a, b, c = corners[face].transpose(1, 0, 2)
    return a + u * (b - a) + v * (c - a), face


def _first_exit(origin: Array, direction: Array, corners: Array) -> tuple[float, int]:
    """Return distance [m] and triangle of the nearest crossing beyond the start.

    The distance is infinite where there is none. Source: Moeller and Trumbore, Fast, minimum storage ray/triangle
    intersection, 1997.
    """
    a, ab, ac = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    h = np.cross(direction, ac)
    det = np.einsum("ij,ij->i", ab, h)
    inverse = 1.0 / np.where(np.abs(det) < 1e-15, np.inf, det)
    s = origin - a
    u = np.einsum("ij,ij->i", s, h) * inverse
    q = np.cross(s, ab)
    v, t = (q @ direction) * inverse, np.einsum("ij,ij->i", ac, q) * inverse
    hit = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (t > LEAST_THICKNESS_M / 2.0) & (np.abs(det) >= 1e-15)
    t = np.where(hit, t, np.inf)
    at = int(np.argmin(t))
    return float(t[at]), at
