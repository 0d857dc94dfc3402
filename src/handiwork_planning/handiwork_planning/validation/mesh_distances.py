"""Exact signed distance of many points to a closed mesh, for the referee: plain numpy, no tree of boxes, no normals.

Near triangles are those whose middle could be near enough, given the distance to the nearest vertex. The sign is the
solid angle under which the mesh is seen (van Oosterom, Strackee 1983): 4 pi from inside, 0 from outside.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array

PAIRS_AT_ONCE = 400_000
"""Points times triangles processed together; bounds the memory."""


def mesh_distance(vertices: Array, triangles: NDArray[np.int64], p: Array) -> Array:
    """Return signed distances of points to a closed mesh, (m,), m.

    Args:
        vertices: Points of the mesh, (n, 3), m.
        triangles: Rows of ``vertices``, (t, 3).
        p: Points in the mesh frame, (m, 3), m.
    """
    found = _unsigned(vertices, triangles, p)
    inside = (p > vertices.min(axis=0)).all(axis=1) & (p < vertices.max(axis=0)).all(axis=1)
    rows = np.flatnonzero(inside)
    found[rows] *= _signs(vertices[triangles], p[rows], found[rows])
    return found


def _signs(corners: Array, p: Array, away: Array) -> Array:
    """Return -1 inside and 1 outside, (m,).

    One test decides for all points (m, 3) nearer to the tested one than the surface, which is ``away`` (m,).
    """
    from scipy.spatial import cKDTree  # type: ignore[import-untyped]

    signs = np.zeros(len(p))
    tree = cKDTree(p) if len(p) else None
    for i in np.argsort(-away, kind="stable"):
        if signs[i] == 0.0 and tree is not None:
            sign = -1.0 if _solid_angle(corners, p[i]) > 2.0 * np.pi else 1.0
            signs[tree.query_ball_point(p[i], 0.999 * away[i])] = sign
            signs[i] = sign
    return signs


def _solid_angle(corners: Array, p: Array) -> float:
    """Return the solid angle of all triangles (t, 3, 3) together, seen from the point (3,)."""
    a, b, c = (corners[:, i] - p for i in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
    volume = np.einsum("ti,ti->t", a, np.cross(b, c))
    across = la * lb * lc + np.einsum("ti,ti->t", a, b) * lc
    across += np.einsum("ti,ti->t", b, c) * la + np.einsum("ti,ti->t", c, a) * lb
    return float(2.0 * np.arctan2(volume, across).sum())


def _unsigned(vertices: Array, triangles: NDArray[np.int64], p: Array) -> Array:
    """Return distances (m,).

    Triangles of like size are searched together, so that a few large ones do not make all others candidates.
    """
    from scipy.spatial import cKDTree

    corners = vertices[triangles]
    middles = corners.mean(axis=1)
    reach = np.linalg.norm(corners - middles[:, None], axis=2).max(axis=1)
    sizes = np.floor(np.log2(np.maximum(reach, 1e-9))).astype(np.int64)
    most, _ = cKDTree(vertices[np.unique(triangles)]).query(p)
    best = np.asarray(most, dtype=np.float64).copy()
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        tree, far = cKDTree(middles[rows]), float(reach[rows].max())
        step = max(1, PAIRS_AT_ONCE // len(rows))
        for start in range(0, len(p), step):
            near = tree.query_ball_point(p[start : start + step], best[start : start + step] + far)
            owner = start + np.repeat(np.arange(len(near)), [len(n) for n in near])
            which = rows[np.concatenate([np.asarray(n, dtype=np.int64) for n in near])]
            np.minimum.at(best, owner, _to_triangles(p[owner], corners[which]))
    return best


def _to_triangles(p: Array, corners: Array) -> Array:
    """Return the distance (k,) of each point (k, 3) to its triangle (k, 3, 3).

    It is that to the plane above the triangle's inside, else to an edge.
    """
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normal, axis=1)
    above, best = length > 0.0, np.full(len(p), np.inf)
    for i in range(3):
        start, along = corners[:, i], corners[:, (i + 1) % 3] - corners[:, i]
        away = p - start
        above &= np.einsum("ij,ij->i", np.cross(normal, along), away) >= 0.0
        square = np.einsum("ij,ij->i", along, along)
        t = np.clip(np.einsum("ij,ij->i", away, along) / np.where(square > 0.0, square, 1.0), 0.0, 1.0)
        best = np.minimum(best, np.linalg.norm(away - t[:, None] * along, axis=1))
    height = np.abs(np.einsum("ij,ij->i", p - corners[:, 0], normal)) / np.where(above, length, 1.0)
    return np.where(above, height, best)
