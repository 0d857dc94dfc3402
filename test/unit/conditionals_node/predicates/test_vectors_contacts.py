"""Contact, counts and order against the verdicts of another implementation; see test/data/conditionals/README.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from conditionals_node.batch import Poses, Worlds, advance, evaluate
from conditionals_node.predicates.counting import Logical, counted_margin
from conditionals_node.predicates.order import ObjectsPlacedInContainerInOrder
from conditionals_node.predicates.support import ObjectOnTop
from conditionals_node.predicates.touch import ObjectInContact
from conditionals_node.views.batch_view import BatchView
from handiwork_core.contracts.predicate import Truth
from handiwork_core.model.geometry import Array, Pose, frozen
from handiwork_core.model.world import (
    Contact,
    Shape,
    ShapeKind,
    WorldObject,
)
from support.records.vectors import SINGLE_PRECISION, load, single


def pressed(forces: np.ndarray) -> Worlds:
    """Return block ``a`` over block ``b``, which presses on it."""
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
            assert (counted_margin(margins, *logical.bounds(len(margins), k)) > 0.0) == verdict
            tried += 1
    assert tried >= 5 * 64


ORDERED = {
    "out_loose": {},
    "out_strict": {"strict": True},
    "out_no_contact": {"require_contact_with": False, "require_gripper_detached": False},
}
ITEMS = ("i0", "i1", "i2")


def ordered_worlds(data: Mapping[str, np.ndarray], step: int) -> Worlds:
    """Return items in a box or beside it, touching its floor or not, held or not."""
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


@pytest.mark.parametrize("orders", [("ab", "ab"), ("ab", "ba")], ids=["one order", "both orders"])
def test_a_batch_counts_contacts_that_cancel_as_a_single_world_does(orders: tuple[str, str]) -> None:
    """Two fingers' worth of force on one pair, opposite: the net force is zero, the squeeze is not."""
    squeeze = [np.array((0.0, 3.0, 0.0)), np.array((0.0, -3.0, 0.0))]
    signed = [f if order == "ab" else -f for f, order in zip(squeeze, orders, strict=True)]
    contacts = tuple(
        Contact(order[0], order[1], frozen(force), frozen((0.1 * i, 0.0, 0.0)))
        for i, (force, order) in enumerate(zip(signed, orders, strict=True))
    )
    alone = replace(single(pressed(np.zeros((1, 3))), 0), contacts=contacts)
    none = replace(alone, contacts=())
    for predicate in (ObjectInContact("a", "b"), ObjectInContact("b", "a")):
        batch = evaluate(predicate, Worlds.of([alone, none]))
        singles = [predicate.evaluate(world).margin for world in (alone, none)]
        np.testing.assert_allclose(batch.margin, singles)
        assert list(batch.holds) == [True, False]
    view = BatchView(Worlds.of([alone]))
    np.testing.assert_allclose([float(x[0]) for x in view.contact_point("b", "a")], (0.05, 0.0, 0.0))
