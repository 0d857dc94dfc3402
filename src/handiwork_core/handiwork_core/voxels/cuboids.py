"""Maps of occupied cells that cover given cuboids, such as the leaves of an octree."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
from numpy.typing import NDArray

from .voxel_map import MOST_CELLS, STEPS, WHOLE, Array, Boxes, VoxelGrid, VoxelMap

SNAP = 1.0e-6
"""The reach of a cuboid into a cell that is a rounding error and does not occupy it, in cells."""

Numbers = NDArray[np.int64]


def map_of_cuboids(
    low: Array, high: Array, cell_m: float, version: int = 1, stamp_s: float = 0.0
) -> VoxelMap:
    """Return the map whose occupied cells, and the boxes in them, cover cuboids along the axes of ``world``.

    The corner of its grid is the least one of all cuboids, so that cuboids of a lattice of this edge are cells.

    Args:
        low: Least corners of the cuboids, (n, 3), m; n may be 0.
        high: Their greatest corners, (n, 3), m.
        cell_m: Edge of a cell, m. A cuboid should have few of them along each axis: they are gone through one by one.
        version: Version of the map.
        stamp_s: Time of the cuboids, s.

    Raises:
        ValueError: There would be too many cells, or the edge of a cell is out of its range.
    """
    if not len(low):
        return VoxelMap(
            VoxelGrid((0.0, 0.0, 0.0), cell_m, (1, 1, 1)), np.zeros((1, 1, 1), np.bool_), version, stamp_s
        )
    corner = low.min(axis=0)
    size = np.maximum(np.ceil((high.max(axis=0) - corner) / cell_m - SNAP), 1.0)
    if not math.prod(size.tolist()) <= MOST_CELLS:
        size = np.minimum(size, MOST_CELLS + 1)  # the grid names the number
    x, y, z = corner.tolist()
    nx, ny, nz = (int(n) for n in size)
    grid = VoxelGrid((x, y, z), cell_m, (nx, ny, nz))
    numbers, inner_low, inner_high = _parts((low - corner) / cell_m, (high - corner) / cell_m, grid.shape)
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    boxes = np.hstack(
        [np.minimum.reduceat(inner_low[order], starts), np.maximum.reduceat(inner_high[order], starts)]
    )
    occupied = np.zeros(math.prod(grid.shape), np.bool_)
    occupied[numbers] = True
    is_whole = bool((boxes == np.array(WHOLE, np.uint8)).all())
    return VoxelMap(grid, occupied.reshape(grid.shape), version, stamp_s, None if is_whole else boxes)


def _parts(low: Array, high: Array, shape: tuple[int, int, int]) -> tuple[Numbers, Boxes, Boxes]:
    """Return the number of each cell that a cuboid reaches into, and the box of that part in the cell.

    Args:
        low: Least corners, (n, 3), in cells from the grid's corner.
        high: Greatest corners, (n, 3).
        shape: Number of cells along each axis.
    """
    most = np.array(shape) - 1
    first = np.clip(np.floor(low + SNAP).astype(np.int64), 0, most)
    last = np.clip(np.ceil(high - SNAP).astype(np.int64) - 1, first, most)
    found = []
    for step in product(*(range(int(n) + 1) for n in (last - first).max(axis=0))):
        cells = first + np.array(step)
        reached = (cells <= last).all(axis=1)
        cells = cells[reached]
        begin = np.floor(STEPS * (low[reached] - cells)).clip(0, STEPS).astype(np.uint8)
        end = np.ceil(STEPS * (high[reached] - cells)).clip(0, STEPS).astype(np.uint8)
        found.append((np.ravel_multi_index(tuple(cells.T), shape), begin, end))
    numbers, begins, ends = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return numbers, begins, ends
