"""Distances to occupied cells against the definition: every cell, every point."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.model.geometry import Array
from handiwork_core.model.world import World
from handiwork_core.voxels.voxel_map import WHOLE, Bits, Boxes, VoxelGrid, VoxelMap
from handiwork_planning.distance.distance_transform import signed
from handiwork_planning.distance.shapes import to_shape
from handiwork_planning.distance.voxel_field import EXACT_M, FAR_M, field_of, frame_of, is_far
from handiwork_planning.kernels.jit import kernel
from handiwork_planning.scene.scene import CollisionScene
from handiwork_planning.validation.robot_bodies import NEAR_M
from handiwork_planning.validation.voxel_distances import VoxelDistances

CELL_M = 0.02
GRID = VoxelGrid.over((0.3, -0.2, 0.4), (0.5, 0.4, 0.3), CELL_M)


def nearest(cells: Array, to: Array) -> Array:
    """Return the distance of each cell (n, 3) to the nearest of ``to`` (m, 3)."""
    return np.sqrt(((cells[:, None] - to[None]) ** 2).sum(axis=2).min(axis=1))


def by_definition(occupied: Bits) -> Array:
    cells = np.argwhere(np.ones_like(occupied)).astype(float)
    full, free = np.argwhere(occupied).astype(float), np.argwhere(~occupied).astype(float)
    outside = CELL_M * nearest(cells, full)
    inside = -CELL_M * np.maximum(nearest(cells, free) - 1.0, 0.0)
    return np.where(occupied.ravel(), inside, outside).reshape(occupied.shape)


@pytest.mark.parametrize("share", [0.002, 0.05, 0.5, 0.97])
def test_the_transform_is_exact(share: float) -> None:
    rng = np.random.default_rng(int(1000 * share))
    for shape in ((9, 11, 13), (1, 17, 6), (14, 1, 1)):
        occupied = rng.random(shape) < share
        occupied[0, 0, 0], occupied[-1, -1, -1] = True, False
        np.testing.assert_allclose(signed(occupied, CELL_M, FAR_M), by_definition(occupied), atol=1.0e-6)


def test_one_cell_that_lies_inside_is_found_wherever_it_is() -> None:
    for middle in ((4, 4, 4), (0, 4, 8), (8, 8, 8)):
        occupied = np.zeros((9, 9, 9), np.bool_)
        occupied[middle] = True
        for axis in range(3):
            for step in (-1, 1):
                beside = list(middle)
                beside[axis] = min(max(beside[axis] + step, 0), 8)
                occupied[tuple(beside)] = True
        found = signed(occupied, CELL_M, FAR_M)
        assert found[middle] < 0.0
        np.testing.assert_allclose(found, by_definition(occupied), atol=1.0e-6)


def test_nothing_and_everything_occupied() -> None:
    assert (signed(np.zeros((4, 5, 6), np.bool_), CELL_M, FAR_M) == FAR_M).all()
    assert (signed(np.ones((4, 5, 6), np.bool_), CELL_M, FAR_M) == -FAR_M).all()


LOW = np.array(GRID.corner_m)
HIGH = LOW + CELL_M * np.array(GRID.shape)


def some_map(seed: int, kind: str) -> VoxelMap:
    """Return few cells or many, with whole boxes, thin ones, or both."""
    rng = np.random.default_rng(seed)
    occupied = rng.random(GRID.shape) < (0.01 if seed % 2 else 0.3)
    occupied[3:9, 4:9, 2:8] = True  # has cells that lie deep inside
    count = int(np.count_nonzero(occupied))
    ends = np.sort(rng.integers(0, 256, (count, 2, 3)), axis=1).reshape(count, 6)
    ends[rng.random(count) < 0.3] = WHOLE
    boxes: Boxes | None = None if kind == "whole" else ends.astype(np.uint8)
    return VoxelMap(GRID, occupied, boxes=boxes)


def to_boxes(places: Array, voxels: VoxelMap) -> Array:
    """Return the distance of places (n, 3) to the nearest box by looking at every one."""
    low, high = voxels.corners()
    found = np.full(len(places), np.inf)
    for a, b in zip(low, high, strict=True):
        beside = np.maximum(np.maximum(a - places, places - b), 0.0)
        found = np.minimum(found, np.linalg.norm(beside, axis=1))
    return found


def bounds(places: Array, voxels: VoxelMap) -> Array:
    scene = CollisionScene()
    scene.update(World(0.0, voxels=voxels))
    return np.array([to_shape(scene.arrays, 0, *place) for place in places])


def some_places(seed: int, voxels: VoxelMap) -> Array:
    """Return places in the grid, around it, and near boxes."""
    rng = np.random.default_rng(seed)
    low, high = voxels.corners()
    at = rng.integers(0, len(low), 1500)
    near = rng.uniform(low[at], high[at]) + rng.normal(0.0, 0.02, (1500, 3))
    return np.concatenate([rng.uniform(LOW - 0.2, HIGH + 0.2, (1500, 3)), near])


@pytest.mark.parametrize("kind", ["whole", "boxes"])
@pytest.mark.parametrize("seed", [0, 1, 3])
def test_the_bound_is_never_above_the_distance_to_the_nearest_box(kind: str, seed: int) -> None:
    voxels = some_map(seed, kind)
    places = some_places(seed, voxels)
    found, true = bounds(places, voxels), to_boxes(places, voxels)
    assert (found <= true + 1.0e-6).all()
    assert (found < 0.0).any()


@pytest.mark.parametrize("seed", [1, 3])
def test_near_boxes_the_bound_is_off_by_what_interpolation_takes(seed: int) -> None:
    voxels = some_map(seed, "boxes")
    places = some_places(seed, voxels)
    found, true = bounds(places, voxels), to_boxes(places, voxels)
    inside = ((places > LOW) & (places < HIGH)).all(axis=1)
    near = inside & (true > 2.0 * CELL_M) & (true < EXACT_M - CELL_M)
    assert np.count_nonzero(near) > 50
    # A value that is read is at most half a diagonal below the distance, where centres have several nearest boxes.
    least = np.sqrt((true[near] / CELL_M - np.sqrt(0.75)) ** 2 - 0.75)
    assert (found[near] >= CELL_M * least - 1.0e-6).all()
    assert np.mean(true[near] - found[near]) < 0.25 * CELL_M
    whole = bounds(places, VoxelMap(voxels.grid, voxels.occupied))
    assert np.mean(true[near] - found[near]) < 0.5 * np.mean(true[near] - whole[near])


@pytest.mark.parametrize("seed", [0, 1])
def test_centres_have_the_exact_distance_near_boxes(seed: int) -> None:
    voxels = some_map(seed, "boxes")
    field, frame = field_of(voxels), frame_of(voxels)
    cells = np.argwhere(np.ones_like(field, dtype=np.bool_))
    true = to_boxes(frame[:3] + frame[3] * cells, voxels).reshape(field.shape)
    near = (true < EXACT_M) & (field >= 0.0)
    np.testing.assert_allclose(field[near], true[near], atol=1.0e-6)
    assert (field <= true + 1.0e-6).all()


@kernel
def _far(field: Array, frame: Array, x: float, y: float, z: float, gap: float) -> bool:
    return is_far(field, frame, x, y, z, gap)


def test_what_one_lookup_calls_far_is_far() -> None:
    voxels = some_map(3, "boxes")
    places = some_places(7, voxels)
    true = to_boxes(places, voxels)
    field, frame = field_of(voxels), frame_of(voxels)
    inside = ((places > LOW) & (places < HIGH)).all(axis=1)
    near = inside & (true > 2.0 * CELL_M) & (true < EXACT_M - CELL_M)
    for place, distance, is_near in zip(places, true, near, strict=True):
        assert not _far(field, frame, *place, distance + 1.0e-5)
        # Off by half a diagonal twice, and no more.
        assert not is_near or _far(field, frame, *place, distance - 1.74 * CELL_M)


def test_the_referee_measures_to_the_nearest_box() -> None:
    for kind in ("whole", "boxes"):
        voxels = some_map(2, kind)
        places = some_places(4, voxels)
        found = VoxelDistances(voxels).of_balls(places, np.full(len(places), 0.01))
        true = to_boxes(places, voxels) - 0.01
        near = true < NEAR_M
        np.testing.assert_allclose(found[near], true[near], atol=1.0e-9)
        assert (found <= true + 1.0e-9).all()


def test_points_have_boxes_that_hold_them_and_little_else() -> None:
    rng = np.random.default_rng(6)
    points = rng.uniform(LOW, HIGH, (300, 3))
    points[:, 2] = 0.413
    voxels = VoxelMap.of_points(GRID, points, grain_m=0.002)
    assert to_boxes(points, voxels).max() < 1.0e-9
    low, high = voxels.corners()
    np.testing.assert_allclose(low[:, 2], 0.412, atol=CELL_M / 255)
    np.testing.assert_allclose(high[:, 2], 0.414, atol=CELL_M / 255)
    assert to_boxes(points + np.array([0.0, 0.0, 0.01]), voxels).min() > 0.008


def test_beyond_the_grid_an_occupied_edge_does_not_go_on_for_ever() -> None:
    edge = np.array([[0.3, -0.2, GRID.corner_m[2] + 0.5 * CELL_M]])
    scene = CollisionScene()
    scene.update(World(0.0, voxels=VoxelMap.of_points(GRID, edge)))
    for below in (0.05, 0.3, 1.0):
        bound = to_shape(scene.arrays, 0, 0.3, -0.2, edge[0, 2] - below)
        assert below - 2.5 * CELL_M < bound <= below + 1.0e-6


def test_a_map_without_occupied_cells_is_far_away() -> None:
    nothing = VoxelMap(GRID, np.zeros(GRID.shape, np.bool_), boxes=np.zeros((0, 6), np.uint8))
    assert bounds(np.array([[0.3, -0.2, 0.4], [5.0, 0.0, 0.0]]), nothing).min() > 5.0
