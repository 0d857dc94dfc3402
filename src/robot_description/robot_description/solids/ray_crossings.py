"""Decides which points are inside a closed triangle mesh by the triangles that a ray from each point crosses.

For a closed mesh the signed number of crossings is its winding number: the answer of ``WindingTree`` for a fraction of
its time. Small holes are closed by flat fans first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from handiwork_core.model.geometry import Array
from handiwork_core.model.world import Indices
from handiwork_planning.kernels.jit import kernel

SNAP_M = 2.0**-23
"""Corners are rounded to multiples of this, 0.12 micrometres, so that those of neighbours are the same numbers."""
HOLES = 0.02
"""Largest share of the surface that fans over holes may have; a mesh with more is no closed one."""
ENTRIES = 12
"""Largest number of cells per triangle, in which the mesh is looked up, on average."""


@dataclass(frozen=True, slots=True, eq=False)
class RayCrossings:
    """The triangles of a closed mesh by the cells of a grid, viewed along an axis.

    Attributes:
        corners: Corners, (m, 3, 3), m; the last coordinate is along the rays.
        axes: Axes of the mesh in this order, (3,).
        low: Least first and second coordinate, (2,), m.
        cell_m: Width of a cell, m.
        counts: Number of cells along both axes, (2,).
        ends: Where the triangles of each cell begin and end among ``items``, (cells + 1,).
        items: Indices of triangles, (k,).
    """

    corners: Array
    axes: Indices
    low: Array
    cell_m: float
    counts: Indices
    ends: Indices
    items: Indices

    @classmethod
    def of(cls, corners: Array) -> RayCrossings | None:
        """Sort the triangles into cells.

        Args:
            corners: Corners of the triangles, (m, 3, 3), m; at least one.

        Returns:
            The sorted triangles; None if the mesh is not closed, or not by small fans.
        """
        closed = _closed(corners)
        if closed is None:
            return None
        # Along the shortest side the fewest triangles lie one behind another.
        axes: Indices = np.argsort(-np.ptp(closed.reshape(-1, 3), axis=0), kind="stable").astype(np.int64)
        rows = np.ascontiguousarray(closed[:, :, axes])
        flat = rows[:, :, :2]
        low, high = flat.min(axis=1), flat.max(axis=1)
        start, sides = low.min(axis=0), np.ptp(flat.reshape(-1, 2), axis=0)
        cell_m = max(float(np.sqrt(sides.prod() / len(rows))), float(sides.max()) / 2000.0, SNAP_M)
        while True:
            first, last = (((ends - start) / cell_m).astype(np.int64) for ends in (low, high))
            if (last - first + 1).prod(axis=1).sum() <= ENTRIES * len(rows) + 1000:
                break
            cell_m *= 1.5
        counts = last.max(axis=0) + 1
        ends, items = _sorted(first, last, counts)
        return cls(rows, axes, start, cell_m, counts, ends, items)

    def is_inside(self, points: Array) -> NDArray[np.bool_]:
        """Check whether the mesh winds about points.

        Args:
            points: Points, (n, 3), m.

        Returns:
            True for points inside, (n,).
        """
        rows = np.ascontiguousarray(points[:, self.axes], dtype=np.float64)
        turns = _windings(rows, self.corners, self.low, self.cell_m, self.counts, self.ends, self.items)
        inside: NDArray[np.bool_] = turns != 0
        return inside


def _closed(corners: Array) -> Array | None:
    """Return the triangles (m, 3, 3) with fans over holes; None if the fans would be large."""
    rows: Array = np.round(corners / SNAP_M) * SNAP_M
    points, ids = np.unique(rows.reshape(-1, 3), axis=0, return_inverse=True)
    ids = ids.reshape(-1, 3)
    edges = np.concatenate([ids[:, [0, 1]], ids[:, [1, 2]], ids[:, [2, 0]]])
    edges = edges[edges[:, 0] != edges[:, 1]]
    keys, which = np.unique(edges.min(axis=1) * len(points) + edges.max(axis=1), return_inverse=True)
    # Each edge must be passed as often in one direction as in the other.
    excess = np.bincount(which.ravel(), np.where(edges[:, 0] < edges[:, 1], 1.0, -1.0)).astype(np.int64)
    open_rows = np.flatnonzero(excess)
    if not len(open_rows):
        return rows
    ends = np.stack([keys[open_rows] // len(points), keys[open_rows] % len(points)], axis=1)
    ends[excess[open_rows] < 0] = ends[excess[open_rows] < 0, ::-1]
    fans = _fans(points, np.repeat(ends, np.abs(excess[open_rows]), axis=0))
    return np.concatenate([rows, fans]) if _area(fans) <= HOLES * _area(rows) else None


def _fans(points: Array, edges: Indices) -> Array:
    """Return triangles (k, 3, 3) from the middle of each hole to its edges, which are (k, 2) indices of points."""
    links = csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(len(points), len(points)))
    hole = connected_components(links, directed=False)[1][edges[:, 0]]
    number, row = np.unique(hole, return_inverse=True)
    sums = np.stack([np.bincount(row, points[edges[:, 0], i], len(number)) for i in range(3)], axis=1)
    middles = np.round(sums / np.bincount(row)[:, None] / SNAP_M) * SNAP_M
    return np.stack([points[edges[:, 1]], points[edges[:, 0]], middles[row]], axis=1)


def _area(corners: Array) -> float:
    sides = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return 0.5 * float(np.linalg.norm(sides, axis=1).sum())


@kernel
def _sorted(first: Indices, last: Indices, counts: Indices) -> tuple[Indices, Indices]:
    """Return where the triangles of each cell begin and end, and the triangles; they fill cells first to last."""
    ends = np.zeros(counts[0] * counts[1] + 1, np.int64)
    for t in range(len(first)):
        for i in range(first[t, 0], last[t, 0] + 1):
            for j in range(first[t, 1], last[t, 1] + 1):
                ends[i * counts[1] + j + 1] += 1
    ends = np.cumsum(ends)
    items, at = np.empty(ends[-1], np.int64), ends[:-1].copy()
    for t in range(len(first)):
        for i in range(first[t, 0], last[t, 0] + 1):
            for j in range(first[t, 1], last[t, 1] + 1):
                items[at[i * counts[1] + j]] = t
                at[i * counts[1] + j] += 1
    return ends, items


@kernel
def _windings(
    points: Array, corners: Array, low: Array, cell_m: float, counts: Indices, ends: Indices, items: Indices
) -> Indices:
    """Return the signed numbers (n,) of triangles that rays along the last axis cross."""
    total = np.zeros(len(points), np.int64)
    for row in range(len(points)):
        u, v, w = points[row]
        i, j = np.floor((u - low[0]) / cell_m), np.floor((v - low[1]) / cell_m)
        if i < 0 or j < 0 or i >= counts[0] or j >= counts[1]:
            continue
        cell = int(i) * counts[1] + int(j)
        for k in range(ends[cell], ends[cell + 1]):
            t, turns = items[k], 0
            for a in range(3):
                b = (a + 1) % 3
                if (corners[t, a, 1] > v) == (corners[t, b, 1] > v):
                    continue
                # From the lower end on: both triangles of an edge compute the same number.
                is_up = corners[t, b, 1] > corners[t, a, 1]
                p, q = (a, b) if is_up else (b, a)
                share = (v - corners[t, p, 1]) / (corners[t, q, 1] - corners[t, p, 1])
                if corners[t, p, 0] + share * (corners[t, q, 0] - corners[t, p, 0]) > u:
                    turns += 1 if is_up else -1
            if turns != 0 and _height(corners[t], u, v) > w:
                total[row] += turns
    return total


@kernel
def _height(corners: Array, u: float, v: float) -> float:
    """Return the last coordinate of the plane through three corners (3, 3)."""
    side_u, side_v = corners[1, 0] - corners[0, 0], corners[1, 1] - corners[0, 1]
    other_u, other_v = corners[2, 0] - corners[0, 0], corners[2, 1] - corners[0, 1]
    area = side_u * other_v - side_v * other_u
    if area == 0.0:
        return float(corners[0, 2])
    du, dv = u - corners[0, 0], v - corners[0, 1]
    x, y = (du * other_v - dv * other_u) / area, (side_u * dv - side_v * du) / area
    return float(corners[0, 2] + x * (corners[1, 2] - corners[0, 2]) + y * (corners[2, 2] - corners[0, 2]))
