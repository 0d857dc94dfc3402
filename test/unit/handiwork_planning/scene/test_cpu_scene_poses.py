"""The packed world: poses of shapes against Pose itself, shapes that are kept, and shapes that are packed again."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from handiwork_core.contracts.planning import Attachment, SceneQuery
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import (
    ObjectState,
    Shape,
    ShapeKind,
    World,
    WorldObject,
)
from handiwork_core.robot.robot import Robot
from handiwork_planning.kernels.arrays import flat
from handiwork_planning.scene import shape_packing
from handiwork_planning.scene.query import Reader
from handiwork_planning.scene.scene import CollisionScene
from handiwork_planning.scene.shape_poses import Placing


def any_pose(rng: np.random.Generator) -> Pose:
    return Pose.of(rng.normal(size=3), Rotation.from_rpy(*rng.uniform(-3.0, 3.0, 3)))


def any_states(rng: np.random.Generator, names: list[str]) -> dict[str, ObjectState]:
    still = np.zeros(3)
    return {name: ObjectState(any_pose(rng), still, still, 0.0) for name in names}


def test_every_shape_goes_with_its_body() -> None:
    rng, names = np.random.default_rng(0), [f"body{i}" for i in range(30)]
    shapes = {name: [any_pose(rng) for _ in range(int(rng.integers(0, 5)))] for name in names}
    local = np.array([flat(pose) for name in names for pose in shapes[name]])
    placing = Placing(tuple(names), [len(shapes[name]) for name in names], local)
    states = any_states(rng, names)
    out = np.full((sum(len(poses) for poses in shapes.values()), 12), np.nan)
    for _ in range(3):
        assert placing.move(states, out)
        expected = [flat(states[name].world_T_object @ pose) for name in names for pose in shapes[name]]
        np.testing.assert_allclose(out, expected, atol=1e-12)
        for name in rng.choice(names, 10, replace=False):
            states.update(any_states(rng, [name]))


def test_only_bodies_with_another_pose_are_written() -> None:
    rng, names = np.random.default_rng(1), ["a", "b"]
    placing, out = Placing(("a", "b"), [1, 1], np.array([flat(Pose.identity())] * 2)), np.zeros((2, 12))
    states = any_states(rng, names)
    assert placing.move(states, out)
    out[:] = 7.0
    assert not placing.move(dict(states), out)
    assert placing.move({**states, **any_states(rng, ["b"])}, out)
    assert (out[0] == 7.0).all() and not (out[1] == 7.0).any()


def test_a_world_without_bodies_has_nothing_to_move() -> None:
    assert not Placing((), [], np.zeros((0, 12))).move({}, np.zeros((0, 12)))


def hull(rng: np.random.Generator) -> Shape:
    return Shape(ShapeKind.CONVEX, np.zeros(0), any_pose(rng), rng.normal(size=(20, 3)))


def world_with(rng: np.random.Generator, shapes: dict[str, Shape], version: int = 1) -> World:
    objects = {name: WorldObject(name, (shape,)) for name, shape in shapes.items()}
    return World(0.0, version, objects, any_states(rng, list(shapes)))


def test_a_hull_is_made_once_whatever_object_it_comes_in(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, made, make = np.random.default_rng(2), [], shape_packing.triangulate

    def counted(vertices: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        made.append(len(vertices))
        return make(vertices)

    monkeypatch.setattr(shape_packing, "triangulate", counted)
    scene, one, other = CollisionScene(), hull(rng), hull(rng)
    scene.update(world_with(rng, {"a": one, "b": other}))
    copy = Shape(one.kind, one.size, one.object_T_shape, np.array(one.vertices))
    scene.update(world_with(rng, {"a": copy, "b": other, "c": one}, version=2))
    assert len(made) == 2
    scene.update(world_with(rng, {"b": other}, version=3))
    scene.update(world_with(rng, {"a": one, "b": other}, version=4))
    assert len(made) == 3


def test_a_changed_world_is_packed_as_if_it_were_new() -> None:
    rng, scene = np.random.default_rng(3), CollisionScene()
    shapes = {f"s{i}": hull(rng) for i in range(4)}
    shapes["ball"] = Shape(ShapeKind.SPHERE, np.array([0.2]), any_pose(rng))
    scene.update(world_with(rng, shapes))
    shapes["s1"] = Shape(ShapeKind.BOX, np.array([0.1, 0.2, 0.3]), any_pose(rng))
    del shapes["s2"]
    world = world_with(rng, shapes, version=2)
    known = {name: state for name, state in world.states.items() if name != "s3"}
    world = World(0.0, 2, world.objects, known)
    scene.update(world)
    fresh = CollisionScene()
    fresh.update(world)
    assert scene.names == fresh.names == ("s0", "s1", "ball")
    for changed, new in zip(scene.arrays, fresh.arrays, strict=True):
        np.testing.assert_array_equal(changed, new)


def test_a_held_object_of_an_older_version_of_the_world_is_not_kept(robot: Robot) -> None:
    rng, reader, scene, arm = (
        np.random.default_rng(9),
        Reader(robot, Pose.identity()),
        CollisionScene(),
        robot.arm(""),
    )
    ball = Shape(ShapeKind.SPHERE, np.array([0.02]), Pose.identity())
    held = SceneQuery(attached=(Attachment("held_one", arm.ee_link, Pose.identity()),))
    for version in range(30):
        scene.update(world_with(rng, {"held_one": ball}, version))
        reader.read(arm, scene, held)
    gc.collect()
    kept = [o for o in gc.get_objects() if isinstance(o, WorldObject) and o.name == "held_one"]
    assert len(kept) <= 2
