"""What is written for the lanes of a batch, with arrays in place of a GPU's."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from handiwork_core.model.geometry import Array
from planner_node.engines.curobo.model import lane_buffers
from planner_node.engines.curobo.model.lane_buffers import LaneScene, LaneSpheres, LaneWorlds
from planner_node.engines.curobo.model.scene_rows import Rows, SolidMesh

LANES, BOXES, SOLIDS = 3, 4, 2
SLICES = {"hand": [0, 1], "arm": [2, 3, 4]}


class There:
    """An array that is read and written as one on a GPU."""

    def __init__(self, values: Array) -> None:
        self.values = values

    def cpu(self) -> There:
        return self

    def numpy(self) -> Array:
        return self.values

    def copy_(self, other: Any) -> None:
        self.values[...] = other.values if isinstance(other, There) else other


class Meshes:
    """Counts the meshes that were made, and gives each a number."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self, points: Array, indices: Array, bvh_constructor: str) -> SimpleNamespace:
        assert points.shape[1] == 3 and indices.ndim == 1 and bvh_constructor
        self.made += 1
        return SimpleNamespace(id=100 + self.made)


def cuda(meshes: Meshes) -> Any:
    return SimpleNamespace(
        torch=SimpleNamespace(as_tensor=lambda values: values),
        device=SimpleNamespace(to_device=lambda values: values),
        warp=SimpleNamespace(array=lambda values, **_: values, vec3=None, Mesh=meshes),
    )


def store(places: int, **more: There) -> SimpleNamespace:
    return SimpleNamespace(
        dims=There(np.zeros((LANES, places, 4))),
        inv_pose=There(np.zeros((LANES, places, 8))),
        enable=There(np.zeros((LANES, places), dtype=np.uint8)),
        count=There(np.zeros(LANES, dtype=np.int32)),
        **more,
    )


def data() -> SimpleNamespace:
    meshes = store(SOLIDS, mesh_ids=There(np.zeros((LANES, SOLIDS), dtype=np.int64)))
    meshes._wp_device = None
    return SimpleNamespace(cuboids=store(BOXES), meshes=meshes, voxels=None)


def mesh(key: str) -> SolidMesh:
    return SolidMesh(key, np.array([[0.0, 0, 0], [0.2, 0, 0], [0, 0.3, 0], [0, 0, 0.4]]), np.arange(6))


def rows(boxes: int, keys: tuple[str, ...]) -> Rows:
    solids = tuple(mesh(key) for key in keys)
    on = np.arange(boxes) % 2 == 0
    return Rows(
        1, np.full((boxes, 3), 0.5), solids, np.full((boxes, 7), 2.0), np.full((len(keys), 7), 3.0), on,
        np.ones(len(keys), dtype=bool),
    )  # fmt: skip


def scene(lane: int, of: Rows) -> LaneScene:
    spheres = {"arm": np.full((3, 4), lane + 1.0), "hand": np.full((2, 4), -lane - 1.0)}
    return LaneScene.of(lane, spheres, of)


def test_each_lane_gets_its_spheres_at_the_places_of_their_links() -> None:
    params = SimpleNamespace(
        link_spheres=There(np.zeros((LANES, 5, 4))),
        get_sphere_index_from_link_name=lambda link: There(np.array(SLICES[link])),
    )
    spheres = LaneSpheres(cuda(Meshes()), params)
    spheres.write([scene(0, rows(0, ())), scene(2, rows(0, ()))])
    now = params.link_spheres.values
    assert (now[0, 2:] == 1.0).all() and (now[0, :2] == -1.0).all()
    assert (now[2, 2:] == 3.0).all() and (now[1] == 0.0).all()
    spheres.write([scene(1, rows(0, ()))])
    assert (now[0, 2:] == 1.0).all() and (now[1, 2:] == 2.0).all()


def test_each_lane_gets_its_own_obstacles_and_loses_those_before() -> None:
    meshes, there = Meshes(), data()
    worlds = LaneWorlds(cuda(meshes), there)
    worlds.write([scene(0, rows(4, ("a", "b"))), scene(1, rows(1, ("a",)))])
    boxes, solids = there.cuboids, there.meshes
    assert boxes.count.values.tolist() == [4, 1, 0] and solids.count.values.tolist() == [2, 1, 0]
    assert boxes.enable.values[:2].tolist() == [[1, 0, 1, 0], [1, 0, 0, 0]]
    assert (boxes.dims.values[0, :, :3] == 0.5).all() and (boxes.inv_pose.values[1, 0, :7] == 2.0).all()
    np.testing.assert_allclose(solids.dims.values[1, 0, :3], (0.2, 0.3, 0.4))
    assert solids.mesh_ids.values[0].tolist() == [101, 102] and solids.mesh_ids.values[1, 0] == 101
    worlds.write([scene(0, rows(2, ()))])
    assert boxes.count.values.tolist() == [2, 1, 0] and solids.count.values.tolist() == [0, 1, 0]
    assert boxes.enable.values[0].tolist() == [1, 0, 0, 0] and not solids.enable.values[0].any()
    assert meshes.made == 2, "a mesh is made once"


def test_meshes_that_no_lane_uses_are_freed_when_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane_buffers, "MESHES_KEPT", 1)
    meshes = Meshes()
    worlds = LaneWorlds(cuda(meshes), data())
    for keys in (("a", "b"), ("c",), ("b",), ("a",)):
        worlds.write([scene(0, rows(0, keys))])
    assert meshes.made == 4, "b was kept as the one used last, a was not"
    assert set(worlds._known) == {"a", "b"}
