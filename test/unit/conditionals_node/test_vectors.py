"""Predicates against the verdicts of another implementation; see test/data/conditionals/README.md."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conditionals_node.batch import Poses, Worlds, advance, evaluate
from conditionals_node.predicates.containment import (
    ObjectEnclosed,
    ObjectInContainer,
    ObjectInside,
    ObjectOutsideOf,
)
from conditionals_node.predicates.direction import (
    Direction,
    ObjectBehind,
    ObjectInFrontOf,
    ObjectLeftOf,
    ObjectRightOf,
)
from conditionals_node.predicates.motion import Axis, ObjectStationary, ObjectUpright
from conditionals_node.predicates.nearby import ObjectBetween, ObjectNextTo, ObjectsInLine
from conditionals_node.predicates.order import ObjectsPlacedInContainerInOrder
from conditionals_node.predicates.parts import Logical, combined_margin
from conditionals_node.predicates.support import ObjectOnTop
from conditionals_node.predicates.touch import ObjectInContact
from conditionals_node.predicates.vertical import (
    Mode,
    ObjectAbove,
    ObjectAboveBottom,
    ObjectBelow,
    ObjectBelowTop,
    ObjectCenterOf,
    ObjectOnBottom,
    ObjectOnCenter,
)
from conditionals_node.views import Point
from handiwork_core.geometry import Array, Pose, Rotation, frozen
from handiwork_core.predicate import Predicate, Truth
from handiwork_core.world import Contact, ObjectState, Shape, ShapeKind, World, WorldObject

DATA = Path(__file__).resolve().parents[2] / "data" / "conditionals"
SINGLE_PRECISION = 2e-6
"""Nearer to a boundary than this, the other implementation's verdict is round-off."""


@functools.cache
def load(name: str) -> Mapping[str, np.ndarray]:
    with np.load(DATA / f"{name}.npz") as file:
        found = {key: file[key] for key in file.files}
    if "verdicts" in found:
        rows = len(next(values for key, values in found.items() if key.endswith("_pos")))
        bits = np.unpackbits(found["verdicts"], axis=1, count=rows).astype(bool)
        found |= dict(zip(found["verdict_names"].tolist(), bits, strict=True))
    return found


def mesh(name: str, points: np.ndarray) -> WorldObject:
    return WorldObject(name, (Shape(ShapeKind.CONVEX, frozen(()), Pose.identity(), frozen(points)),))


def poses(data: Mapping[str, np.ndarray], name: str, rows: object = slice(None)) -> Poses:
    return Poses(data[f"{name}_pos"][rows], data[f"{name}_quat"][rows])


def single(worlds: Worlds, i: int) -> World:
    """One world of a batch."""
    still = np.zeros((worlds.n, 3))
    states = {
        name: ObjectState(
            Pose.of(p.position[i], Rotation.from_wxyz(p.wxyz[i])),
            frozen(worlds.velocities.get(name, still)[i]),
            frozen(worlds.turn_rates.get(name, still)[i]),
            0.0,
        )
        for name, p in worlds.poses.items()
    }
    contacts = None
    if worlds.forces is not None:
        touching = {pair: rows[i] for pair, rows in worlds.forces.items() if rows[i].any()}
        contacts = tuple(Contact(a, b, frozen(f), frozen(np.zeros(3))) for (a, b), f in touching.items())
    frames = {
        name: Pose.of(p.position[i], Rotation.from_wxyz(p.wxyz[i])) for name, p in worlds.frames.items()
    }
    stamp_s = 0.0 if worlds.stamps is None else float(worlds.stamps[i])
    return World(stamp_s, 0, worlds.objects, states, contacts, stamp_s, frames=frames)


def agree(
    predicate: Predicate, worlds: Worlds, verdicts: np.ndarray, guard: float, rows: np.ndarray | bool = True
) -> Array:
    """Batch and single worlds give the verdicts where the margin is not round-off; returns the margins."""
    margin = evaluate(predicate, worlds).margin
    sure = (np.abs(margin) > guard) & rows
    assert sure.mean() > 0.9
    wrong = np.flatnonzero(((margin > 0.0) != verdicts) & sure)
    assert not len(wrong), (predicate, wrong[:5], margin[wrong[:5]])
    for i in range(0, worlds.n, 7):
        found = predicate.evaluate(single(worlds, i))
        assert found.margin == pytest.approx(margin[i], abs=1e-12)
        assert found.truth is Truth.of(bool(margin[i] > 0.0))
    return margin


