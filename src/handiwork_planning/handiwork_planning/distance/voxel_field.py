"""The distance of a point to what is in occupied cells, read from a field, as a bound that holds for certain.

The field has, at the centres of cells, bounds of the distance to the boxes of the occupied cells; one more layer of
cells around the grid is in it, so that all boxes are between its outermost centres. It is read by linear interpolation
between eight centres. Their weights have the point as their mean, and a variance of a (1 - a) along each axis, where a
is the point's place between two centres, in cells. So the mean of the squared distances of the eight to any one point
is the squared distance of their mean, plus the sum s of the variances; the mean of the distances is no more than the
root of that. As this holds for the nearest point of the nearest box, and no centre's bound is above its distance to
that point, a value v that was read is at most the root of d^2 + s, and the distance d is at least the root of v^2 - s.

From a point beyond the outermost centres all boxes are on the other side of the nearest point between these, so both
ways are at a right angle or more: the distance is at least the root of the sum of their squares.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array
from handiwork_core.voxels.voxel_map import STEPS, WHOLE, VoxelMap
from handiwork_planning.kernels.jit import inlined

from .box_distances import combine, squares_to_boxes
from .distance_transform import Squares, signed

HALF_DIAGONAL = 0.5 * math.sqrt(3.0)
"""The greatest distance of a point of a cell from its centre, in cells."""
FAR_M = 10.0
"""Distances are cut off here, m."""
EXACT_M = 0.08
"""Up to here the field is exact at centres, unless cells are small, m; beyond, bounds are lower by a cell or less."""
MOST_CELLS_AROUND = 8
"""The greatest distance up to which it is exact, in cells."""

Field = NDArray[np.float32]
NO_FIELD: Field = np.zeros((1, 1, 1), np.float32)


def field_of(voxels: VoxelMap) -> Field:
    """Return bounds of the signed distance of cells' centres to what is in occupied cells, m.

    Args:
        voxels: The occupied cells.

    Returns:
        Distances, (x + 2, y + 2, z + 2), float32, m; with a layer of free cells around the grid.
    """
    cell_m = voxels.grid.cell_m
    occupied = np.pad(voxels.occupied, 1)
    field: Squares = signed(occupied, cell_m, FAR_M)
    cells = np.argwhere(occupied)
    boxes = (
        np.broadcast_to(np.array(WHOLE, np.uint8), (len(cells), 6)) if voxels.boxes is None else voxels.boxes
    )
    whole, faces = np.zeros_like(occupied), (boxes / np.float32(STEPS) - np.float32(0.5)).astype(np.float32)
    whole[tuple(cells.T)] = (boxes == np.array(WHOLE, np.uint8)).all(axis=1)
    squares = np.empty(occupied.shape, np.float32)
    around = min(MOST_CELLS_AROUND, max(2, math.ceil(EXACT_M / cell_m)))
    low, high = np.ascontiguousarray(faces[:, :3]), np.ascontiguousarray(faces[:, 3:])
    squares_to_boxes(cells, low, high, whole, around, squares)
    combine(squares, field, cell_m)
    return field


def frame_of(voxels: VoxelMap) -> Array:
    """Return the centre of the field's first cell and the edge of a cell, (4,), m.

    Args:
        voxels: The occupied cells.
    """
    return np.append(voxels.grid.first_m - voxels.grid.cell_m, voxels.grid.cell_m)


@inlined
def to_field(field: Field, frame: Array, x: float, y: float, z: float) -> float:
    """Return a lower bound of the signed distance of a point to all that is in occupied cells, m.

    Args:
        field: See ``field_of``, (nx, ny, nz).
        frame: See ``frame_of``, (4,).
        x: Coordinate in ``world``, m.
        y: Coordinate in ``world``, m.
        z: Coordinate in ``world``, m.
    """
    nx, ny, nz = field.shape
    scale = 1.0 / frame[3]
    u0, v0, w0 = (x - frame[0]) * scale, (y - frame[1]) * scale, (z - frame[2]) * scale
    u, v, w = min(max(u0, 0.0), nx - 1.0), min(max(v0, 0.0), ny - 1.0), min(max(w0, 0.0), nz - 1.0)
    i, j, k = int(u), int(v), int(w)
    a, b, c = u - i, v - j, w - k
    p, q, r = min(i + 1, nx - 1), min(j + 1, ny - 1), min(k + 1, nz - 1)
    low = (1.0 - a) * ((1.0 - b) * field[i, j, k] + b * field[i, q, k]) + a * (
        (1.0 - b) * field[p, j, k] + b * field[p, q, k]
    )
    high = (1.0 - a) * ((1.0 - b) * field[i, j, r] + b * field[i, q, r]) + a * (
        (1.0 - b) * field[p, j, r] + b * field[p, q, r]
    )
    read = (1.0 - c) * low + c * high
    spare = frame[3] * frame[3] * (a * (1.0 - a) + b * (1.0 - b) + c * (1.0 - c))
    left = read * read - spare
    found = np.sqrt(left) if read > 0.0 and left > 0.0 else read - np.sqrt(spare)
    beyond = (u0 - u) ** 2 + (v0 - v) ** 2 + (w0 - w) ** 2
    if beyond > 0.0:
        beside = max(found, 0.0)
        found = np.sqrt(beyond * frame[3] * frame[3] + beside * beside)
    return found


@inlined
def is_far(field: Field, frame: Array, x: float, y: float, z: float, gap: float) -> bool:
    """Return True if one lookup shows that a point has a distance from all that is in occupied cells.

    Args:
        field: See ``field_of``, (nx, ny, nz).
        frame: See ``frame_of``, (4,).
        x: Coordinate in ``world``, m.
        y: Coordinate in ``world``, m.
        z: Coordinate in ``world``, m.
        gap: The distance, m.
    """
    nx, ny, nz = field.shape
    scale = 1.0 / frame[3]
    i = int(min(max((x - frame[0]) * scale + 0.5, 0.0), nx - 1.0))
    j = int(min(max((y - frame[1]) * scale + 0.5, 0.0), ny - 1.0))
    k = int(min(max((z - frame[2]) * scale + 0.5, 0.0), nz - 1.0))
    # The centre is half a diagonal away at most. From beyond, all boxes are farther away than from the nearest point.
    return field[i, j, k] - HALF_DIAGONAL * frame[3] >= gap
