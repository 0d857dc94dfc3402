"""Grids of cells, and maps of points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.voxels.voxel_map import MOST_CELLS, STEPS, WHOLE, VoxelGrid, VoxelMap

GRID = VoxelGrid.over((0.0, 0.0, 0.5), (1.2, 0.6, 0.1), 0.02)


def test_a_grid_covers_its_box() -> None:
    assert GRID.shape == (60, 30, 5)
    np.testing.assert_allclose(GRID.corner_m, (-0.6, -0.3, 0.45))
    wider = VoxelGrid.over((0.0, 0.0, 0.0), (0.05, 0.05, 0.05), 0.02)
    assert wider.shape == (3, 3, 3)
    np.testing.assert_allclose(wider.first_m, (-0.02, -0.02, -0.02))


def test_points_occupy_their_cells_and_others_none() -> None:
    points = np.array([[-0.59, -0.29, 0.455], [0.59, 0.29, 0.545], [0.61, 0.0, 0.5], [np.nan, 0.0, 0.5]])
    voxels = VoxelMap.of_points(GRID, points)
    assert np.argwhere(voxels.occupied).tolist() == [[0, 0, 0], [59, 29, 4]]
    np.testing.assert_allclose(voxels.centres(), [[-0.59, -0.29, 0.46], [0.59, 0.29, 0.54]])


@pytest.mark.parametrize(
    ("size", "cell"),
    [((1.0, 1.0, 0.0), 0.02), ((1.0, np.inf, 1.0), 0.02), ((1.0, 1.0, 1.0), np.nan), ((9.0, 9.0, 9.0), 0.02)],
)
def test_a_box_that_cannot_be_is_named(size: tuple[float, float, float], cell: float) -> None:
    with pytest.raises(ValueError, match="size"):
        VoxelGrid.over((0.0, 0.0, 0.0), size, cell)


def test_the_number_of_cells_is_bounded() -> None:
    with pytest.raises(ValueError, match=str(MOST_CELLS)):
        VoxelGrid((0.0, 0.0, 0.0), 0.01, (200, 200, 101))
    with pytest.raises(ValueError, match="not finite"):
        VoxelGrid((np.nan, 0.0, 0.0), 0.01, (2, 2, 2))


def test_a_map_has_the_cells_of_its_grid() -> None:
    with pytest.raises(ValueError, match="shape"):
        VoxelMap(GRID, np.zeros((60, 30, 4), dtype=np.bool_))


def one(*box: int) -> VoxelMap:
    occupied = np.zeros((2, 1, 1), dtype=np.bool_)
    occupied[1] = True
    return VoxelMap(VoxelGrid((0.0, 0.0, 0.0), 0.1, (2, 1, 1)), occupied, boxes=np.array([box], np.uint8))


def test_boxes_have_their_corners_and_grow_within_their_cells() -> None:
    low, high = one(51, 0, 0, 204, 255, 51).corners()
    np.testing.assert_allclose(low, [[0.12, 0.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose(high, [[0.18, 0.1, 0.02]], atol=1e-12)
    grown = one(51, 0, 0, 204, 255, 51).grown(0.1)
    assert grown.boxes is not None
    assert grown.boxes.tolist() == [[25, 0, 0, 230, STEPS, 77]]


def test_a_map_covers_one_whose_boxes_are_within_its_own() -> None:
    middle = one(50, 50, 50, 90, 90, 90)
    assert middle.covers(middle)
    assert middle.grown(0.05).covers(middle)
    assert not middle.covers(middle.grown(0.05))
    assert VoxelMap(middle.grid, middle.occupied).covers(middle)
    assert not middle.covers(VoxelMap(middle.grid, middle.occupied))
    assert one(*WHOLE).covers(VoxelMap(middle.grid, middle.occupied))
    assert not middle.covers(VoxelMap(middle.grid, np.zeros((2, 1, 1), np.bool_)))


def test_boxes_that_cannot_be_are_named() -> None:
    with pytest.raises(ValueError, match="ends before it begins"):
        one(9, 0, 0, 8, 0, 0)
    with pytest.raises(ValueError, match=r"1 occupied cells need \(1, 6\)"):
        replace(one(*WHOLE), boxes=np.zeros((2, 6), np.uint8))