def test_containment() -> None:
    data = load("containment")
    seen = 0
    for c, container in enumerate(data["container_names"]):
        for o, item in enumerate(data["object_names"]):
            rows = np.flatnonzero((data["container_id"] == c) & (data["object_id"] == o))
            worlds = Worlds(
                {"c": mesh("c", data[f"mesh_c_{container}"]), "o": mesh("o", data[f"mesh_o_{item}"])},
                {"c": poses(data, "container", rows), "o": poses(data, "object", rows)},
            )
            mean = Point.VERTEX_MEAN
            for predicate, key in (
                (ObjectInContainer("o", "c", point=mean), "in_container"),
                (ObjectInside("o", "c", point=mean), "inside"),
                (ObjectEnclosed("o", "c", point=mean), "enclosed"),
                (ObjectOutsideOf("o", "c", point=mean), "outside_of"),
                (ObjectInContainer("o", "c"), "inside_with_volume_centroid"),
            ):
                margin = agree(predicate, worlds, data[key][rows], SINGLE_PRECISION)
                if key in ("in_container", "enclosed"):
                    distance = data["margin_open" if key == "in_container" else "margin_full"][rows]
                    assert margin == pytest.approx(-distance, abs=5e-6)
            seen += len(rows)
    assert seen == 1248


def direction_worlds(data: Mapping[str, np.ndarray]) -> Worlds:
    """Objects whose centroid lies where that of the vectors does."""
    objects = {}
    for name in ("a", "b"):
        turns = [Rotation.from_wxyz(q).matrix() for q in data[f"{name}_quat"]]
        offsets = data[f"centroid_{name}"] - data[f"{name}_pos"]
        local = np.einsum("nji,nj->ni", turns, offsets)
        assert np.ptp(local, axis=0).max() < 1e-6
        shape = Shape(ShapeKind.BOX, frozen((0.01, 0.01, 0.01)), Pose.of(local.mean(axis=0)))
        objects[name] = WorldObject(name, (shape,))
    objects["cam"] = objects["a"]
    return Worlds(
        objects,
        {name: poses(data, name) for name in ("a", "b", "cam")},
        frames={"robot": poses(data, "robot")},
    )


@pytest.mark.parametrize("kind", [ObjectLeftOf, ObjectRightOf, ObjectInFrontOf, ObjectBehind])
def test_directions(kind: type[Direction]) -> None:
    data = load("directional")
    worlds, tried = direction_worlds(data), 0
    # Where both stand in one place, to single precision, there is no direction to agree on.
    apart = np.linalg.norm((data["a_pos"] - data["b_pos"])[:, :2], axis=1) > 1e-5
    assert (~apart).sum() < 30
    for frame in ("robot", "world", "cam"):
        for mirrored, tag in ((False, "nat"), (True, "mir")):
            for cone in (45, 20, 90):
                key = f"{kind.name.removeprefix('object_')}__{frame}__{tag}__{cone}"
                for prefix, level in (("base", None), ("cond", 0.1)):
                    predicate = kind(
                        "a",
                        "b",
                        frame_of_reference=frame,
                        mirrored=mirrored,
                        cone_deg=float(cone),
                        level_tolerance=level,
                    )
                    agree(predicate, worlds, data[f"{prefix}__{key}"], SINGLE_PRECISION, apart)
                    tried += 1
    assert tried == 36


