"""Looks of depth cameras over time become one map of occupied cells."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.voxels.voxel_map import STEPS, WHOLE, Boxes, VoxelMap
from handiwork_planning.kernels.arrays import flat

from .kernels import count_cloud, count_depth, fill_unseen, inside_objects, inside_robot, see_through
from .known_bodies import KnownBodies
from .settings import ObstacleSettings

AGREE_S = 1.0
"""Within this time a look that finds a cell occupied is believed more than one that finds it free, s."""


@dataclass(frozen=True, slots=True, eq=False)
class DepthLook:
    """One depth image.

    Attributes:
        depth: Depths along the optical axis, (rows, columns), float32, m; NaN or 0 where nothing was measured,
            infinite where nothing is near.
        focal_px: Focal lengths along x and y, pixels.
        centre_px: Principal point, pixels.
        world_T_camera: Pose of the optical frame.
        stamp_s: Time of the exposure, s.
    """

    depth: NDArray[np.float32]
    focal_px: tuple[float, float]
    centre_px: tuple[float, float]
    world_T_camera: Pose
    stamp_s: float


@dataclass(frozen=True, slots=True, eq=False)
class CloudLook:
    """One cloud of points.

    Attributes:
        points: Points in their frame, (n, 3), float32, m.
        world_T_frame: Pose of that frame.
        stamp_s: Their time, s.
    """

    points: NDArray[np.float32]
    world_T_frame: Pose
    stamp_s: float


class ObstacleMap:
    """The cells, with the last time at which each was seen occupied, and seen free.

    A cell that a look cannot show, because the arm or something else is before it, keeps what it was. A cloud says
    nothing about free space: each replaces the one before of the same source. Use it in one thread.

    Of a cell that depth images have seen occupied, the box counts around all points that they have seen in it since it
    was free, as large as ``grain`` demands; all of a cell that a cloud or unseen space occupies counts.

    Args:
        settings: The box, the cells, and what counts.
    """

    def __init__(self, settings: ObstacleSettings) -> None:
        self._settings, self._grid = settings, settings.grid()
        self._frame = np.append(self._grid.corner_m, self._grid.cell_m)
        self._limits = np.array([settings.least_depth, settings.most_depth])
        self._paddings = np.array([settings.padding, settings.robot_padding])
        self._version, self._stamp_s = 0, 0.0
        self._counts = np.zeros(self._grid.shape, np.int32)
        self._kinds = np.zeros(self._grid.shape, np.uint8)
        self._occupied_s, self._free_s = self._never(), self._never()
        self._clouds: dict[str, NDArray[np.bool_]] = {}
        cells = (*self._grid.shape, 6)
        self._has_boxes = settings.grain < settings.cell
        self._seen_boxes: Boxes = np.zeros(cells, np.uint8)
        self._boxes: Boxes = np.zeros(cells if self._has_boxes else (0, 0, 0, 6), np.uint8)

    def clear(self) -> None:
        """Forget all looks."""
        self._occupied_s, self._free_s, self._clouds, self._stamp_s = self._never(), self._never(), {}, 0.0

    def look(self, source: str, look: DepthLook | CloudLook, known: KnownBodies) -> None:
        """Take a look.

        Args:
            source: Name of the camera.
            look: What it saw.
            known: Robot and objects at the time of the look.
        """
        self._counts[:], self._kinds[:] = 0, 0
        if isinstance(look, CloudLook):
            points = np.ascontiguousarray(look.points, dtype=np.float32)
            self._clouds[source] = self._count(count_cloud, (points, flat(look.world_T_frame)), known)
        else:
            self._take_depth(look, known)
        self._stamp_s = max(self._stamp_s, look.stamp_s)

    def _take_depth(self, look: DepthLook, known: KnownBodies) -> None:
        depth = np.ascontiguousarray(look.depth, dtype=np.float32)
        lens, pose = np.array([*look.focal_px, *look.centre_px]), flat(look.world_T_camera)
        before = self._is_occupied()
        occupied = self._count(count_depth, (depth, lens, pose), known)
        spare_m = self._grid.half_diagonal_m
        see_through(depth, lens, pose, self._limits, self._frame, spare_m, look.stamp_s, self._free_s)
        inside_robot(self._frame, known.spheres, look.stamp_s, self._free_s)
        self._occupied_s[occupied] = look.stamp_s
        if self._has_boxes:
            self._join_boxes(occupied, before)

    def _join_boxes(self, occupied: NDArray[np.bool_], before: NDArray[np.bool_]) -> None:
        """Take the boxes of a look; in cells that were occupied before it they join those before."""
        spare = math.ceil(0.5 * STEPS * self._settings.grain / self._settings.cell)
        found = self._seen_boxes[occupied].astype(np.int16)
        low, high = np.maximum(found[:, :3] - spare, 0), np.minimum(found[:, 3:] + spare, STEPS)
        known, is_old = self._boxes[occupied].astype(np.int16), before[occupied]
        low[is_old] = np.minimum(low[is_old], known[is_old, :3])
        high[is_old] = np.maximum(high[is_old], known[is_old, 3:])
        self._boxes[occupied] = np.hstack([low, high]).astype(np.uint8)

    def _is_occupied(self) -> NDArray[np.bool_]:
        """Return which cells the depth images show to be occupied."""
        return np.asarray(
            np.isfinite(self._occupied_s) & (self._occupied_s >= self._free_s - AGREE_S), dtype=np.bool_
        )

    def _count(
        self, kernel: Callable[..., None], seen: tuple[NDArray[Any], ...], known: KnownBodies
    ) -> NDArray[np.bool_]:
        bodies = (self._frame, known.spheres, known.shapes, self._paddings)
        kernel(*seen, self._limits, *bodies, self._kinds, self._counts, self._seen_boxes)
        return np.asarray(self._counts >= self._settings.min_points)

    def map(self, known: KnownBodies) -> VoxelMap:
        """Return the cells that are occupied now, as a new version.

        Args:
            known: Robot and objects now: they are not in unseen space, and what was seen of objects before they were
                known is no obstacle.
        """
        self._version += 1
        seen = self._is_occupied()
        measured = seen.copy()
        if self._settings.is_unseen_occupied:
            cells = seen.view(np.uint8)
            fill_unseen(self._frame, known.spheres, known.shapes, self._paddings, self._free_s, cells)
        for cloud in self._clouds.values():
            seen |= cloud
            measured &= ~cloud
        boxes = None
        if self._has_boxes:
            boxes = self._boxes[seen]
            boxes[~measured[seen]] = WHOLE
        found = VoxelMap(self._grid, seen, self._version, self._stamp_s, boxes)
        return self._without_known(found, known)

    def _without_known(self, voxels: VoxelMap, known: KnownBodies) -> VoxelMap:
        """Return a map without the cells that are an object's: they were seen before the object was known.

        They are kept, as something else may be there once the object has left.
        """
        low, high = voxels.corners()
        inside = np.zeros(len(low), np.uint8)
        inside_objects(low, high, known.shapes, self._settings.padding, inside)
        if not inside.any():
            return voxels
        others = inside == 0
        occupied = voxels.occupied.copy()
        occupied[occupied] = others
        boxes = None if voxels.boxes is None else voxels.boxes[others]
        return VoxelMap(voxels.grid, occupied, voxels.version, voxels.stamp_s, boxes)

    def _never(self) -> Array:
        return np.full(self._grid.shape, -np.inf)
