"""A mesh as a solid for the fit of spheres: distances to it, and points in it and on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from handiwork_core.model.geometry import Array
from handiwork_core.model.world import Indices

from .ray_crossings import RayCrossings
from .winding_number import WindingTree

ON_IT_M = 1e-9
"""Points this near to a sample are on the surface, m."""


@dataclass(frozen=True, slots=True, eq=False)
class MeshSolid:
    """A mesh in the link's frame; its triangles need not close.

    Attributes:
        winding: Decides whether points are inside: by crossings of rays if the mesh is closed, else by solid angles.
        samples: Points on the surface, (n, 3), m, ``spacing_m`` apart or closer. Distances are measured to them, and
            too large by less than that.
        spacing_m: Distance of the samples, m.
        tree: Search tree of the samples.
    """

    winding: RayCrossings | WindingTree
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
        winding = RayCrossings.of(corners) or WindingTree.of(corners)
        return cls(winding, samples, spacing_m, cKDTree(samples))

    def distance(self, points: Array) -> Array:
        """Return the signed distance of points, negative inside.

        Args:
            points: Points in the link's frame, (n, 3), m.

        Returns:
            Distances, (n,), m.
        """
        away: Array = np.array(self.tree.query(points)[0], dtype=np.float64)
        off = np.flatnonzero(away > ON_IT_M)
        away[off[self._is_inside(points[off])]] *= -1.0
        return away

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
        # The outermost points are always there: few points tell how large the solid is.
        ends = np.concatenate([self.samples.argmin(axis=0), self.samples.argmax(axis=0)])
        rows = np.unique(np.concatenate([cells, ends]))
        return np.concatenate([points[self._is_inside(points)], self.samples[rows]])

    def surface(self, step_m: float) -> Array:
        """Return points on the surface, never closer than the samples are.

        Args:
            step_m: Approximate distance of the points, m.

        Returns:
            Points in the link's frame, (n, 3), m.
        """
        cells = np.unique((self.samples / step_m).round(), axis=0, return_index=True)[1]
        return np.asarray(self.samples[cells])

    def _is_inside(self, points: Array) -> NDArray[np.bool_]:
        low, high = self.samples.min(axis=0), self.samples.max(axis=0)
        inside: NDArray[np.bool_] = ((points >= low) & (points <= high)).all(axis=1)
        inside[inside] = self.winding.is_inside(points[inside])
        return inside


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
