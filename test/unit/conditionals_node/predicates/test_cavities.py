"""What is in a container that has a hollow, and what its convex hull only takes for inside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from conditionals_node.batch import Worlds, evaluate
from conditionals_node.expressions.expression import Leaf
from conditionals_node.monitoring.vectorized import Sweep
from conditionals_node.predicates.containment import (
    ObjectEnclosed,
    ObjectInContainer,
    ObjectInHull,
    ObjectOutsideOf,
)
from conditionals_node.spaces.cavities import inside_of
from handiwork_core.contracts.predicate import Finding, Predicate, Truth
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import ShapeKind, World, WorldObject
from support.records.hollow import basket, bowl, legged, mug, open_box, pan, shelf
from support.records.pictured import CUBE, at, box, solid, world

BIN = open_box("bin", (0.3, 0.2, 0.1))
BALL = WorldObject("ball", (solid(ShapeKind.SPHERE, (0.012,)),))
BOTTLE = box("bottle", 0.03, 0.03, 0.12)
TALL = box("tall", 0.06, 0.06, 0.3)
SMALL, BIG = open_box("small", (0.2, 0.2, 0.1)), open_box("big", (0.3, 0.3, 0.15))
LOW, HIGH = bowl("low", 0.1, 0.08), bowl("high", 0.1, 0.08)


def turned(roll_deg: float, z: float = 0.0) -> Pose:
    return Pose.of((0.0, 0.0, z), Rotation.from_rpy(np.radians(roll_deg), 0.0, 0.0))


def found(
    item: WorldObject, pose: Pose, container: WorldObject, place: Pose | None = None, **args: object
) -> Finding:
    scene = world((item, pose), (container, place or at(0, 0, 0)))
    return ObjectInContainer(item.name, container.name, **args).evaluate(scene)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("item", "pose", "container"),
    [
        (BOTTLE, at(0.2, 0.04, 0.06), pan()),
        (CUBE, at(0.2, 0.1, 0.3), legged()),
        (CUBE, at(0.0, 0.0, 0.75), legged()),
        (CUBE, at(0.15, 0.0, 0.19), basket()),
        (BALL, at(0.058, 0.0, 0.05), mug()),
        (BIG, at(0.0, 0.0, -0.011), SMALL),
        (LOW, at(0.0, 0.0, -0.005), HIGH),
        (CUBE, at(0.0, 0.0, 0.31), BIN),
        (CUBE, at(0.2, 0.0, 1.02), shelf()),
    ],
    ids=[
        "between pan and handle", "under a table", "on a table", "on a shoulder", "in a handle",
        "a big box around it", "a bowl under it", "20 cm above", "on a shelf",
    ],
)  # fmt: skip
def test_what_only_the_hull_takes_for_inside(item: WorldObject, pose: Pose, container: WorldObject) -> None:
    scene = world((item, pose), (container, at(0, 0, 0)))
    assert ObjectInHull(item.name, container.name).evaluate(scene).truth is Truth.TRUE
    finding = ObjectInContainer(item.name, container.name).evaluate(scene)
    assert finding.truth is Truth.FALSE
    assert item.name in finding.reason
    assert container.name in finding.reason
    outside = ObjectOutsideOf(item.name, container.name).evaluate(scene)
    assert outside.truth is Truth.TRUE
    assert outside.margin == -next(part.value for part in finding.evidence if part.name == "depth")


@pytest.mark.parametrize(
    ("item", "pose", "container"),
    [
        (CUBE, at(0.05, 0.0, 0.025), pan()),
        (CUBE, at(0.15, 0.0, 0.03), basket()),
        (CUBE, at(0.0, 0.0, 0.19), basket()),
        (BALL, at(0.02, 0.0, 0.016), mug()),
        (SMALL, at(0.0, 0.0, 0.011), BIG),
        (HIGH, at(0.0, 0.0, 0.005), LOW),
        (CUBE, at(0.2, -0.1, 0.53), shelf()),
        (TALL, at(0.0, 0.0, 0.161), BIN),
        (box("spoon", 0.008, 0.008, 0.2), Pose.of((0.02, 0, 0.1), Rotation.from_rpy(0, 0.2, 0)), mug()),
        (CUBE, at(0.13, 0.08, 0.03), BIN),
    ],
    ids=[
        "in a pan", "under a shoulder", "in a narrow mouth", "in a mug", "a small box in a big one",
        "a bowl in a bowl", "in a shelf", "a tall one stands in it", "a spoon leans in a mug", "in a corner",
    ],
)  # fmt: skip
def test_what_a_person_takes_for_inside(item: WorldObject, pose: Pose, container: WorldObject) -> None:
    finding = found(item, pose, container)
    assert finding.truth is Truth.TRUE, finding.reason
    assert finding.margin < 0.1


@pytest.mark.parametrize(
    ("roll_deg", "inside", "anyhow"),
    [(0, True, True), (30, True, True), (60, False, True), (90, False, True), (180, False, True)],
)
def test_the_opening_must_look_up(roll_deg: float, inside: bool, anyhow: bool) -> None:
    place = turned(roll_deg, 0.5)
    within = place @ at(0.0, 0.0, 0.04)
    finding = found(CUBE, within, BIN, place)
    assert finding.truth is Truth.of(inside)
    assert ("45 deg are allowed" in finding.reason) is not inside
    assert found(CUBE, within, BIN, place, max_tilt_deg=180.0).truth is Truth.of(anyhow)
    scene = world((CUBE, within), (BIN, place))
    assert ObjectEnclosed("cube", "bin").evaluate(scene).truth is Truth.TRUE
    assert ObjectOutsideOf("cube", "bin").evaluate(scene).truth is Truth.FALSE
    # Nothing is in it along the axis of the opening, whatever this looks at.
    before = found(CUBE, place @ at(0.0, 0.0, 0.2), BIN, place, max_tilt_deg=180.0)
    assert before.truth is Truth.FALSE
    assert before.margin == pytest.approx(-0.09)


def test_the_tilt_that_decides_is_in_radians() -> None:
    place = turned(90.0, 0.5)
    finding = found(CUBE, place @ at(0.0, 0.0, 0.04), BIN, place)
    assert finding.margin == pytest.approx(np.radians(45.0 - 90.0))
    (tilt,) = [part for part in finding.evidence if part.name == "opening_tilt"]
    assert (tilt.unit, tilt.subject) == ("rad", "bin")
    assert "opening of bin looks 1.57 rad farther from straight up" in finding.reason


def test_a_shelf_that_was_turned_on_its_face_holds_nothing() -> None:
    for roll_deg, inside in ((0.0, True), (-40.0, True), (90.0, False)):
        place = turned(roll_deg)
        assert found(CUBE, place @ at(0.2, -0.1, 0.53), shelf(), place).truth is Truth.of(inside)


@pytest.mark.parametrize(
    ("z", "above_rim", "min_share", "margin"),
    [
        (0.10, 0.0, 0.5, 0.01),
        (0.115, 0.0, 0.5, -0.005),
        (0.115, 0.02, 0.5, 0.015),
        (0.16, 0.02, 0.5, -0.03),
        (0.10, 0.0, 1.0, -0.01),
        (0.08, 0.0, 1.0, 0.01),
        (0.125, 0.0, 0.1, 0.0005),
    ],
)
def test_a_share_of_the_object_must_be_below_the_rim(
    z: float, above_rim: float, min_share: float, margin: float
) -> None:
    finding = found(CUBE, at(0.0, 0.0, z), BIN, above_rim=above_rim, min_share=min_share)
    # 33 points stand for the cube, so a share is exact to 3 %, half of it wholly.
    assert finding.margin == pytest.approx(margin, abs=1e-9 if min_share == 0.5 else 0.002)
    assert finding.truth is Truth.of(finding.margin > 0.0)


def test_a_tall_object_counts_when_it_fills_half_of_the_depth() -> None:
    for lowest, inside in ((0.011, True), (0.05, True), (0.07, False), (0.10, False)):
        pose = at(0.0, 0.0, lowest + 0.15)
        assert found(TALL, pose, BIN).truth is Truth.of(inside), lowest
        scene = world((TALL, pose), (BIN, at(0, 0, 0)))
        assert ObjectEnclosed("tall", "bin").evaluate(scene).truth is Truth.FALSE


def test_a_stick_across_the_rim_or_against_it_is_not_inside() -> None:
    stick = box("stick", 0.4, 0.02, 0.02)
    assert found(stick, at(0.0, 0.0, 0.12), BIN).truth is Truth.FALSE
    leaning = Pose.of((0.33, 0.0, 0.11), Rotation.from_rpy(0.0, 0.55, 0.0))
    assert found(stick, leaning, BIN).truth is Truth.FALSE


def test_a_convex_container_ends_at_its_top() -> None:
    block = box("bin", 0.3, 0.2, 0.1)
    assert inside_of(block).cavity is None
    assert found(CUBE, at(0.0, 0.0, 0.047), block).margin == pytest.approx(0.003)
    assert found(CUBE, at(0.0, 0.0, 0.07), block).margin == pytest.approx(-0.02)
    assert found(CUBE, at(0.0, 0.0, 0.07), block, above_rim=0.03).margin == pytest.approx(0.01)
    assert found(TALL, at(0.0, 0.0, 0.1), block).truth is Truth.TRUE
    assert found(TALL, at(0.0, 0.0, 0.2), block).truth is Truth.FALSE
    finding = found(box("huge", 0.5, 0.4, 0.3), at(0.0, 0.0, 0.0), block)
    assert finding.truth is Truth.FALSE
    assert "huge is larger than bin" in finding.reason


def test_on_a_flat_tray_is_inside_only_by_choice() -> None:
    tray = box("tray", 0.3, 0.2, 0.01)
    assert found(CUBE, at(0.0, 0.0, 0.025), tray).truth is Truth.FALSE
    assert found(CUBE, at(0.0, 0.0, 0.025), tray, above_rim=0.03).truth is Truth.TRUE
    assert found(CUBE, at(0.0, 0.0, 0.2), tray, above_rim=0.03).truth is Truth.FALSE


def test_a_body_without_a_hollow_has_nothing_inside() -> None:
    legs = [solid(ShapeKind.BOX, (0.05, 0.05, 0.7), (x, y, 0.35)) for x in (-0.5, 0.5) for y in (-0.2, 0.2)]
    trestle = WorldObject("trestle", (solid(ShapeKind.BOX, (1.2, 0.6, 0.03), (0.0, 0.0, 0.715)), *legs))
    known = inside_of(trestle)
    assert (known.cavity, known.is_convex) == (None, False)
    for z in (0.3, 0.715, 0.75):
        finding = found(CUBE, at(0.0, 0.0, z), trestle, above_rim=0.5)
        assert finding.truth is Truth.FALSE
        assert "cube is not in trestle, which has no cavity" in finding.reason


def test_a_drain_and_hand_holes_let_nothing_out() -> None:
    floor = [solid(ShapeKind.BOX, (0.155, 0.22, 0.01), (s * 0.0825, 0.0, 0.005)) for s in (-1, 1)]
    assert sum(shape.size[0] for shape in floor) < 0.32
    drained = WorldObject("bin", (*floor, *BIN.shapes[1:]))
    assert found(CUBE, at(0.0, 0.0, 0.03), drained).truth is Truth.TRUE
    split = [solid(ShapeKind.BOX, (0.1, 0.22, 0.01), (s * 0.11, 0.0, 0.005)) for s in (-1, 1)]
    assert found(CUBE, at(0.0, 0.0, 0.03), WorldObject("bin", (*split, *BIN.shapes[1:]))).truth is Truth.FALSE


def test_a_mesh_that_lies_on_its_side_in_its_own_frame_opens_where_it_opens() -> None:
    cup = mug()
    (shape, *_) = cup.shapes
    tipped = replace(shape, object_T_shape=Pose.of((0, 0, 0), Rotation.from_rpy(-np.pi / 2, 0, 0)))
    lying = WorldObject("lying", (tipped,))
    cavity = inside_of(lying).cavity
    assert cavity is not None
    assert cavity.opening == pytest.approx((0.0, 1.0, 0.0))
    stands = turned(90.0)
    assert found(BALL, at(0.0, 0.0, 0.02), lying, stands).truth is Truth.TRUE
    overturned = turned(-90.0, 0.1)
    assert found(BALL, at(0.0, 0.0, 0.02), lying, overturned).truth is Truth.FALSE


def scenes(seed: int, n: int) -> list[World]:
    rng = np.random.default_rng(seed)

    def pose(spread: float) -> Pose:
        q = rng.normal(size=4)
        return Pose.of(rng.normal(size=3) * spread, Rotation.from_wxyz(q / np.linalg.norm(q)))

    items = (CUBE, TALL, BALL, BIN, mug(), legged(), box("slab", 0.3, 0.3, 0.1))
    return [world(*((item, pose(0.05)) for item in items)) for _ in range(n)]


CASES: tuple[Callable[[str, str], Predicate], ...] = (
    lambda a, b: ObjectInContainer(a, b, max_tilt_deg=70.0),
    lambda a, b: ObjectInContainer(a, b, above_rim=0.03, min_share=0.3, max_tilt_deg=180.0),
    lambda a, b: ObjectEnclosed(a, b, min_share=0.8),
    ObjectOutsideOf,
)


@pytest.mark.parametrize("case", range(len(CASES)))
def test_one_world_many_worlds_and_rows_agree(case: int) -> None:
    items = ("cube", "ball", "tall")
    worlds = scenes(case, 60)
    first = worlds[0]
    batch, seen = Worlds.of([replace(one, objects=first.objects) for one in worlds]), set()
    leaves = []
    for container in ("bin", "mug", "bench", "slab"):
        for item in items:
            predicate = CASES[case](item, container)
            single = [predicate.evaluate(replace(one, objects=first.objects)) for one in worlds]
            margins = evaluate(predicate, batch).margin
            assert margins == pytest.approx([one.margin for one in single], abs=1e-12)
            seen |= {one.truth for one in single}
            leaves.append(Leaf(f"{item} {container}", "", "", predicate))
    assert seen == {Truth.TRUE, Truth.FALSE}
    sweep = Sweep(leaves)
    for one in worlds[:10]:
        truths = {leaf.key: leaf.predicate.evaluate(one).truth for leaf in leaves}
        assert sweep.steady(one, truths) == set(truths)


def test_a_larger_container_holds_more_in_a_batch() -> None:
    scene = world((CUBE, at(0.0, 0.0, 0.16)), (BIN, at(0, 0, 0)))
    one = Worlds.of([scene, scene])
    two = replace(one, sizes={"bin": np.array([1.0, 2.0])})
    assert evaluate(ObjectInContainer("cube", "bin"), two).holds.tolist() == [False, True]
    assert evaluate(ObjectInContainer("cube", "bin"), two).margin == pytest.approx([-0.05, 0.06])
