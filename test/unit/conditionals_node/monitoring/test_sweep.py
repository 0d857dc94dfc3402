"""Leaves that are decided as rows have the values that they have one by one, and words on request."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from conditionals_node.expressions.build import Builder, Condition
from conditionals_node.expressions.expression import Leaf
from conditionals_node.monitoring.evaluation import Evaluation
from conditionals_node.monitoring.monitor import ConditionMonitor
from conditionals_node.monitoring.vectorized import Sweep
from conditionals_node.predicates import ObjectInContainer
from handiwork_core.contracts.predicate import Finding, Truth
from handiwork_core.model.geometry import (
    Array,
    Pose,
    Rotation,
    frozen,
)
from handiwork_core.model.world import (
    Contact,
    JointState,
    ObjectState,
    Shape,
    ShapeKind,
    World,
    WorldObject,
)
from handiwork_core.robot_files.loader import load_robot
from support.paths import ROBOTS

ITEMS, FINGERS = [f"item_{i}" for i in range(8)], ["left", "right"]
BUILDER = Builder(load_robot(ROBOTS / "fr3"))
SHAPES = {
    ShapeKind.BOX: (0.1, 0.2, 0.15),
    ShapeKind.SPHERE: (0.1,),
    ShapeKind.CYLINDER: (0.08, 0.3),
    ShapeKind.CAPSULE: (0.06, 0.2),
}
KINDS = [
    "object_in_container(object={a}, container={b}, above_rim=0.05)",
    "object_in_container(object={a}, container={b}, above_rim=0.05, min_share=0.2)",
    "object_outside_of(object={a}, container={b}, tolerance=0.02)",
    "object_enclosed(object={a}, container={b}, min_share=0.4)",
    "object_in_hull(object={a}, container={b}, point=vertex_mean)",
    "object_in_hull(object={a}, container={b}, closed=true, tolerance=0.01)",
    "object_in_container(object={a}, container={b}, require_contact_with=true, tolerance=1, "
    "require_stationary=true, stationary_threshold=5)",
    "object_in_container(object={a}, container={b}, above_rim=1, tolerance=0.1, "
    "require_gripper_detached=true, fingers=[left, right])",
    "object_above(object={a}, reference_object={b}, tolerance=0.1)",
    "object_below_top(object={a}, reference_object={b}, tolerance=0.1, mode=centroid)",
    "object_on_top(object={a}, reference_object={b}, cone_deg=80, tolerance=0.2)",
    "object_on_center(object={a}, reference_object={b}, tolerance=0.2)",
    "object_left_of(object={a}, reference_object={b}, frame_of_reference=robot)",
    "object_behind(object={a}, reference_object={b}, frame_of_reference={b})",
    "object_next_to(object={a}, reference_object={b})",
    "object_picked_up(object={a}, surface={b}, fingers=[left, right], distance=-0.4, tolerance=0.2, min_force=0.01)",
    "object_grabbed(object={a}, fingers=[left, right], min_force=0.5)",
    "object_dropped(object={a}, fingers=[left, right], min_force=0.5)",
    "object_grabbed(object={a}, hands=[{{'fingers': [left, right], 'joint': j, 'open_position': 0.5}}], min_force=0.5)",
    "object_stationary(object={a}, linear_threshold=0.6, angular_threshold=0.6)",
    "object_upright(object={a}, tolerance=1.5)",
]


def item(name: str, rng: np.random.Generator) -> WorldObject:
    if rng.random() < 0.2:
        points = frozen(0.2 * rng.normal(size=(12, 3)))
        return WorldObject(name, (Shape(ShapeKind.CONVEX, frozen(()), Pose.identity(), points),))
    kind = list(SHAPES)[int(rng.integers(len(SHAPES)))]
    shape = Shape(kind, frozen(np.array(SHAPES[kind]) * rng.uniform(1, 3)), pose(rng, 0.05))
    return WorldObject(name, (shape,), mass_kg=float(rng.choice([0.0, 0.01, 1.0])))


def pose(rng: np.random.Generator, spread_m: float = 0.15) -> Pose:
    q = rng.normal(size=4)
    return Pose.of(spread_m * rng.normal(size=3), Rotation.from_wxyz(q / np.linalg.norm(q)))


def scene(seed: int) -> World:
    rng = np.random.default_rng(seed)
    objects = {name: item(name, rng) for name in ITEMS}
    joints = JointState(1.0, {"j": 0.5 + 0.3 * (seed % 2)})
    return shaken(World(1.0, 0, objects, {}, (), 1.0, joints, frames={"robot": pose(rng)}), seed)


def shaken(world: World, seed: int) -> World:
    """Return the same objects in other places, with other contacts."""
    rng = np.random.default_rng(1000 + seed)

    def vector() -> Array:
        return frozen(0.4 * rng.normal(size=3))

    states = {name: ObjectState(pose(rng), vector(), vector(), 1.0) for name in ITEMS}
    bodies = [*ITEMS, *FINGERS]
    pairs = [rng.choice(len(bodies), 2, replace=False) for _ in range(40)]
    contacts = [Contact(bodies[i], bodies[k], frozen(5 * vector()), vector()) for i, k in pairs]
    return replace(world, states=states, contacts=tuple(contacts))


def conditions(text: str) -> list[Condition]:
    pairs = zip(ITEMS, [*ITEMS[3:], *ITEMS[:3]], strict=True)
    return [
        BUILDER.build_expression("", text.format(a=a, b=b), lambda word: pytest.fail(word), 0.0)
        for a, b in pairs
    ]


def leaves(text: str) -> list[Leaf]:
    return [leaf for condition in conditions(text) for leaf in condition.expression.leaves()]


@pytest.mark.parametrize("text", KINDS)
def test_rows_find_the_values_that_single_decisions_find(text: str) -> None:
    found, sweep = leaves(text), Sweep(leaves(text))
    seen = set()
    for seed in range(12):
        world = scene(seed)
        truths = {leaf.key: leaf.predicate.evaluate(world).truth for leaf in found}
        assert Truth.UNKNOWN not in truths.values()
        assert sweep.steady(world, truths) == set(truths)
        wrong = {key: Truth.TRUE if truth is Truth.FALSE else Truth.FALSE for key, truth in truths.items()}
        assert sweep.steady(world, wrong) == set()
        seen |= set(truths.values())
    assert seen == {Truth.TRUE, Truth.FALSE}


class Asked(Evaluation):
    """Counts the leaves that are decided one by one."""

    def __init__(self) -> None:
        super().__init__(1.0)
        self.count = 0

    def __call__(self, leaf: Leaf) -> Finding:
        self.count += 1
        return super().__call__(leaf)


def watching(texts: list[str]) -> tuple[ConditionMonitor, Asked, list[Condition]]:
    monitor, asked = ConditionMonitor(1.0), Asked()
    monitor.evaluation = asked
    found = [condition for text in texts for condition in conditions(text)]
    for condition in found:
        monitor.watch(condition, 1.0)
    return monitor, asked, found


def test_a_monitor_tells_what_single_decisions_tell() -> None:
    joined = "object_in_container(object={a}, container={b}) or not object_stationary(object={a}, linear_threshold=0.6)"
    monitor, _, watched = watching([*KINDS, joined])
    world = scene(0)
    values: dict[str, Truth] = {}
    for seed in range(1, 25):
        if seed % 2:  # some move, and some contacts change
            new = shaken(world, seed)
            names = ITEMS[: 1 + seed % len(ITEMS)]
            states = {**world.states, **{name: new.states[name] for name in names}}
            world = replace(
                world, states=states, contacts=(*(world.contacts or ())[:20], *(new.contacts or ())[20:])
            )
        else:
            world = shaken(world, seed)
        values |= {shown.condition.key: shown.finding.truth for shown in monitor.update(world, 1.0)}
        alone = {condition.key: monitor.decide(condition, world, 1.0) for condition in watched}
        assert values == {key: finding.truth for key, finding in alone.items()}
        if seed % 3 == 0:
            assert {shown.condition.key: shown.finding for shown in monitor.shown()} == alone


def test_what_stays_is_not_decided_again_until_somebody_asks() -> None:
    monitor, asked, watched = watching(["object_upright(object={a}, tolerance=3.1)"])
    world = scene(0)
    monitor.update(world, 1.0)
    asked.count, newest = 0, shaken(world, 7)
    assert monitor.update(newest, 1.0) == []
    assert asked.count == 0
    first, *_ = monitor.shown()
    assert first.finding == monitor.decide(watched[0], newest, 1.0)
    assert asked.count == len(watched)


def test_a_margin_on_the_boundary_is_left_to_a_single_decision() -> None:
    cube = WorldObject("cube", (Shape(ShapeKind.BOX, frozen((0.1, 0.1, 0.1)), Pose.identity()),))
    at = [0.05, 0.05 + 1e-12, 0.05 - 1e-12, 0.02, 0.08]
    still = frozen(np.zeros(3))
    states = {f"o{i}": ObjectState(Pose.of((x, 0.0, 0.0)), still, still, 1.0) for i, x in enumerate(at)}
    states["bin"] = ObjectState(Pose.identity(), still, still, 1.0)
    world = World(1.0, 0, dict.fromkeys(states, cube), states)
    found = [Leaf(f"{i}", "", "", ObjectInContainer(f"o{i}", "bin")) for i in range(len(at))]
    sweep = Sweep(found)
    assert sweep.steady(world, {leaf.key: Truth.TRUE for leaf in found}) == {"3"}
    assert sweep.steady(world, {leaf.key: Truth.FALSE for leaf in found}) == {"4"}


def test_what_is_not_known_or_not_finite_is_left_to_single_decisions() -> None:
    text = "object_on_top(object={a}, reference_object={b})"
    found, world = leaves(text), scene(1)
    truths = {leaf.key: leaf.predicate.evaluate(world).truth for leaf in found}
    endless = replace(
        world, contacts=(Contact("left", "item_0", frozen((np.inf, 0, 0)), frozen(np.zeros(3))),)
    )
    assert Sweep(found).steady(endless, truths) == set()
    assert Sweep(found).steady(replace(world, contacts=None), truths) == set()
    assert Sweep(found).steady(replace(world, objects={}), truths) == set()
    gone = replace(world, states={name: state for name, state in world.states.items() if name != "item_0"})
    about_it = {leaf.key for leaf in found if "item_0" in leaf.predicate.subjects()}
    assert Sweep(found).steady(gone, truths) == set(truths) - about_it
