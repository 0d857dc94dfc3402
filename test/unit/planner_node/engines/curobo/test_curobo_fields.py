"""Obstacles that nobody modelled as cuRobo's voxel grid, with arrays in place of a GPU's."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.ndimage import map_coordinates

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.world import World
from handiwork_core.voxels.voxel_map import UNMODELLED, VoxelGrid, VoxelMap
from handiwork_planning.distance.voxel_field import field_of, frame_of
from handiwork_planning.scene.scene import CollisionScene
from planner_node.engines.curobo.model.buffers import BufferSizes, FieldBuffer
from planner_node.engines.curobo.model.field_rows import AROUND_M, FieldRows, field_rows
from planner_node.engines.curobo.model.scene_rows import Rows, SceneRows
from support.planning.demo_world import demo_items, world_of

WORLD_T_BASE = Pose.of((0.3, -0.2, 0.1), Rotation.from_rpy(0.0, 0.0, 0.6))
CELL_M = 0.02


def cloud(seed: int) -> tuple[Array, VoxelMap]:
    """Return random points, (n, 3), m, and the cells that they occupy."""
    rng = np.random.default_rng(seed)
    points = rng.uniform((0.1, -0.4, 0.2), (0.9, 0.4, 0.8), (int(rng.integers(1, 60)), 3))
    grid = VoxelGrid.over((0.5, 0.0, 0.5), (0.8, 0.8, 0.6), CELL_M)
    return points, VoxelMap.of_points(grid, points, grain_m=0.004)


def in_base(rows: FieldRows, points: Array) -> Array:
    """Read distances at points in the base frame as cuRobo does, (n,), m."""
    grid_T_base = Pose.of(rows.pose[:3], Rotation.from_wxyz(rows.pose[3:]))
    cells = grid_T_base.apply(points) / rows.cell_m + 0.5 * np.array(rows.values.shape) - 0.5
    inside = ((cells >= 0.0) & (cells <= np.array(rows.values.shape) - 1)).all(axis=1)
    assert inside.all(), "cuRobo sees nothing out there"
    return np.asarray(map_coordinates(rows.values.astype(float), cells.T, order=1))


@pytest.mark.parametrize("seed", range(6))
def test_what_is_interpolated_in_the_base_frame_is_a_lower_bound_and_not_by_much(seed: int) -> None:
    points, voxels = cloud(seed)
    rows = field_rows(field_of(voxels), frame_of(voxels), WORLD_T_BASE)
    rng = np.random.default_rng(seed)
    asked = points[rng.integers(0, len(points), 2000)] + rng.normal(0.0, 0.03, (2000, 3))
    low, high = voxels.corners()
    gaps = np.array(
        [math.sqrt((np.maximum(np.maximum(low - p, p - high), 0.0) ** 2).sum(axis=1).min()) for p in asked]
    )
    read, outside = in_base(rows, WORLD_T_BASE.inverse().apply(asked)), gaps > 0.0
    assert (read - gaps)[outside].max() < 1.0e-4
    assert np.median((gaps - read)[outside]) < 0.25 * CELL_M
    assert read[~outside].max(initial=0.0) <= 0.0


def test_spheres_whose_centres_are_beyond_the_measured_box_keep_clear_of_what_is_in_it() -> None:
    grid = VoxelGrid.over((0.5, 0.0, 0.5), (0.2, 0.2, 0.2), CELL_M)
    face = VoxelMap.of_points(grid, np.array([[0.599, 0.0, 0.5]]), grain_m=0.002)
    rows = field_rows(field_of(face), frame_of(face), Pose.identity())
    beyond = np.array([[0.6 + AROUND_M - 0.01, 0.0, 0.5]])
    assert AROUND_M - 0.01 - CELL_M < in_base(rows, beyond)[0] < AROUND_M - 0.01


def scene_of(world: World) -> CollisionScene:
    made = CollisionScene()
    made.update(world)
    return made


def test_rows_have_the_map_beside_the_objects_and_convert_it_once() -> None:
    items = demo_items()
    modelled, made = world_of(*items), SceneRows(WORLD_T_BASE)
    _, voxels = cloud(1)
    world = World(0.0, 2, modelled.objects, modelled.states, voxels=voxels)
    scene = scene_of(world)
    first = made.read(scene, world, set())
    assert first.field is not None and first.field_on and first.cells == first.field.values.size
    assert len(first.box_on) == len(made.read(scene_of(modelled), modelled, set()).box_on)
    again = made.read(scene, world, set())
    assert again.field is not None and made.read(scene, world, set()) is again
    ignored = made.read(scene, world, {UNMODELLED})
    assert ignored.field is again.field and not ignored.field_on and not ignored.equals(again)
    none = made.read(scene_of(modelled), modelled, set())
    assert none.field is None and none.cells == 0


def test_room_for_a_grid_grows_with_it_and_is_no_setting_without_one() -> None:
    def rows(cells: int) -> Any:
        return SimpleNamespace(boxes=[None] * 7, solids=(), cells=cells)

    assert "voxel" not in BufferSizes.of(rows(0)).cache
    room = BufferSizes.of(rows(1000))
    assert room.cache["voxel"]["dims"] == [1000.0, 1.0, 1.0] and room.cache["voxel"]["voxel_size"] == 1.0
    assert room.holds(rows(900)) and room.holds(rows(0)) and not room.holds(rows(1001))
    assert room.for_rows(rows(1001)).cells == 1001 and room.for_rows(rows(10)) is room


class There:
    """An array that is read and written as one on a GPU."""

    def __init__(self, values: Array) -> None:
        self.values = values

    def __getitem__(self, key: Any) -> There:
        return There(self.values[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.values[key] = value

    def copy_(self, other: Any) -> None:
        self.values[...] = other


def filled(lanes: int, cells: int) -> tuple[FieldBuffer, SimpleNamespace]:
    store = SimpleNamespace(
        features=There(np.full((lanes, 1, cells, 1), 9.0, np.float16)),
        params=There(np.zeros((lanes, 1, 4))),
        dims=There(np.zeros((lanes, 1, 4))),
        inv_pose=There(np.zeros((lanes, 1, 8))),
        enable=There(np.zeros((lanes, 1), np.uint8)),
        count=There(np.zeros(lanes, np.int32)),
    )
    torch = SimpleNamespace(from_numpy=lambda values: values)
    device = SimpleNamespace(to_device=lambda values: values)
    cuda: Any = SimpleNamespace(torch=torch, device=device)
    return FieldBuffer(cuda, store, lanes), store


def obstacles(field: FieldRows | None, *, is_on: bool = True) -> Rows:
    none, flags = np.zeros((0, 7)), np.zeros(0, dtype=bool)
    return Rows(1, np.zeros((0, 3)), (), none, none, flags, flags, field, is_on)


def test_each_lane_gets_its_grid_once_and_is_switched_without_a_copy() -> None:
    field = FieldRows(np.arange(24, dtype=np.float16).reshape(2, 3, 4), 0.05, np.arange(7.0))
    buffer, store = filled(2, 30)
    assert buffer.write(1, obstacles(field)) and not buffer.write(1, obstacles(field))
    assert store.features.values[1, 0, :24, 0].tolist() == list(range(24))
    assert (store.features.values[1, 0, 24:] == 9.0).all() and (store.features.values[0] == 9.0).all()
    assert store.params.values[1, 0].tolist() == [2.0, 3.0, 4.0, 0.05]
    np.testing.assert_allclose(store.dims.values[1, 0, :3], (0.1, 0.15, 0.2))
    assert store.inv_pose.values[1, 0, :7].tolist() == list(range(7))
    assert store.enable.values.ravel().tolist() == [0, 1] and store.count.values.tolist() == [0, 1]
    store.features.values[1] = 7.0
    assert buffer.write(1, obstacles(field, is_on=False)) and store.enable.values[1, 0] == 0
    assert buffer.write(1, obstacles(field)) and store.enable.values[1, 0] == 1
    assert (store.features.values[1] == 7.0).all(), "the same grid is not copied again"
    assert buffer.write(1, obstacles(None)) and store.enable.values[1, 0] == 0
    buffer.forget()
    assert buffer.write(1, obstacles(field)) and store.features.values[1, 0, 5, 0] == 5.0
