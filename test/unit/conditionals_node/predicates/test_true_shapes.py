"""Relations of place between turned, hollow and off-centre shapes, where boxes along the axes of world mislead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from conditionals_node.batch import Worlds, evaluate
from conditionals_node.expressions.expression import Leaf
from conditionals_node.monitoring.vectorized import Sweep
from conditionals_node.predicates.direction import (
    ObjectBehind,
    ObjectInFrontOf,
    ObjectLeftOf,
    ObjectRightOf,
    Seen,
)
from conditionals_node.predicates.nearby import Along, ObjectBetween, ObjectNextTo
from conditionals_node.predicates.support import ObjectOnTop
from conditionals_node.predicates.vertical import Extent, ObjectAbove, ObjectBelow
from handiwork_core.contracts.predicate import Predicate, Truth
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import ShapeKind, World, WorldObject
from support.records.hollow import bowl, mug, open_box
from support.records.pictured import CUBE, TABLE, at, box, solid, touch, world

PLANK = box("plank", 1.0, 0.1, 0.05)
CAN = WorldObject("can", (solid(ShapeKind.CYLINDER, (0.03, 0.1)),))
CORNER = WorldObject(
    "corner",
    (
        solid(ShapeKind.BOX, (1.0, 0.2, 0.05), (0.5, 0.1, 0.0)),
        solid(ShapeKind.BOX, (0.2, 0.8, 0.05), (0.1, 0.6, 0.0)),
    ),
)
"""A table of two panels at a right angle, whose origin is its corner."""


def turned(yaw_deg: float, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Pose:
    return Pose.of((x, y, z), Rotation.from_rpy(0.0, 0.0, np.radians(yaw_deg)))


def test_above_the_box_of_a_turned_plank_is_not_above_the_plank() -> None:
    beside = world((PLANK, turned(45.0)), (CUBE, at(0.2, -0.2, 0.2)))
    assert ObjectAbove("cube", "plank", extent=Extent.BOX).evaluate(beside).truth is Truth.TRUE
    found = ObjectAbove("cube", "plank").evaluate(beside)
    assert found.truth is Truth.FALSE
    assert found.margin == pytest.approx(0.05 - 0.2 * np.sqrt(2.0) + 0.01)
    assert "within the edge of plank" in found.reason
    over = world((PLANK, turned(45.0)), (CUBE, at(0.2, 0.2, 0.2)))
    assert ObjectAbove("cube", "plank").evaluate(over).truth is Truth.TRUE
    below = world((PLANK, turned(45.0)), (CUBE, at(0.2, -0.2, -0.2)))
    assert ObjectBelow("cube", "plank").evaluate(below).truth is Truth.FALSE
    assert ObjectBelow("cube", "plank", extent=Extent.BOX).evaluate(below).truth is Truth.TRUE


@pytest.mark.parametrize("yaw_deg", [0.0, 30.0, 45.0, 200.0])
def test_a_table_of_two_panels_is_not_where_its_hull_is(yaw_deg: float) -> None:
    place = turned(yaw_deg)
    for x, y, there in ((0.6, 0.1, True), (0.1, 0.7, True), (0.1, 0.1, True), (0.4, 0.4, False)):
        scene = world((CORNER, place), (CUBE, place @ at(x, y, 0.3)))
        assert ObjectAbove("cube", "corner").evaluate(scene).truth is Truth.of(there)


def test_what_rests_on_a_turned_table_is_above_it() -> None:
    up = touch("cube", "table", (0.0, 0.0, 1.0))
    for yaw_deg in (0.0, 30.0, 45.0):
        pose = turned(yaw_deg, z=-0.025)
        on = world((TABLE, pose), (CUBE, pose @ at(0.49, 0.49, 0.045)), contacts=(up,))
        assert ObjectAbove("cube", "table").evaluate(on).truth is Truth.TRUE
        assert ObjectOnTop("cube", "table").evaluate(on).truth is Truth.TRUE
        off = world((TABLE, pose), (CUBE, pose @ at(0.49, 0.53, 0.045)), contacts=(up,))
        assert ObjectAbove("cube", "table").evaluate(off).truth is Truth.FALSE
        assert ObjectOnTop("cube", "table", support_share=0.0).evaluate(off).truth is Truth.FALSE


def test_next_to_a_turned_plank_is_near_its_side() -> None:
    far = world((PLANK, turned(45.0)), (CUBE, at(0.2, -0.2, 0.0)))
    assert ObjectNextTo("cube", "plank", extent=Extent.BOX).evaluate(far).truth is Truth.TRUE
    found = ObjectNextTo("cube", "plank").evaluate(far)
    gap = 0.2 * np.sqrt(2.0) - 0.05 - 0.02 * np.sqrt(2.0)
    assert found.margin == pytest.approx(0.05 - gap)
    assert found.truth is Truth.FALSE
    near = world((PLANK, turned(45.0)), (CUBE, at(0.08, -0.08, 0.0)))
    assert ObjectNextTo("cube", "plank").evaluate(near).truth is Truth.TRUE


def test_the_gap_between_round_bodies_is_that_of_circles() -> None:
    other = replace(CAN, name="other")
    scene = world((CAN, at(0.0, 0.0, 0.0)), (other, at(0.06, 0.06, 0.0)))
    found = ObjectNextTo("can", "other").evaluate(scene)
    # A circle has 32 corners, at most 0.5 % within it.
    assert found.margin == pytest.approx(0.05 - (0.06 * np.sqrt(2.0) - 0.06), abs=3e-4)
    assert ObjectNextTo("can", "other", extent=Extent.BOX).evaluate(scene).margin == pytest.approx(0.05)


def scene_of_directions(item: WorldObject, pose: Pose, other: WorldObject, place: Pose) -> World:
    return replace(world((item, pose), (other, place)), frames={"robot": Pose.identity()})


def test_beside_a_long_thing_is_seen_from_its_side_not_from_its_origin() -> None:
    wall = box("wall", 0.05, 2.0, 0.1)
    before = scene_of_directions(CUBE, at(0.4, 0.6, 0.0), wall, at(0.6, 0.0, 0.0))
    assert ObjectInFrontOf("cube", "wall").evaluate(before).truth is Truth.TRUE
    assert ObjectInFrontOf("cube", "wall", seen=Seen.ORIGIN).evaluate(before).truth is Truth.FALSE
    assert ObjectLeftOf("cube", "wall").evaluate(before).truth is Truth.FALSE
    left = scene_of_directions(CUBE, at(0.6, 1.2, 0.0), wall, at(0.6, 0.0, 0.0))
    assert ObjectLeftOf("cube", "wall").evaluate(left).truth is Truth.TRUE


def test_where_the_origin_of_a_body_is_does_not_matter() -> None:
    shifted = WorldObject("cube", (solid(ShapeKind.BOX, (0.04, 0.04, 0.04), (0.5, 0.0, 0.0)),))
    scene = scene_of_directions(shifted, at(0.0, 0.2, 0.0), CAN, at(0.5, 0.0, 0.0))
    assert ObjectLeftOf("cube", "can").evaluate(scene).truth is Truth.TRUE
    assert ObjectLeftOf("cube", "can", seen=Seen.ORIGIN).evaluate(scene).truth is Truth.FALSE


def test_one_over_the_other_has_no_direction() -> None:
    scene = scene_of_directions(CUBE, at(0.51, 0.0, 0.05), CAN, at(0.5, 0.0, 0.0))
    for kind in (ObjectLeftOf, ObjectRightOf, ObjectInFrontOf, ObjectBehind):
        assert kind("cube", "can").evaluate(scene).truth is Truth.FALSE


def test_between_long_things_is_between_their_sides() -> None:
    one, two = box("one", 0.4, 0.4, 0.1), box("two", 0.4, 0.4, 0.1)
    place = turned(45.0)
    scene = world((one, place), (two, place @ at(1.0, 0.0, 0.0)), (CUBE, place @ at(0.5, 0.05, 0.0)))
    found = ObjectBetween("cube", "one", "two").evaluate(scene)
    assert found.truth is Truth.TRUE
    assert found.margin == pytest.approx(0.3)
    # Over one of them is not between, though its centre is between their centres.
    over = world((one, place), (two, place @ at(1.0, 0.0, 0.0)), (CUBE, place @ at(0.15, 0.0, 0.07)))
    assert ObjectBetween("cube", "one", "two", along=Along.AXIS).evaluate(over).truth is Truth.TRUE
    assert ObjectBetween("cube", "one", "two").evaluate(over).truth is Truth.FALSE
    aside = world((one, place), (two, place @ at(1.0, 0.0, 0.0)), (CUBE, place @ at(0.5, 0.12, 0.0)))
    assert ObjectBetween("cube", "one", "two").evaluate(aside).truth is Truth.FALSE


CASES: tuple[Callable[[str, str], Predicate], ...] = (
    lambda a, b: ObjectAbove(a, b, z_margin=-0.3),
    lambda a, b: ObjectNextTo(a, b, dist=0.06),
    lambda a, b: ObjectBehind(a, b, frame_of_reference="world", level_tolerance=None),
    lambda a, b: ObjectBetween(a, b, "plank", alignment_tolerance=0.3),
)


@pytest.mark.parametrize("case", range(len(CASES)))
def test_one_world_many_worlds_and_rows_agree(case: int) -> None:
    rng = np.random.default_rng(case)

    def pose() -> Pose:
        q = rng.normal(size=4)
        return Pose.of(rng.normal(size=3) * 0.2, Rotation.from_wxyz(q / np.linalg.norm(q)))

    items = (CUBE, CAN, CORNER, bowl("bowl", 0.1, 0.08), mug(), open_box("bin", (0.3, 0.2, 0.1)), PLANK)
    worlds = [world(*((item, pose()) for item in items)) for _ in range(60)]
    first = worlds[0]
    worlds = [replace(one, objects=first.objects) for one in worlds]
    leaves, seen = [], set()
    for a in ("cube", "can", "mug"):
        for b in ("corner", "bowl", "bin"):
            predicate = CASES[case](a, b)
            single = [predicate.evaluate(one) for one in worlds]
            margins = evaluate(predicate, Worlds.of(worlds)).margin
            assert margins == pytest.approx([one.margin for one in single], abs=1e-12)
            seen |= {one.truth for one in single}
            leaves.append(Leaf(f"{a} {b}", "", "", predicate))
    assert seen == {Truth.TRUE, Truth.FALSE}
    sweep = Sweep(leaves)
    for one in worlds[:10]:
        truths = {leaf.key: leaf.predicate.evaluate(one).truth for leaf in leaves}
        assert sweep.steady(one, truths) == set(truths)


def test_a_larger_body_reaches_farther_in_a_batch() -> None:
    scene = world((PLANK, turned(45.0)), (CUBE, at(0.2, -0.2, 0.0)), (CAN, at(0.5, -0.5, 0.0)))
    batch = replace(Worlds.of([scene, scene]), sizes={"plank": np.array([1.0, 4.0])})
    gap = 0.2 * np.sqrt(2.0) - 0.02 * np.sqrt(2.0) - np.array([0.05, 0.2])
    assert evaluate(ObjectNextTo("cube", "plank"), batch).margin == pytest.approx(0.05 - gap)
    within = evaluate(ObjectBetween("cube", "plank", "can"), batch).margin
    assert within == pytest.approx([0.2 * np.sqrt(2.0) - 0.05, 0.2 * np.sqrt(2.0) - 0.2])
