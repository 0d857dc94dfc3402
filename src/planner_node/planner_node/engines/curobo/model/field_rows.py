"""Distances to obstacles that nobody modelled, as cuRobo's voxel grid in the robot's base frame."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array, Pose
from handiwork_planning.distance.voxel_field import Field

AROUND_M = 0.1
"""The grid is larger than the field by this on each side, m: cuRobo sees nothing from a sphere's centre outside it."""
SPARE = 0.75
"""The greatest sum of the variances of an interpolation between eight centres, in squares of a cell's edge."""

Distances = NDArray[np.float16]


@dataclass(frozen=True, slots=True, eq=False)
class FieldRows:
    """Distances at the centres of cubic cells.

    Attributes:
        values: Distances, below 0 within obstacles, (x, y, z), m.
        cell_m: Edge of a cell, m.
        pose: centre_T_base of the grid's centre, whose axes are those of ``world``, (7,): x, y, z in m and wxyz.
    """

    values: Distances
    cell_m: float
    pose: Array


def field_rows(field: Field, frame: Array, world_T_base: Pose) -> FieldRows:
    """Return a field as cuRobo reads it: what is interpolated is a lower bound of the distance, or nearly.

    The reason for the square roots is in ``handiwork_planning.distance.voxel_field``.

    Args:
        field: Bounds at the centres of cells, with a layer of free cells around all boxes, (x, y, z), m.
        frame: Centre of the first cell and edge of a cell, (4,), m.
        world_T_base: The robot's base in the world.
    """
    cell_m = float(frame[3])
    around = math.ceil(AROUND_M / cell_m)
    wide = np.pad(field, around, mode="edge")
    x, y, z = (_beyond(count, around) * np.float32(cell_m) for count in field.shape)
    beyond = x[:, None, None] ** 2 + y[None, :, None] ** 2 + z[None, None, :] ** 2
    wide = np.where(beyond > 0.0, np.sqrt(beyond + np.maximum(wide, 0.0) ** 2), wide)
    spare = np.float32(math.sqrt(SPARE) * cell_m)
    root = np.sqrt(np.maximum(wide * wide - spare * spare, 0.0))
    values = np.where(wide > spare, root, wide - spare).astype(np.float16)
    centre = frame[:3] + 0.5 * cell_m * (np.array(field.shape) - 1)
    pose = Pose.of(centre).inverse() @ world_T_base
    return FieldRows(values, cell_m, np.array([*pose.translation_m, *pose.rotation.wxyz]))


def _beyond(count: int, around: int) -> NDArray[np.float32]:
    """Return how many cells each of ``count`` cells with ``around`` more on both sides is beyond the former ones."""
    at = np.arange(-around, count + around)
    return np.maximum(np.maximum(-at, at - (count - 1)), 0).astype(np.float32)
