"""The contract of every registered predicate. Add a new one to ``CASES``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from conditionals_node.batch import Verdicts, Worlds, advance, evaluate
from conditionals_node.expressions.build import Builder
from conditionals_node.predicates.order import ObjectsPlacedInContainerInOrder
from handiwork_core.contracts.predicate import Finding, Predicate, Truth
from handiwork_core.model.geometry import Pose, Rotation, frozen
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

ROBOT = load_robot(ROBOTS / "fr3")
BUILDER = Builder(ROBOT)
TWO = {"object": "a", "reference_object": "b"}
IN = {"object": "a", "container": "b"}
CASES: dict[str, dict[str, object]] = {
    "gripper_detached": {"object": "a"},
    "gripper_fully_closed": {},
    "gripper_hit_table": {"table": "a"},
    "gripper_open": {},
    "gripper_slightly_closed": {},
    "joint_closed": {"joint": "drawer", "open_position": 0.3, "share": 0.5},
    "joint_in_range": {"joint": "drawer", "lower": 0.1, "upper": 0.2},
    "joint_open": {"joint": "drawer", "open_position": 0.3},
    "object_above": TWO,
    "object_above_bottom": {**TWO, "mode": "centroid"},
    "object_at": {"object": "a", "position": [0.0, 0.0, 0.0], "tolerance": 0.15},
    "object_behind": TWO,
    "object_below": {**TWO, "require_contact_with": True},
    "object_below_top": TWO,
    "object_between": {"object": "a", "reference_obj1": "b", "reference_obj2": "c"},
    "object_center_of": {**TWO, "tolerance": 0.1},
    "object_dropped": {"object": "a"},
    "object_enclosed": IN,
    "object_grabbed": {"object": ["a", "c"], "logical": "any"},
    "object_groups_in_containers": {
        "groups": [{**IN, "require_gripper_detached": False}, {"object": "c", "container": "b"}]
    },
    "object_in_contact": {"object1": "a", "object2": ["b", "fr3/fr3_leftfinger"], "logical": "all"},
    "object_in_container": {**IN, "require_gripper_detached": True},
    "object_in_hull": IN,
    "object_in_front_of": {**TWO, "mirrored": True},
    "object_inside": {**IN, "object": ["a", "c"], "logical": "choose", "K": 1},
    "object_left_of": {**TWO, "frame_of_reference": "world"},
    "object_next_to": TWO,
    "object_on_bottom": TWO,
    "object_on_center": {**TWO, "tolerance": 0.1},
    "object_on_top": TWO,
    "object_outside_of": IN,
    "object_outside_of_and_on_surface": {"object": "a", "container": "c", "surface": "b"},
    "object_picked_up": {"object": "a", "surface": "b", "distance": -0.1, "tolerance": 0.1},
    "object_right_of": {**TWO, "frame_of_reference": "c"},
    "object_stationary": {"object": "a"},
    "object_upright": {"object": "a", "tolerance": 1.0},
    "objects_in_line": {"objects": ["a", "b", "c"], "tolerance": 0.1},
    "objects_placed_in_container_in_order": {
        "objects": ["a"],
        "container": "b",
        "require_gripper_detached": False,
    },
    "objects_stationary": {"object": ["a", "c"], "logical": "any"},
    "stacked": {"objects": ["a", "b"], "tolerance": 0.15},
    "wrong_object_grabbed": {"object": "b", "ignore_objects": []},
}
TURN_CHANGES_NOTHING = {
    "gripper_detached",
    "gripper_fully_closed",
    "gripper_hit_table",
    "gripper_open",
    "gripper_slightly_closed",
    "joint_closed",
    "joint_in_range",
    "joint_open",
    "object_dropped",
    "object_enclosed",
    "object_grabbed",
    "object_groups_in_containers",
    "object_in_contact",
    "object_in_container",
    "object_in_hull",
    "object_inside",
    "object_outside_of",
    "object_stationary",
    "objects_placed_in_container_in_order",
    "objects_stationary",
    "wrong_object_grabbed",
}
NOT_AGAINST_GRAVITY = {"object_behind", "object_in_front_of", "object_right_of", "object_upright"}
"""Predicates whose worlds may be turned about z, with the robot."""
SHIFT_COUNTS = {"object_at"}
OTHERS_MAY_DECIDE = {"object_groups_in_containers", "object_grabbed", "object_inside", "objects_stationary"}
"""Predicates of several objects that may be known although one object is not."""
BODIES = ("b", "fr3/fr3_leftfinger", "fr3/fr3_rightfinger")


def random_world(rng: np.random.Generator) -> World:
    """Return three boxes near each other, with forces between them and the fingers."""
    objects, states = {}, {}
    for name, spread in (("a", 0.15), ("b", 0.05), ("c", 0.15)):
        shape = Shape(ShapeKind.BOX, frozen(rng.uniform(0.05, 0.3, 3)), Pose.identity())
        objects[name] = WorldObject(name, (shape,))
        pose = Pose.of(rng.normal(size=3) * spread, random_turn(rng))
        moves = rng.random() < 0.5
        states[name] = ObjectState(
            pose, frozen(rng.normal(size=3) * moves), frozen(rng.normal(size=3) * moves), 0.0
        )
    touching = [body for body in BODIES if rng.random() < 0.7]
    contacts = tuple(
        Contact("a", b, frozen(rng.normal(size=3)), frozen(rng.normal(size=3))) for b in touching
    )
    joints = JointState(
        0.0,
        {"fr3_finger_joint1": float(rng.uniform(0.0, 0.04)), "drawer": float(rng.uniform(0.0, 0.35))},
    )
    robot = Pose.of(rng.normal(size=3), random_turn(rng))
    return World(0.0, 0, objects, states, contacts, 0.0, joints, frames={"robot": robot})


def random_turn(rng: np.random.Generator) -> Rotation:
    q = rng.normal(size=4)
    return Rotation.from_wxyz(q / np.linalg.norm(q))


def resized(world: World, rng: np.random.Generator) -> dict[str, WorldObject]:
    """Return the objects of the world, every other one in another size."""
    found = dict(world.objects)
    for name, item in world.objects.items():
        if rng.random() < 0.5:
            (shape,) = item.shapes
            found[name] = replace(
                item, shapes=(replace(shape, size=frozen(shape.size * rng.uniform(0.7, 1.4))),)
            )
    return found


def moved(world: World, by: Pose) -> World:
    """Return the same world in another frame."""
    turn = by.rotation.matrix()
    states = {
        name: ObjectState(by @ s.world_T_object, turn @ s.world_v_object, turn @ s.world_w_object, s.stamp_s)
        for name, s in world.states.items()
    }
    contacts = [
        replace(c, force_on_a_n=turn @ c.force_on_a_n, point_m=by.apply(c.point_m))
        for c in world.contacts or ()
    ]
    frames = {name: by @ pose for name, pose in world.frames.items()}
    return replace(world, states=states, contacts=tuple(contacts), frames=frames)


@pytest.fixture(params=sorted(CASES))
def predicate(request: pytest.FixtureRequest) -> Predicate:
    return BUILDER.build(request.param, CASES[request.param]).predicate


def check(found: Finding) -> None:
    assert (found.margin > 0.0) is (found.truth is Truth.TRUE)
    assert np.isnan(found.margin) == (found.truth is Truth.UNKNOWN)
    assert found.reason
    assert all(np.isfinite(item.value) for item in found.evidence), found
    assert bool(found.evidence) or found.truth is Truth.UNKNOWN


def test_every_predicate_has_a_case() -> None:
    assert set(CASES) == set(BUILDER.kinds)


def test_margin_reason_and_evidence_agree_with_the_value(predicate: Predicate) -> None:
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(300):
        found = predicate.evaluate(random_world(rng))
        check(found)
        seen.add(found.truth)
    assert seen == {Truth.TRUE, Truth.FALSE}


def test_equal_worlds_give_equal_findings(predicate: Predicate) -> None:
    first = predicate.evaluate(random_world(np.random.default_rng(1)))
    assert predicate.evaluate(random_world(np.random.default_rng(1))) == first


def test_what_is_not_known_is_unknown_with_its_name(predicate: Predicate) -> None:
    world = random_world(np.random.default_rng(2))
    check(predicate.evaluate(World(0.0)))
    assert predicate.evaluate(World(0.0)).truth is Truth.UNKNOWN
    for name in predicate.subjects():
        less = replace(world, states={k: s for k, s in world.states.items() if k != name})
        found = predicate.evaluate(less)
        check(found)
        if found.truth is not Truth.UNKNOWN:
            assert predicate.name in OTHERS_MAY_DECIDE
        assert f"'{name}'" in found.reason


def test_without_a_contact_source_what_needs_it_is_never_true(predicate: Predicate) -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        found = predicate.evaluate(replace(random_world(rng), contacts=None))
        check(found)
        if predicate.needs_contacts:
            assert found.truth is not Truth.TRUE


@pytest.mark.parametrize("seed", range(20))
def test_a_rigid_motion_of_everything_changes_nothing(predicate: Predicate, seed: int) -> None:
    rng = np.random.default_rng(seed)
    world, turn = random_world(rng), Rotation.identity()
    if predicate.name in TURN_CHANGES_NOTHING:
        turn = random_turn(rng)
    elif predicate.name in NOT_AGAINST_GRAVITY:
        turn = Rotation.from_rpy(0.0, 0.0, rng.uniform(-3.0, 3.0))
    by = Pose.of(rng.normal(size=3) * (predicate.name not in SHIFT_COUNTS), turn)
    before, after = predicate.evaluate(world), predicate.evaluate(moved(world, by))
    assert before.truth is after.truth
    assert after.margin == pytest.approx(before.margin, abs=1e-9, nan_ok=True)


def decided(predicate: Predicate, worlds: Sequence[World]) -> Verdicts:
    """Decide a batch; a predicate with a memory begins with none."""
    if isinstance(predicate, ObjectsPlacedInContainerInOrder):
        return advance(predicate, None, Worlds.of(worlds))[0]
    return evaluate(predicate, Worlds.of(worlds))


def test_a_batch_finds_what_single_worlds_find(predicate: Predicate) -> None:
    rng = np.random.default_rng(4)
    first = random_world(rng)
    worlds = [replace(random_world(rng), objects=resized(first, rng)) for _ in range(60)]
    single = [predicate.evaluate(world) for world in worlds]
    found = decided(predicate, worlds)
    assert found.margin == pytest.approx([one.margin for one in single], abs=1e-12, nan_ok=True)
    assert found.truth.tolist() == [one.truth for one in single]
    assert not found.reason


def test_a_batch_without_contacts_or_objects_is_unknown_with_the_reason(predicate: Predicate) -> None:
    world = random_world(np.random.default_rng(5))
    for less in (
        replace(world, states={}),
        replace(world, contacts=None),
        replace(world, joints=JointState(0.0, {})),
    ):
        found, single = decided(predicate, [less, less]), predicate.evaluate(less)
        assert found.truth.tolist() == [single.truth] * len(found.truth)
        assert bool(found.reason) or single.truth is not Truth.UNKNOWN