BOX_CASES: dict[str, Predicate] = {
    "above": ObjectAbove("a", "b"),
    "above_bottom": ObjectAboveBottom("a", "b"),
    "above_margin": ObjectAbove("a", "b", z_margin=0.03),
    "above_centroid": ObjectAbove("a", "b", mode=Mode.CENTROID),
    "below": ObjectBelow("a", "b"),
    "below_top": ObjectBelowTop("a", "b"),
    "between": ObjectBetween("a", "b", "c"),
    "between_noalign": ObjectBetween("a", "b", "c", check_alignment=False),
    "center_of": ObjectCenterOf("a", "b"),
    "next_to": ObjectNextTo("a", "b"),
    "next_to_2cm": ObjectNextTo("a", "b", dist=0.02),
    "on_center": ObjectOnCenter("a", "b", tolerance=0.05),
    "on_bottom": ObjectOnBottom("a", "b"),
    "stationary": ObjectStationary("a"),
    "stationary_lin": ObjectStationary("a", check_angular=False),
    "upright": ObjectUpright("a"),
    "upright_x": ObjectUpright("a", tolerance=0.5, up_axis=Axis.X),
}


def box_worlds() -> Worlds:
    data = load("boxes")
    return Worlds(
        {name: mesh(name, data[f"{name}_local_corners"]) for name in "abc"},
        {name: poses(data, name) for name in "abc"},
        velocities={name: data[f"{name}_vel"][:, :3] for name in "abc"},
        turn_rates={name: data[f"{name}_vel"][:, 3:] for name in "abc"},
    )


@pytest.mark.parametrize("name", sorted(BOX_CASES))
def test_boxes_rest_and_tilt(name: str) -> None:
    data = load("boxes")
    assert (data[f"batched__{name}"] == data[f"scalar__{name}"]).all()
    agree(BOX_CASES[name], box_worlds(), data[f"batched__{name}"], SINGLE_PRECISION)


@pytest.mark.parametrize(
    ("name", "predicate"),
    [
        ("in_line3", ObjectsInLine(("a", "b", "c"))),
        ("in_line3_x", ObjectsInLine(("a", "b", "c"), axis=Axis.X)),
        ("in_line2", ObjectsInLine(("a", "b"))),
    ],
)
def test_in_line_is_that_of_the_scalar_path(name: str, predicate: Predicate) -> None:
    data = load("boxes")
    agree(predicate, box_worlds(), data[f"scalar__{name}"], SINGLE_PRECISION)
    assert (data[f"batched__{name}"] != data[f"scalar__{name}"]).any()


def pressed(forces: np.ndarray) -> Worlds:
    """Block ``a`` over block ``b``, pressed on by it."""
    n = len(forces)
    level, above = np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)), np.tile([0.0, 0.0, 0.1], (n, 1))
    block = Shape(ShapeKind.BOX, frozen((0.1, 0.1, 0.1)), Pose.identity())
    return Worlds(
        {name: WorldObject(name, (block,)) for name in "ab"},
        {"a": Poses(above, level), "b": Poses(above - (0.0, 0.0, 0.1), level)},
        forces={("a", "b"): forces},
    )


@pytest.mark.parametrize("cone", ["45", "30", "60", "89.9"])
def test_support_cone(cone: str) -> None:
    data = load("force_cone")
    net = data["force_matrix"].astype(np.float64).sum(axis=(1, 2))
    found = evaluate(ObjectOnTop("a", "b", cone_deg=float(cone)), pressed(net))
    sure = np.abs(found.margin) > SINGLE_PRECISION
    # Forces that cancel are round-off.
    sure &= np.linalg.norm(net, axis=1) > SINGLE_PRECISION
    assert sure.mean() > 0.75
    assert (found.holds == data[f"supported__{cone}"])[sure].all()
    if cone == "45":
        backwards = evaluate(ObjectOnTop("b", "a"), pressed(net))
        assert not (backwards.holds & found.holds).any()


def test_touching_counts_by_size() -> None:
    data = load("force_cone")
    matrix = data["force_matrix"].astype(np.float64).reshape(-1, 4, 3)
    predicate = ObjectInContact("a", "b")
    for i in range(len(matrix)):
        contacts = [Contact("a", "b", frozen(f), frozen(np.zeros(3))) for f in matrix[i] if np.any(f)]
        world = single(pressed(matrix[i].sum(axis=0)[None]), 0)
        found = predicate.evaluate(replace(world, contacts=tuple(contacts)))
        greatest, size = np.abs(matrix[i]).max(), np.linalg.norm(matrix[i], axis=1).sum()
        assert bool(data["in_contact"][i]) == bool(np.float32(greatest) > np.float32(0.1))
        assert found.margin == pytest.approx(size - 0.1, abs=1e-12)
        if data["in_contact"][i]:
            assert found.truth is Truth.TRUE
        elif found.truth is Truth.TRUE:
            assert size >= 0.1 >= greatest - SINGLE_PRECISION
    small = slice(280, 300)
    assert not data["in_contact"][small].any()


