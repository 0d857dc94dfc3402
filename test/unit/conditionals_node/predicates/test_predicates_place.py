"""Predicates of the place and the orientation of objects, on worlds that a person can picture."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from conditionals_node.predicates.containment import (
    ObjectEnclosed,
    ObjectInContainer,
    ObjectInHull,
    ObjectOutsideOfAndOnSurface,
)
from conditionals_node.predicates.counting import Logical
from conditionals_node.predicates.direction import ObjectInFrontOf, ObjectLeftOf
from conditionals_node.predicates.grip import (
    GripperDetached,
    ObjectDropped,
    ObjectPickedUp,
)
from conditionals_node.predicates.joints import (
    JointClosed,
    JointInRange,
    JointOpen,
)
from conditionals_node.predicates.motion import ObjectAt, ObjectStationary, ObjectUpright
from conditionals_node.predicates.nearby import Along, ObjectBetween, ObjectNextTo, ObjectsInLine
from conditionals_node.predicates.pile import Order, Stacked
from conditionals_node.predicates.support import ObjectOnTop
from conditionals_node.predicates.touch import GripperHitTable, ObjectInContact, WrongObjectGrabbed
from conditionals_node.predicates.vertical import ObjectAbove, ObjectBelow, ObjectOnCenter
from conditionals_node.predicates.widths import GripperFullyClosed, GripperSlightlyClosed
from handiwork_core.contracts.predicate import Predicate, Truth
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import JointState, World
from support.records.hollow import bowl
from support.records.pictured import BIN, CUBE, FINGERS, TABLE, at, box, state, touch, world

ORANGE, APPLE = box("orange", 0.04, 0.04, 0.04), box("apple", 0.04, 0.04, 0.04)


def frames(scene: World, robot: Pose) -> World:
    return World(0.0, 0, scene.objects, scene.states, scene.contacts, frames={"robot": robot})


@pytest.mark.parametrize(
    ("place", "left", "front"),
    [
        ((0.5, 0.2, 0.0), True, False),
        ((0.3, 0.0, 0.0), False, True),
        ((0.7, 0.0, 0.0), False, False),
        ((0.5, -0.2, 0.0), False, False),
        ((0.5, 0.2, 0.5), False, False),
    ],
)
def test_directions_are_the_robots(place: tuple[float, float, float], left: bool, front: bool) -> None:
    scene = frames(world((ORANGE, at(*place)), (CUBE, at(0.5, 0.0, 0.0))), Pose.identity())
    assert ObjectLeftOf("orange", "cube").evaluate(scene).truth is Truth.of(left)
    assert ObjectInFrontOf("orange", "cube").evaluate(scene).truth is Truth.of(front)
    behind_it = Pose.of((1.0, 0.0, 0.0), Rotation.from_rpy(0.0, 0.0, np.pi))
    turned = frames(scene, behind_it)
    assert ObjectLeftOf("orange", "cube", mirrored=True).evaluate(turned).truth is Truth.of(left)
    world_frame = ObjectLeftOf("orange", "cube", frame_of_reference="world")
    assert world_frame.evaluate(turned).truth is Truth.of(left)
    table = ObjectLeftOf("orange", "cube", frame_of_reference="table")
    found = table.evaluate(turned)
    assert found.truth is Truth.UNKNOWN
    assert "frame 'table' is not known" in found.reason
    assert table.frames() == ("table",)
    assert set(table.subjects()) == {"orange", "cube", "table"}


def test_any_height_counts_when_level_is_not_asked_for() -> None:
    scene = frames(world((ORANGE, at(0.5, 0.2, 0.5)), (CUBE, at(0.5, 0.0, 0.0))), Pose.identity())
    assert ObjectLeftOf("orange", "cube", level_tolerance=None).evaluate(scene).margin == pytest.approx(
        np.pi / 4
    )


def test_on_the_table_beside_the_bin() -> None:
    up = touch("cube", "table", (0.0, 0.0, 1.0))
    predicate = ObjectOutsideOfAndOnSurface("cube", "bin", "table")
    table, bin_at = (TABLE, at(0.0, 0.0, -0.025)), (BIN, at(0.0, 0.0, 0.0))
    beside = world(table, bin_at, (CUBE, at(0.3, 0.0, 0.02)), contacts=(up,))
    assert predicate.evaluate(beside).truth is Truth.TRUE
    assert predicate.evaluate(world(table, bin_at, (CUBE, at(0.3, 0, 0.5)), contacts=())).truth is Truth.FALSE
    inside = world(table, bin_at, (CUBE, at(0.0, 0.0, 0.03)), contacts=(up,))
    assert predicate.evaluate(inside).truth is Truth.FALSE


def test_enclosed_ends_at_the_rim() -> None:
    for z, whole, half in (
        (0.05, True, True),
        (0.079, True, True),
        (0.083, False, True),
        (0.101, False, False),
    ):
        scene = world((BIN, at(0, 0, 0)), (CUBE, at(0, 0, z)))
        assert ObjectEnclosed("cube", "bin").evaluate(scene).truth is Truth.of(whole)
        assert ObjectInContainer("cube", "bin").evaluate(scene).truth is Truth.of(half)
        assert ObjectInHull("cube", "bin", closed=True).evaluate(scene).truth is Truth.of(half)
        assert ObjectInHull("cube", "bin").evaluate(scene).truth is Truth.TRUE


@pytest.mark.parametrize("turn", [(0.0, 0.0, 1.0), (1.2, 0.0, 0.0), (np.pi, 0.0, 0.0)])
def test_a_container_may_lie_or_be_carried(turn: tuple[float, float, float]) -> None:
    bin_at = Pose.of((0.4, 0.3, 0.2), Rotation.from_rpy(*turn))
    for height, inside, in_hull in ((0.05, True, True), (0.3, False, True), (-0.05, False, False)):
        scene = world((BIN, bin_at), (CUBE, bin_at @ at(0.0, 0.0, height)))
        assert ObjectInContainer("cube", "bin", max_tilt_deg=180.0).evaluate(scene).truth is Truth.of(inside)
        assert ObjectInHull("cube", "bin").evaluate(scene).truth is Truth.of(in_hull)


@pytest.mark.parametrize("noise", [-0.001, 0.0, 0.001])
def test_noise_of_a_contact_changes_no_relation_of_what_rests(noise: float) -> None:
    scene = world(
        (TABLE, at(0, 0, -0.025)),
        (CUBE, at(0, 0, 0.02 + noise)),
        (APPLE, at(0, 0, 0.06 + 2 * noise)),
    )
    assert ObjectAbove("cube", "table").evaluate(scene).truth is Truth.TRUE
    assert ObjectAbove("apple", "cube").evaluate(scene).truth is Truth.TRUE
    assert ObjectBelow("cube", "apple").evaluate(scene).truth is Truth.TRUE
    assert ObjectNextTo("apple", "cube").evaluate(scene).truth is Truth.FALSE
    beside = replace(scene, states={**scene.states, "apple": state(at(0.06, 0, 0.02))})
    assert ObjectNextTo("apple", "cube").evaluate(beside).truth is Truth.TRUE


def test_a_sheet_is_next_to_a_cube_on_the_same_table() -> None:
    sheet = box("sheet", 0.2, 0.2, 0.001)
    scene = world((CUBE, at(0, 0, 0.02)), (sheet, at(0.13, 0, 0.0005)))
    assert ObjectNextTo("sheet", "cube").evaluate(scene).truth is Truth.TRUE


def test_what_decided_is_reported() -> None:
    scene = world((BIN, at(0, 0, 0)), (CUBE, at(0.11, 0.0, 0.05)))
    found = ObjectInHull("cube", "bin").evaluate(scene)
    numbers = {item.name: item for item in found.evidence}
    assert numbers["depth"].value == pytest.approx(0.01)
    assert "face +x is nearest" in found.reason
    high = world((BIN, at(0, 0, 0)), (CUBE, at(0, 0, 0.11)))
    rim = ObjectInHull("cube", "bin", above_rim=0.02).evaluate(high)
    assert "face rim is nearest" in rim.reason
    assert [item.name for item in rim.evidence] == ["depth"]
    assert rim.margin == pytest.approx(0.01)
    rim = ObjectInContainer("cube", "bin", above_rim=0.02).evaluate(high)
    assert "its rim is nearest" in rim.reason
    assert [item.name for item in rim.evidence] == ["depth", "share_inside"]
    assert rim.margin == pytest.approx(0.01)
    forces = world(
        (TABLE, at(0, 0, -0.025)), (CUBE, at(0, 0, 0.02)), contacts=(touch("cube", "table", (3.0, 0.0, 4.0)),)
    )
    found = ObjectOnTop("cube", "table").evaluate(forces)
    numbers = {item.name: item for item in found.evidence}
    assert [numbers[f"force_{axis}"].value for axis in "xyz"] == [3.0, 0.0, 4.0]
    assert numbers["force_tilt"].value == pytest.approx(np.arctan2(3.0, 4.0))


@pytest.mark.parametrize(
    ("logical", "k", "places", "truth"),
    [
        (Logical.ALL, 1, (0.0, 0.0, 0.0), Truth.TRUE),
        (Logical.ALL, 1, (0.0, 0.5, None), Truth.FALSE),
        (Logical.ALL, 1, (0.0, 0.0, None), Truth.UNKNOWN),
        (Logical.ANY, 1, (0.5, 0.5, 0.0), Truth.TRUE),
        (Logical.ANY, 1, (0.5, 0.0, None), Truth.TRUE),
        (Logical.ANY, 1, (0.5, 0.5, None), Truth.UNKNOWN),
        (Logical.CHOOSE, 2, (0.0, 0.0, 0.5), Truth.TRUE),
        (Logical.CHOOSE, 2, (0.0, 0.0, 0.0), Truth.FALSE),
        (Logical.CHOOSE, 2, (0.0, 0.0, None), Truth.UNKNOWN),
        (Logical.CHOOSE, 1, (0.0, 0.0, None), Truth.FALSE),
        (Logical.CHOOSE, 3, (0.0, 0.5, None), Truth.FALSE),
        (Logical.CHOOSE, 0, (0.5, 0.5, 0.5), Truth.TRUE),
    ],
)
def test_several_objects(logical: Logical, k: int, places: tuple[float | None, ...], truth: Truth) -> None:
    items = (CUBE, ORANGE, APPLE)
    placed = [(item, at(x, 0.0, 0.05)) for item, x in zip(items, places, strict=True) if x is not None]
    names = tuple(item.name for item in items)
    found = ObjectInContainer(names, "bin", logical=logical, K=k).evaluate(world((BIN, at(0, 0, 0)), *placed))
    assert found.truth is truth
    assert (found.margin > 0.0) is (truth is Truth.TRUE)


def test_below_next_to_and_over_the_middle() -> None:
    scene = world((TABLE, at(0, 0, 0)), (CUBE, at(0.02, 0.03, -0.1)), (ORANGE, at(0.08, 0.03, -0.08)))
    assert ObjectBelow("cube", "table", z_margin=0.0).evaluate(scene).margin == pytest.approx(0.055)
    assert ObjectOnCenter("cube", "table", tolerance=0.02).evaluate(scene).margin == pytest.approx(-0.01)
    assert ObjectNextTo("cube", "orange").evaluate(scene).margin == pytest.approx(0.03)
    assert ObjectNextTo("cube", "orange", dist=0.01).evaluate(scene).margin == pytest.approx(-0.01)
    assert ObjectNextTo("cube", "table").evaluate(scene).truth is Truth.FALSE


def test_between_and_in_line() -> None:
    scene = world((CUBE, at(0.1, 0.02, 0)), (ORANGE, at(0, 0, 0)), (APPLE, at(0.3, 0, 0)))
    between = ObjectBetween("cube", "orange", "apple")
    assert between.evaluate(scene).margin == pytest.approx(0.08)
    by_axis = ObjectBetween("cube", "orange", "apple", along=Along.AXIS)
    assert by_axis.evaluate(scene).margin == pytest.approx(0.1)
    assert (
        ObjectBetween("cube", "orange", "apple", alignment_tolerance=0.01).evaluate(scene).truth
        is Truth.FALSE
    )
    assert ObjectBetween("orange", "cube", "apple").evaluate(scene).truth is Truth.FALSE
    touching = ObjectBetween("cube", "orange", "apple", require_contact_with=True)
    assert touching.evaluate(scene).truth is Truth.FALSE
    in_line = ObjectsInLine(("cube", "orange", "apple"))
    assert in_line.evaluate(scene).margin == pytest.approx(0.05 - np.std([0.02, 0.0, 0.0]))
    assert ObjectsInLine(("cube", "orange", "apple"), min_spacing=0.15).evaluate(
        scene
    ).margin == pytest.approx(-0.05)


def test_at_and_upright() -> None:
    lying = world((CUBE, Pose.of((0.1, 0.2, 0.3), Rotation.from_rpy(np.pi / 2, 0.0, 0.0))))
    assert ObjectAt("cube", (0.1, 0.21, 0.3)).evaluate(lying).margin == pytest.approx(0.01)
    assert ObjectAt("cube", (0.1, 0.23, 0.3)).evaluate(lying).truth is Truth.FALSE
    turned = ObjectAt("cube", (0.1, 0.2, 0.3), quaternion_wxyz=(1.0, 0.0, 0.0, 0.0), angle_tolerance=1.5)
    assert turned.evaluate(lying).margin == pytest.approx(1.5 - np.pi / 2)
    assert ObjectUpright("cube").evaluate(lying).margin == pytest.approx(0.1 - np.pi / 2)
    upside_down = world((CUBE, Pose.of((0, 0, 0), Rotation.from_rpy(np.pi, 0.0, 0.0))))
    assert ObjectUpright("cube").evaluate(upside_down).truth is Truth.FALSE


def test_stationary_may_leave_turning_out() -> None:
    scene = World(0.0, states={"cube": state(at(0, 0, 0), w=(0.0, 0.0, 1.0))})
    assert ObjectStationary("cube").evaluate(scene).truth is Truth.FALSE
    assert ObjectStationary("cube", check_angular=False).evaluate(scene).truth is Truth.TRUE


TOWER = ((TABLE, at(0, 0, -0.025)), (CUBE, at(0, 0, 0.02)), (ORANGE, at(0, 0, 0.06)), (APPLE, at(0, 0, 0.10)))
TOUCHES = (touch("orange", "cube", (0, 0, 1)), touch("orange", "apple", (0, 0, -1)))
NAMES = ("cube", "orange", "apple")


@pytest.mark.parametrize(
    ("objects", "order", "truth"),
    [
        (NAMES, None, Truth.TRUE),
        (NAMES[::-1], None, Truth.TRUE),
        (NAMES, Order.NONE, Truth.TRUE),
        (NAMES, Order.BOTTOM_TO_TOP, Truth.TRUE),
        (NAMES, Order.TOP_TO_BOTTOM, Truth.FALSE),
        (NAMES[::-1], Order.TOP_TO_BOTTOM, Truth.TRUE),
        (("cube", "apple"), None, Truth.FALSE),
    ],
)
def test_stacked(objects: tuple[str, ...], order: Order | None, truth: Truth) -> None:
    assert Stacked(objects, order).evaluate(world(*TOWER, contacts=TOUCHES)).truth is truth


def test_beside_or_inside_is_not_stacked() -> None:
    level = world((CUBE, at(0, 0, 0)), (ORANGE, at(0.0, 0.0, 0.0)), contacts=TOUCHES)
    assert Stacked(("cube", "orange")).evaluate(level).truth is Truth.FALSE
    beside = world((CUBE, at(0, 0, 0)), (ORANGE, at(0.05, 0.0, 0.04)), contacts=TOUCHES)
    assert Stacked(("cube", "orange")).evaluate(beside).truth is Truth.FALSE
    assert Stacked(("cube", "orange")).evaluate(world(*TOWER, contacts=None)).truth is Truth.UNKNOWN


PINCH = (
    touch("cube", "r/left", (0, -2, 0), (0, 0.02, 0)),
    touch("cube", "r/right", (0, 3, 0), (0, -0.02, 0)),
)


def test_holding_and_letting_go() -> None:
    placed = ((TABLE, at(0, 0, -0.025)), (CUBE, at(0, 0, 0.2)), (ORANGE, at(0.3, 0, 0.02)))
    held, free = world(*placed, contacts=PINCH), world(*placed, contacts=())
    cases: list[tuple[Predicate, bool, bool]] = [
        (ObjectPickedUp("cube", "table", fingers=FINGERS), True, False),
        (ObjectDropped("cube", fingers=FINGERS), False, True),
        (GripperDetached("cube", fingers=FINGERS), False, True),
        (WrongObjectGrabbed("orange", fingers=FINGERS), True, False),
        (WrongObjectGrabbed("cube", fingers=FINGERS), False, False),
        (WrongObjectGrabbed("orange", fingers=FINGERS, ignore_objects=("cube", "table")), False, False),
        (ObjectInContact("cube", ("r/left", "r/right"), logical=Logical.ALL), True, False),
        (ObjectInContact(("cube", "orange"), "r/left"), True, False),
        (ObjectInContact(("cube", "orange"), "r/left", logical=Logical.ALL), False, False),
        (ObjectInContact(("cube", "orange"), "r/left", logical=Logical.CHOOSE), True, False),
    ]
    for predicate, when_held, when_free in cases:
        assert predicate.evaluate(held).truth is Truth.of(when_held), predicate
        assert predicate.evaluate(free).truth is Truth.of(when_free), predicate
    assert "cube is held" in WrongObjectGrabbed("orange", fingers=FINGERS).evaluate(held).reason
    one_finger = world(*placed, contacts=PINCH[:1])
    assert WrongObjectGrabbed("orange", fingers=FINGERS).evaluate(one_finger).truth is Truth.FALSE


def test_the_hand_on_the_table() -> None:
    bodies = ("r/left", "r/hand")
    hit = world((TABLE, at(0, 0, 0)), contacts=(touch("r/hand", "table", (0, 0, 5)),))
    assert GripperHitTable(bodies=bodies).evaluate(hit).margin == pytest.approx(4.9)
    assert GripperHitTable(bodies=bodies).evaluate(world((TABLE, at(0, 0, 0)))).truth is Truth.FALSE
    assert GripperHitTable().evaluate(hit).truth is Truth.UNKNOWN


@pytest.mark.parametrize(
    ("predicate", "position", "truth"),
    [
        (JointOpen("drawer", 0.4), 0.36, Truth.TRUE),
        (JointOpen("drawer", 0.4), 0.35, Truth.FALSE),
        (JointClosed("drawer", 0.4), 0.04, Truth.TRUE),
        (JointClosed("drawer", 0.4), 0.05, Truth.FALSE),
        (JointOpen("drawer", -1.5, closed_position=0.0), -1.4, Truth.TRUE),
        (JointInRange("drawer", 0.1, 0.2), 0.2, Truth.TRUE),
        (JointInRange("drawer", 0.1, 0.2), 0.21, Truth.FALSE),
        (GripperFullyClosed(joint="drawer", open_position=0.04, closed_position=0.0), 0.01, Truth.TRUE),
        (GripperFullyClosed(joint="drawer", open_position=0.04, closed_position=0.0), 0.011, Truth.FALSE),
        (GripperSlightlyClosed(joint="drawer", open_position=0.04, closed_position=0.0), 0.028, Truth.TRUE),
        (GripperFullyClosed(joint="drawer", open_position=0.0, closed_position=0.8), 0.6, Truth.TRUE),
    ],
)
def test_joints(predicate: Predicate, position: float, truth: Truth) -> None:
    scene = World(0.0, joints=JointState(0.0, {"drawer": position}))
    assert predicate.evaluate(scene).truth is truth
    found = predicate.evaluate(World(0.0))
    assert found.truth is Truth.UNKNOWN
    assert "'drawer' is not measured" in found.reason


def test_a_force_that_is_no_number_is_unknown() -> None:
    scene = world(
        (CUBE, at(0, 0, 0.02)), (TABLE, at(0, 0, 0)), contacts=(touch("cube", "table", (np.nan, 0, 1)),)
    )
    assert "not a number" in ObjectOnTop("cube", "table").evaluate(scene).reason


def test_of_nested_bowls_only_the_upper_one_is_in_the_other_and_on_it() -> None:
    pushes = (touch("upper", "lower", (0.0, 0.0, 1.0)),)
    upper, lower = bowl("upper", 0.1, 0.08), bowl("lower", 0.1, 0.08)
    scene = world((lower, at(0, 0, 0)), (upper, at(0, 0, 0.005)), contacts=pushes)
    for a, b, holds in (("upper", "lower", True), ("lower", "upper", False)):
        assert ObjectInContainer(a, b).evaluate(scene).truth is Truth.of(holds)
        assert ObjectOnTop(a, b).evaluate(scene).truth is Truth.of(holds)
        assert ObjectInHull(a, b).evaluate(scene).truth is Truth.TRUE
