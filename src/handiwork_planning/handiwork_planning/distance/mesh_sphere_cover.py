"""Spheres that cover the surface of a mesh: large ones where it is thick, small ones where it is thin."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array
from handiwork_planning.kernels.arrays import Ints
from handiwork_planning.kernels.jit import kernel

from .mesh import to_mesh
from .mesh_bvh import KEPT, content, tree_of

Marks = NDArray[np.uint8]

MOST = 6000
"""Spheres of one mesh, at most; a body that would need more gets larger ones, which stand out farther."""
DEPTHS_M = np.array([0.03, 0.015, 0.008, 0.005, 0.003, 0.0015, 0.0])
"""Depths inside the surface at which a centre is tried: a deep one covers more, and stands out no farther."""
PITCH = 0.3
"""Distance between points on the surface as a share of the largest distance by which spheres may stand out."""
CELL_M = 0.008
MOST_POINTS = 400_000
"""Largest number of points that represent the surface, about."""
_covers: dict[bytes, Array] = {}


def cover_mesh(vertices: Array, triangles: Ints, protrusion_m: float) -> Array:
    """Return spheres that leave no point of the surface of a mesh out.

    A sphere reaches ``protrusion_m`` farther than its centre is inside the surface, so that none of it is farther from
    the body; that grows by a quarter until MOST spheres are enough.

    Args:
        vertices: Points, (n, 3), m.
        triangles: Rows of ``vertices``, (t, 3), counter-clockwise from outside.
        protrusion_m: Distance by which spheres may stand out, m.

    Returns:
        Centres and radii, (k, 4), m.
    """
    key = content(vertices, triangles)
    if key not in _covers:
        if len(_covers) >= KEPT:
            _covers.clear()
        _covers[key] = _cover(*tree_of(vertices, triangles), protrusion_m)
    return _covers[key]


def _cover(nodes: Array, faces: Array, protrusion_m: float) -> Array:
    corners = faces[:, :9].reshape(-1, 3, 3)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area_m2 = 0.5 * float(np.linalg.norm(across, axis=1).sum())
    protrusion_m = max(protrusion_m, np.sqrt(area_m2 / MOST_POINTS) / PITCH)
    while True:
        pitch = PITCH * protrusion_m
        points, inward = _surface(faces, pitch)
        grid, order = _sorted(points)
        points, inward, chosen = points[order], inward[order], np.empty((MOST, 4))
        count = _choose(points, inward, grid, DEPTHS_M, protrusion_m, pitch, nodes, faces, chosen)
        if count >= 0:
            return chosen[:count].copy()
        protrusion_m *= 1.25


def _surface(faces: Array, pitch_m: float) -> tuple[Array, Array]:
    """Return points (k, 3) on the surface and unit vectors into the body there.

    Every point of the surface is within ``pitch_m`` of one of them. Rows of triangles ``pitch_m`` long or shorter leave
    none farther than 0.58 of it; thinning adds 0.36 of it.
    """
    corners = faces[:, :9].reshape(-1, 3, 3)
    longest = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2).max(axis=1)
    counts = np.maximum(1, np.ceil(longest / pitch_m)).astype(np.int64)
    points, inward = [], []
    for n in np.unique(counts):
        rows = counts == n
        share = np.array([(i, j) for i in range(n + 1) for j in range(n + 1 - i)]) / n
        share = np.column_stack([1.0 - share.sum(axis=1), share])
        points.append(np.einsum("wi,tix->twx", share, corners[rows]).reshape(-1, 3))
        inward.append(np.repeat(-faces[rows, 9:12], len(share), axis=0))
    every, into = np.concatenate(points), np.concatenate(inward)
    cells = np.floor((every - every.min(axis=0)) / (0.2 * pitch_m)).astype(np.int64)
    size = cells.max(axis=0) + 1
    _, first = np.unique((cells[:, 0] * size[1] + cells[:, 1]) * size[2] + cells[:, 2], return_index=True)
    return every[first], into[first]


class Grid(NamedTuple):
    """Cells of a regular grid over points.

    Attributes:
        low: Corner of the grid, (3,), m.
        edge: Edge of a cell, (1,), m.
        shape: Number of cells along each axis, (3,).
        first: First point of each cell, and the number of points.
    """

    low: Array
    edge: Array
    shape: Ints
    first: Ints


def _sorted(points: Array) -> tuple[Grid, Ints]:
    """Return the grid for ``points`` (k, 3), and the order of the points in its cells."""
    low, high = points.min(axis=0), points.max(axis=0)
    edge = max(CELL_M, float((high - low).max()) / 100.0)
    cells = np.floor((points - low) / edge).astype(np.int64)
    shape = cells.max(axis=0) + 1
    flat = (cells[:, 0] * shape[1] + cells[:, 1]) * shape[2] + cells[:, 2]
    first = np.searchsorted(np.sort(flat), np.arange(int(shape.prod()) + 1)).astype(np.int64)
    return Grid(low, np.array([edge]), shape, first), np.argsort(flat, kind="stable")


@kernel
def _mark(points: Array, grid: Grid, x: float, y: float, z: float, reach: float, covered: Marks) -> None:
    """Set ``covered`` (k,) for points within ``reach`` of x, y, z."""
    edge, shape = grid.edge[0], grid.shape
    for i in range(
        max(0, int((x - reach - grid.low[0]) / edge)),
        min(shape[0], int((x + reach - grid.low[0]) / edge) + 1),
    ):
        for j in range(
            max(0, int((y - reach - grid.low[1]) / edge)),
            min(shape[1], int((y + reach - grid.low[1]) / edge) + 1),
        ):
            row = (i * shape[1] + j) * shape[2]
            below = max(0, int((z - reach - grid.low[2]) / edge))
            above = min(shape[2], int((z + reach - grid.low[2]) / edge) + 1)
            if above <= below:
                continue
            for k in range(grid.first[row + below], grid.first[row + above]):
                gap = (points[k, 0] - x) ** 2 + (points[k, 1] - y) ** 2 + (points[k, 2] - z) ** 2
                if gap <= reach * reach:
                    covered[k] = 1


@kernel
def _choose(
    points: Array,
    inward: Array,
    grid: Grid,
    depths: Array,
    protrusion: float,
    slack: float,
    nodes: Array,
    faces: Array,
    chosen: Array,
) -> int:
    """Give each point that no sphere covers yet the sphere that covers most around it.

    ``points`` and ``inward`` (k, 3) are in the order of ``grid``; a sphere covers points ``slack`` inside it. Returns
    the number of spheres, -1 if there would be too many.
    """
    covered, count = np.zeros(len(points), dtype=np.uint8), 0
    for i in range(len(points)):
        if covered[i] == 1:
            continue
        if count == len(chosen):
            return -1
        best, x, y, z, radius = -1.0, 0.0, 0.0, 0.0, 0.0
        for d in range(len(depths)):
            u = points[i, 0] + depths[d] * inward[i, 0]
            v = points[i, 1] + depths[d] * inward[i, 1]
            w = points[i, 2] + depths[d] * inward[i, 2]
            r = protrusion - (to_mesh(u, v, w, nodes, faces, 0, 0) if depths[d] > 0.0 else 0.0)
            disc = (r - slack) ** 2 - depths[d] ** 2
            if r > slack + depths[d] and disc > best:
                best, x, y, z, radius = disc, u, v, w, r
        chosen[count, 0], chosen[count, 1], chosen[count, 2], chosen[count, 3] = x, y, z, radius
        count += 1
        _mark(points, grid, x, y, z, radius - slack, covered)
    return count
