"""What every registered predicate keeps, whatever it decides. Add a new one to ``CASES``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conditionals_node.build import Builder
from handiwork_core.geometry import Pose, Rotation, frozen
from handiwork_core.predicate import Finding, Predicate, Truth
from handiwork_core.robot_loader import load_robot
from handiwork_core.world import Contact, JointState, ObjectState, Shape, ShapeKind, World, WorldObject

ROBOT = load_robot(Path(__file__).resolve().parents[3] / "src" / "robot_description" / "robots" / "fr3")
BUILDER = Builder(ROBOT)
CASES: dict[str, dict[str, object]] = {
    "gripper_open": {},
    "object_above": {"object": "a", "reference_object": "b"},
    "object_grabbed": {"object": "a"},
    "object_in_container": {"object": "a", "container": "b", "require_gripper_detached": True},
    "object_on_top": {"object": "a", "reference_object": "b"},
    "object_outside_of": {"object": "a", "container": "b"},
    "object_stationary": {"object": "a"},
}
DIRECTION_OF_GRAVITY_COUNTS = {"object_above", "object_on_top"}
BODIES = ("b", "fr3/fr3_leftfinger", "fr3/fr3_rightfinger")


def random_world(rng: np.random.Generator) -> World:
    """Two boxes near each other, with forces between them and the fingers."""
    objects, states = {}, {}
    for name, spread in (("a", 0.15), ("b", 0.05)):
        shape = Shape(ShapeKind.BOX, frozen(rng.uniform(0.05, 0.3, 3)), Pose.identity())
        objects[name] = WorldObject(name, (shape,))
        q = rng.normal(size=4)
        pose = Pose.of(rng.normal(size=3) * spread, Rotation.from_wxyz(q / np.linalg.norm(q)))
        moves = rng.random() < 0.5
        states[name] = ObjectState(
            pose, frozen(rng.normal(size=3) * moves), frozen(rng.normal(size=3) * moves), 0.0
        )
    touching = [body for body in BODIES if rng.random() < 0.7]
    contacts = tuple(
        Contact("a", b, frozen(rng.normal(size=3)), frozen(rng.normal(size=3))) for b in touching
    )
    joints = JointState(0.0, {"fr3_finger_joint1": float(rng.uniform(0.0, 0.04))})
    return World(0.0, 0, objects, states, contacts, 0.0, joints)


def moved(world: World, by: Pose) -> World:
    """The same world, seen from elsewhere."""
    turn = by.rotation.matrix()
    states = {
        name: ObjectState(by @ s.world_T_object, turn @ s.world_v_object, turn @ s.world_w_object, s.stamp_s)
        for name, s in world.states.items()
    }
    contacts = [
        replace(c, force_on_a_n=turn @ c.force_on_a_n, point_m=by.apply(c.point_m))
        for c in world.contacts or ()
    ]
    return replace(world, states=states, contacts=tuple(contacts))


@pytest.fixture(params=sorted(CASES))
def predicate(request: pytest.FixtureRequest) -> Predicate:
    return BUILDER.build(request.param, CASES[request.param]).predicate


def check(found: Finding) -> None:
    assert (found.margin > 0.0) is (found.truth is Truth.TRUE)
    assert np.isnan(found.margin) == (found.truth is Truth.UNKNOWN)
    assert found.reason
    assert all(np.isfinite(item.value) for item in found.evidence)
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
        assert found.truth is Truth.UNKNOWN
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
    world, q = random_world(rng), rng.normal(size=4)
    turn = Rotation.from_wxyz(q / np.linalg.norm(q))
    if predicate.name in DIRECTION_OF_GRAVITY_COUNTS:
        turn = Rotation.identity()
    by = Pose.of(rng.normal(size=3), turn)
    before, after = predicate.evaluate(world), predicate.evaluate(moved(world, by))
    assert before.truth is after.truth
    assert after.margin == pytest.approx(before.margin, abs=1e-9, nan_ok=True)