@pytest.mark.parametrize("logical", list(Logical))
def test_counts(logical: Logical) -> None:
    data = load("logicals")
    tried = 0
    for k in range(6):
        for truth, verdict in zip(data["truth"], data[f"{logical.value}_{k}"], strict=True):
            if logical is Logical.CHOOSE and k > len(truth):
                assert not verdict  # refused when it is registered
                continue
            margins = [1.0 if value else -1.0 for value in truth]
            assert (combined_margin(margins, logical, k) > 0.0) == verdict
            tried += 1
    assert tried >= 5 * 64


ORDERED = {
    "out_loose": {},
    "out_strict": {"strict": True},
    "out_no_contact": {"require_contact_with": False, "require_gripper_detached": False},
}
ITEMS = ("i0", "i1", "i2")


def ordered_worlds(data: Mapping[str, np.ndarray], step: int) -> Worlds:
    """Items in a box or beside it, touching its floor or not, held or not."""
    inside, n = data["inside"][step], data["inside"].shape[1]
    small = Shape(ShapeKind.BOX, frozen((0.02, 0.02, 0.02)), Pose.identity())
    large = Shape(ShapeKind.BOX, frozen((0.3, 0.3, 0.1)), Pose.identity())
    level = np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))
    up = np.array([0.0, 0.0, 1.0])
    placed = {"bin": Poses(np.zeros((n, 3)), level)}
    forces = {}
    for i, name in enumerate(ITEMS):
        placed[name] = Poses(np.where(inside[:, i : i + 1], 0.0, [[1.0, 0.0, 0.0]]), level)
        forces[name, "bin"] = data["contact"][step][:, i : i + 1] * up
        forces[name, "r/finger"] = data["held"][step][:, i : i + 1] * up
    objects = {name: WorldObject(name, (large if name == "bin" else small,)) for name in placed}
    stamps = data["episode_step"][step].astype(np.float64)
    return Worlds(objects, placed, forces=forces, stamps=stamps)


@pytest.mark.parametrize("key", sorted(ORDERED))
def test_placed_in_order(key: str) -> None:
    data = load("placed_in_order")
    predicate = ObjectsPlacedInContainerInOrder(ITEMS, "bin", fingers=("r/finger",), **ORDERED[key])  # type: ignore[arg-type]
    first: Array | None = None
    memories: dict[int, object | None] = dict.fromkeys(range(0, data["inside"].shape[1], 6))
    for step in range(len(data["inside"])):
        worlds, reset = ordered_worlds(data, step), data["reset_before_step"][step]
        if first is not None:
            first[:, reset] = np.nan
        found, first = advance(predicate, first, worlds)
        assert (found.holds == data[key][step]).all(), step
        for i, memory in memories.items():
            one, memories[i] = predicate.advance(None if reset[i] else memory, single(worlds, i))
            assert one.truth is Truth.of(bool(data[key][step][i])), (step, i)
            assert one.margin == found.margin[i]
    assert data[key].any()


def test_one_snapshot_does_not_tell_the_order() -> None:
    data = load("placed_in_order")
    every = data["inside"] & data["contact"] & ~data["held"]
    step, i = np.argwhere(every.all(axis=2))[0]
    world = single(ordered_worlds(data, step), int(i))
    predicate = ObjectsPlacedInContainerInOrder(ITEMS, "bin", fingers=("r/finger",))
    assert "order was not seen" in predicate.evaluate(world).reason
    assert predicate.evaluate(world).truth is Truth.UNKNOWN
    first, memory = predicate.advance(None, world)
    assert first.truth is Truth.TRUE
    assert predicate.advance(memory, world)[0].truth is Truth.TRUE
