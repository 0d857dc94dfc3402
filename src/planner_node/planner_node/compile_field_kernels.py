"""Compile the kernels of the field of obstacles ahead: ``python -m planner_node.compile_field_kernels``."""

from __future__ import annotations

import numpy as np

from handiwork_core.voxels.voxel_map import VoxelGrid, VoxelMap
from handiwork_planning.distance.voxel_field import field_of


def main() -> None:
    """Compile the kernels by making the field of a map of one cell."""
    grid = VoxelGrid.over((0.0, 0.0, 0.0), (0.1, 0.1, 0.1), 0.02)
    field_of(VoxelMap.of_points(grid, np.zeros((1, 3))))


if __name__ == "__main__":
    main()
