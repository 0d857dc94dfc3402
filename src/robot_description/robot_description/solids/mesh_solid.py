"""A mesh as a solid for the fit of spheres: distances to it, and points in it and on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from handiwork_core.model.geometry import Array
from handiwork_core.model.world import Indices

MANY = 1500
"""Largest number of triangles for the test whether points are inside."""
AT_ONCE = 2_000_000
"""Largest product of the numbers of points and triangles processed at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class MeshSolid:
    """A mesh in the link's frame; its triangles need not close: see ``is_inside``.

    Attributes:
        triangles: Corners, (m, 3, 3), m; ``coarsened`` if there are many.
        samples: Points on the surface, (n, 3), m, ``spacing_m`` apart or closer. Distances are measured to them, and
            too large by less than that.
        spacing_m: Distance of the samples, m.
        tree: Search tree of the samples.
    """

    triangles: Array
    samples: Array
    spacing_m: float
    tree: cKDTree

    @classmethod
    def of(cls, vertices: Array, triangles: Indices, spacing_m: float) -> MeshSolid:
        """Return the solid of a mesh.

        Args:
            vertices: Vertices in the link's frame, (n, 3), m.
            triangles: Indices of the corners, (m, 3).
            spacing_m: Distance of the samples, m.
        """
        corners = np.asarray(vertices, dtype=np.float64)[triangles]
        samples = surface_points(corners, spacing_m)
        return cls(coarsened(corners, spacing_m), samples, spacing_m, cKDTree(samples))

    def distance(self, points: Array) -> Array:
        """Return the signed distance of points, negative inside.

        Args:
            points: Points in the link's frame, (n, 3), m.

        Returns:
            Distances, (n,), m.
        """
        away = np.asarray(self.tree.query(points)[0], dtype=np.float64)
        return np.where(is_inside(self.triangles, points), -away, away)

    def grid(self, step_m: float) -> Array:
        """Return points of a grid inside, and points on the surface.

        Args:
            step_m: Approximate distance of the points, m.

        Returns:
            Points in the link's frame, (n, 3), m.
        """
        low, high = self.samples.min(axis=0), self.samples.max(axis=0)
        axes = [np.linspace(a, b, int(np.ceil((b - a) / step_m)) + 1) for a, b in zip(low, high, strict=True)]
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
        cells = np.unique((self.samples / step_m).round(), axis=0, return_index=True)[1]
        return np.concatenate([points[is_inside(self.triangles, points)], self.samples[cells]])

    def surface(self, step_m: float) -> Array:
        """Return points on the surface, never closer than the samples are.

        Args:
            step_m: Approximate distance of the points, m.

        Returns:
            Points in the link's frame, (n, 3), m.
        """
        cells = np.unique((self.samples / step_m).round(), axis=0, return_index=True)[1]
        return np.asarray(self.samples[cells])


def surface_points(corners: Array, spacing_m: float) -> Array:
    """Return points on triangles, in rows parallel to the edges.

    Args:
        corners: Corners, (m, 3, 3), m.
        spacing_m: Largest distance of neighbours, m.

    Returns:
        Points, (n, 3), m.
    """
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    pieces = np.maximum(1, np.ceil(longest / spacing_m)).astype(np.int64)
    found = []
    for count in np.unique(pieces):
        i, j = np.meshgrid(np.arange(count + 1), np.arange(count + 1), indexing="ij")
        inside = i + j <= count
        a, b = i[inside] / count, j[inside] / count
        weights = np.stack([a, b, 1.0 - a - b], axis=1)
        found.append(np.einsum("kw,mwx->mkx", weights, corners[pieces == count]).reshape(-1, 3))
    points = np.concatenate(found)
    thinned = np.unique((points / (0.5 * spacing_m)).round(), axis=0, return_index=True)[1]
    return np.asarray(points[thinned], dtype=np.float64)


def coarsened(corners: Array, cell_m: float) -> Array:
    """Return few triangles in place of many: corners in one cell of a grid become one.

    A mesh of few triangles stays unchanged. The cells grow from ``cell_m`` until at most ``MANY`` triangles are left.

    Args:
        corners: Corners, (m, 3, 3), m.
        cell_m: Edge of a cell, m.

    Returns:
        Corners, (k, 3, 3), m.
    """
    kept = corners
    while len(kept) > MANY:
        cells = np.round(corners / cell_m).astype(np.int64)
        a, b, c = cells[:, 0], cells[:, 1], cells[:, 2]
        whole = (a != b).any(axis=1) & (b != c).any(axis=1) & (c != a).any(axis=1)
        kept = cells[whole] * cell_m
        cell_m *= 1.5
    return kept


def is_inside(corners: Array, points: Array) -> NDArray[np.bool_]:
    """Check whether triangles, viewed from a point, cover more than half of all directions.

    The sum of their solid angles, by the formula of van Oosterom and Strackee (1983).

    Args:
        corners: Corners, (m, 3, 3), m.
        points: Points, (n, 3), m.

    Returns:
        True for points inside, (n,).
    """
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    near = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
    inside = np.zeros(len(points), dtype=np.bool_)
    step = max(1, AT_ONCE // len(corners))
    for start in range(0, len(near), step):
        rows = near[start : start + step]
        inside[rows] = np.abs(_solid_angles(corners, points[rows])) > 2.0 * np.pi
    return inside


def _solid_angles(corners: Array, points: Array) -> Array:
    """Return the sum (n,) of the signed solid angles of all triangles, sr."""
    a, b, c = (corners[None, :, i] - points[:, None] for i in range(3))
    la, lb, lc = (np.sqrt(np.einsum("nmx,nmx->nm", v, v)) for v in (a, b, c))
    above = np.einsum("nmx,nmx->nm", a, np.cross(b, c))
    below = (
        la * lb * lc
        + np.einsum("nmx,nmx->nm", a, b) * lc
        + np.einsum("nmx,nmx->nm", b, c) * la
        + np.einsum("nmx,nmx->nm", c, a) * lb
    )
    total: Array = 2.0 * np.arctan2(above, below).sum(axis=1)
    return total
