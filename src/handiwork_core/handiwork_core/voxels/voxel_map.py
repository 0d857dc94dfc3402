"""Obstacles that nobody modelled, as the occupied cells of a box of space."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bits = NDArray[np.bool_]
Boxes = NDArray[np.uint8]
"""Boxes within cells, (n, 6): least and greatest x, y, z, in 1/STEPS of the cell's edge from its least corner."""

UNMODELLED = "unmodelled_obstacles"
"""The name of the body that all occupied cells are, in verdicts and in the lists of a scene query."""
MOST_CELLS = 4_000_000
"""The greatest number of cells: a cube of 1.58 m with cells of 1 cm."""
CELL_M = (0.002, 0.5)
"""The least and the greatest edge of a cell, m."""
STEPS = 255
"""Places along an edge of a cell at which the faces of boxes may lie, less one."""
WHOLE = (0, 0, 0, STEPS, STEPS, STEPS)
"""The box that is all of its cell."""


@dataclass(frozen=True, slots=True)
class VoxelGrid:
    """A box of cubic cells whose axes are those of ``world``.

    Attributes:
        corner_m: The corner with the least coordinates, (x, y, z), m.
        cell_m: Edge of a cell, m.
        shape: Number of cells along each axis.
    """

    corner_m: tuple[float, float, float]
    cell_m: float
    shape: tuple[int, int, int]

    def __post_init__(self) -> None:
        if not all(math.isfinite(value) for value in (*self.corner_m, self.cell_m)):
            raise ValueError(
                f"corner {self.corner_m} and cell {self.cell_m}: a number is not finite; give finite ones"
            )
        if not CELL_M[0] <= self.cell_m <= CELL_M[1]:
            raise ValueError(f"cell: is {self.cell_m:g} m; give {CELL_M[0]:g} to {CELL_M[1]:g} m")
        cells = math.prod(self.shape)
        if min(self.shape) < 1 or cells > MOST_CELLS:
            size = " x ".join(map(str, self.shape))
            raise ValueError(
                f"size: {size} are {cells} cells; give 1 to {MOST_CELLS}, by a smaller box or larger cells"
            )

    @classmethod
    def over(
        cls, centre_m: tuple[float, float, float], size_m: tuple[float, float, float], cell_m: float
    ) -> VoxelGrid:
        """Return the least grid that covers a box.

        Args:
            centre_m: Centre of the box in ``world``, m.
            size_m: Its edges, m.
            cell_m: Edge of a cell, m.

        Raises:
            ValueError: A number is not finite or out of its range, or there would be too many cells.
        """
        if not all(math.isfinite(value) and value > 0.0 for value in (*size_m, cell_m)):
            raise ValueError(f"size {size_m} and cell {cell_m:g}: make each number more than 0 and finite")
        # A hair less, so that 1.2 m of cells of 0.02 m are 60 cells and not 61.
        x, y, z = (math.ceil(edge / cell_m - 1.0e-6) for edge in size_m)
        a, b, c = (at - 0.5 * n * cell_m for at, n in zip(centre_m, (x, y, z), strict=True))
        return cls((a, b, c), cell_m, (x, y, z))

    @property
    def half_diagonal_m(self) -> float:
        """The greatest distance of a point of a cell from the cell's centre, m."""
        return 0.5 * math.sqrt(3.0) * self.cell_m

    @property
    def first_m(self) -> Array:
        """The centre of the first cell, (3,), m."""
        return np.asarray(self.corner_m) + 0.5 * self.cell_m

    def cells_of(self, points: Array) -> tuple[NDArray[np.int64], Bits]:
        """Return the cells of points, (n, 3), and whether each is in the grid, (n,).

        Args:
            points: Points in ``world``, (n, 3), m.
        """
        cells = np.floor((points - np.asarray(self.corner_m)) / self.cell_m).astype(np.int64)
        return cells, ((cells >= 0) & (cells < np.asarray(self.shape))).all(axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class VoxelMap:
    """Which cells of a grid are occupied by what is none of the world's objects.

    Attributes:
        grid: The cells.
        occupied: Whether each is occupied, (x, y, z).
        version: Rises with each map of one source; 1 or more.
        stamp_s: Time of the newest measurement in it, s.
        boxes: The part of each occupied cell that may be filled, in the order of ``np.argwhere(occupied)``, (n, 6),
            see ``Boxes``; None: all of each.
    """

    grid: VoxelGrid
    occupied: Bits
    version: int = 1
    stamp_s: float = 0.0
    boxes: Boxes | None = None
    _centres: list[Array] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.occupied.shape != self.grid.shape:
            raise ValueError(f"occupied: has the shape {self.occupied.shape}, and the grid {self.grid.shape}")
        if self.boxes is None:
            return
        count = int(np.count_nonzero(self.occupied))
        if self.boxes.shape != (count, 6):
            text = (
                f"boxes: has the shape {self.boxes.shape}; {count} occupied cells need ({count}, 6), or none"
            )
            raise ValueError(text)
        if (self.boxes[:, :3] > self.boxes[:, 3:]).any():
            raise ValueError("boxes: a box ends before it begins; give the least corner first")

    @classmethod
    def of_points(
        cls,
        grid: VoxelGrid,
        points: Array,
        version: int = 1,
        stamp_s: float = 0.0,
        grain_m: float | None = None,
    ) -> VoxelMap:
        """Return the map in which the cells of points are occupied; points outside of the grid do not count.

        Args:
            grid: The cells.
            points: Points in ``world``, (n, 3), m.
            version: Version of the map.
            stamp_s: Time of the points, s.
            grain_m: Edge of the cube around a point that the point stands for, m; what of it is in other cells does not
                count. None: a point stands for all of its cell.
        """
        occupied = np.zeros(grid.shape, dtype=np.bool_)
        points = points[np.isfinite(points).all(axis=1)]
        cells, inside = grid.cells_of(points)
        cells, points = cells[inside], points[inside]
        occupied[tuple(cells.T)] = True
        boxes = None if grain_m is None else _boxes_of(grid, cells, points, grain_m)
        return cls(grid, occupied, version, stamp_s, boxes)

    def centres(self) -> Array:
        """Return the centres of the occupied cells in ``world``, (n, 3), m; computed once."""
        if not self._centres:
            self._centres.append(self.grid.first_m + self.grid.cell_m * np.argwhere(self.occupied))
        return self._centres[0]

    def corners(self) -> tuple[Array, Array]:
        """Return the least and the greatest corners of the boxes in ``world``, each (n, 3), m."""
        cell_m = self.grid.cell_m
        boxes = np.array([WHOLE]) if self.boxes is None else self.boxes
        low = self.centres() + (boxes[:, :3] / STEPS - 0.5) * cell_m
        return low, self.centres() + (boxes[:, 3:] / STEPS - 0.5) * cell_m

    def grown(self, share: float) -> VoxelMap:
        """Return the map with each box larger on all sides, within its cell.

        Args:
            share: How far each face moves out, as a share of the edge of a cell.
        """
        if self.boxes is None:
            return self
        step = math.ceil(share * STEPS)
        low = np.maximum(self.boxes[:, :3].astype(np.int64) - step, 0)
        high = np.minimum(self.boxes[:, 3:].astype(np.int64) + step, STEPS)
        return replace(self, boxes=np.hstack([low, high]).astype(np.uint8))

    def covers(self, other: VoxelMap) -> bool:
        """Return True if another map has the same cells, and no box that reaches out of this map's.

        Args:
            other: The other map.
        """
        if self.grid != other.grid or not np.array_equal(self.occupied, other.occupied):
            return False
        if self.boxes is None:
            return True
        boxes = np.array([WHOLE], dtype=np.uint8) if other.boxes is None else other.boxes
        return bool((self.boxes[:, :3] <= boxes[:, :3]).all() and (self.boxes[:, 3:] >= boxes[:, 3:]).all())


def _boxes_of(grid: VoxelGrid, cells: NDArray[np.int64], points: Array, grain_m: float) -> Boxes:
    """Return the boxes around the points of each cell, in the order of the cells."""
    places = (points - np.asarray(grid.corner_m)) / grid.cell_m - cells
    numbers = np.ravel_multi_index(tuple(cells.T), grid.shape)
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    if not len(starts):
        return np.zeros((0, 6), dtype=np.uint8)
    spare = 0.5 * grain_m / grid.cell_m
    low = np.floor(STEPS * (np.minimum.reduceat(places[order], starts) - spare))
    high = np.ceil(STEPS * (np.maximum.reduceat(places[order], starts) + spare))
    return np.hstack([low, high]).clip(0, STEPS).astype(np.uint8)
