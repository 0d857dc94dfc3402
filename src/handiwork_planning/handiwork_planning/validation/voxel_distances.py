"""Distances to occupied cells for the referee: to the boxes in the nearest of them, which a tree finds.

All other boxes are at least as far away as the last one of the tree, less half of the longest diagonal. This is another
way than that of the planner, which reads a field of distances.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from handiwork_core.model.geometry import Array
from handiwork_core.voxels.voxel_map import VoxelMap

from .robot_bodies import NEAR_M, BodyPath

FIRST_BOXES = 16
"""Boxes that are measured first; four times as many as long as others may be nearer."""


class VoxelDistances:
    """The occupied cells of one map.

    Args:
        voxels: The map.
    """

    def __init__(self, voxels: VoxelMap) -> None:
        low, high = voxels.corners()
        self._middles, self._halves = 0.5 * (low + high), 0.5 * (high - low)
        self._extent_m = float(np.linalg.norm(self._halves, axis=1).max(initial=0.0))
        self._tree = cKDTree(self._middles) if len(self._middles) else None

    def gaps(self, track: BodyPath) -> Array:
        """Return the smallest distance of a body's balls to what is in occupied cells, (m,), m.

        It is exact below NEAR_M; beyond that it is a lower bound.

        Args:
            track: The body over time.
        """
        gaps = self.of_balls(track.middle, np.full(len(track.middle), track.radius))
        for i in np.flatnonzero(gaps < NEAR_M):
            centres = track.centres(np.array([i]))[0]
            gaps[i] = self.of_balls(centres, track.body.balls[:, 3]).min()
        return gaps

    def of_balls(self, centres: Array, radii: Array) -> Array:
        """Return the distances of balls to what is in occupied cells, (n,), m; infinite if no cell is occupied.

        They are exact below NEAR_M, and lower bounds beyond that.

        Args:
            centres: Centres in ``world``, (n, 3), m.
            radii: Radii, (n,), m.
        """
        if self._tree is None:
            return np.full(len(centres), np.inf)
        found = np.asarray(self._tree.query(centres)[0]) - self._extent_m
        near = np.flatnonzero(found - radii < NEAR_M)
        count, most = FIRST_BOXES, len(self._middles)
        while len(near):
            found[near], is_exact = self._of_points(self._tree, centres[near], min(count, most))
            near = near[~is_exact & (found[near] - radii[near] < NEAR_M)]
            count *= 4
        return found - radii

    def _of_points(self, tree: cKDTree, points: Array, count: int) -> tuple[Array, NDArray[np.bool_]]:
        """Return bounds of the distances of points to the boxes, by so many of these, and whether each is exact."""
        ways, rows = tree.query(points, k=count)
        ways, rows = ways.reshape(len(points), -1), rows.reshape(len(points), -1)
        beside = np.maximum(np.abs(points[:, None] - self._middles[rows]) - self._halves[rows], 0.0)
        nearest = np.sqrt((beside**2).sum(axis=2).min(axis=1))
        others = ways[:, -1] - self._extent_m if count < len(self._middles) else np.full(len(points), np.inf)
        return np.minimum(nearest, others), nearest <= others


_newest: list[tuple[VoxelMap, VoxelDistances]] = []


def distances_of(voxels: VoxelMap) -> VoxelDistances:
    """Return the distances of a map; those of the newest one are kept, as each motion of a goal asks for them.

    Args:
        voxels: The map.
    """
    known = _newest[0] if _newest else None
    if known is None or known[0] is not voxels:
        known = (voxels, VoxelDistances(voxels))
        _newest[:] = [known]
    return known[1]
