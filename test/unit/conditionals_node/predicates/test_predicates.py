"""Containment, support and grip on worlds that a person can picture."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from conditionals_node.arguments.checks import Hand
from conditionals_node.batch import Worlds, evaluate
from conditionals_node.predicates.containment import ObjectInContainer, ObjectInHull, ObjectOutsideOf
from conditionals_node.predicates.grip import ObjectGrabbed
from conditionals_node.predicates.motion import ObjectStationary
from conditionals_node.predicates.pile import Stacked
from conditionals_node.predicates.support import ObjectOnTop
from conditionals_node.predicates.touch import ObjectInContact
from conditionals_node.predicates.vertical import ObjectAbove
from conditionals_node.predicates.widths import GripperFullyClosed, GripperOpen
from handiwork_core.contracts.predicate import Predicate, Truth
from handiwork_core.model.world import Contact, JointState, World
from support.records.pictured import BIN, CUBE, FINGERS, TABLE, at, box, mesh, state, touch, world


@pytest.mark.parametrize(
    ("z", "x", "above_rim", "depth"),
    [
        (0.03, 0.0, None, 0.03),
        (0.03, 0.11, None, 0.01),
        (0.03, 0.13, None, -0.01),
        (0.5, 0.0, None, 0.12),
        (0.5, 0.0, 0.0, -0.4),
        (0.12, 0.0, 0.05, 0.03),
        (-0.01, 0.0, None, -0.01),
    ],
)
def test_in_hull_in_container_and_outside_of(
    z: float, x: float, above_rim: float | None, depth: float
) -> None:
    scene = world((BIN, at(1.0, 0.0, 0.0)), (CUBE, at(1.0 + x, 0.0, z)))
    found = ObjectInHull("cube", "bin", above_rim=above_rim).evaluate(scene)
    assert found.margin == pytest.approx(depth)
    assert found.truth is Truth.of(depth > 0.0)
    inside = ObjectInContainer("cube", "bin", above_rim=above_rim or 0.0).evaluate(scene)
    assert inside.truth is Truth.of(depth > 0.0 and z < 0.3)
    opposite = ObjectOutsideOf("cube", "bin", above_rim=above_rim or 0.0).evaluate(scene)
    assert opposite.margin == -inside.margin


def test_the_boundary_is_inside_and_never_both() -> None:
    scene = world((box("bin", 2.0, 2.0, 2.0), at(0.0, 0.0, 0.0)), (CUBE, at(1.0, 0.0, 0.0)))
    assert ObjectInContainer("cube", "bin").evaluate(scene).truth is Truth.TRUE
    assert ObjectOutsideOf("cube", "bin").evaluate(scene).truth is Truth.FALSE


def test_in_container_with_what_else_may_be_required() -> None:
    held = touch("cube", "r/left", (0.0, 1.0, 0.0))
    placed = [(BIN, at(0.0, 0.0, 0.0)), (CUBE, at(0.0, 0.0, 0.03))]
    free = ObjectInContainer("cube", "bin", require_gripper_detached=True, fingers=FINGERS)
    assert free.evaluate(world(*placed)).truth is Truth.TRUE
    found = free.evaluate(world(*placed, contacts=(held,)))
    assert found.truth is Truth.FALSE
    assert "1.00 N" in found.reason
    assert free.evaluate(world(*placed, contacts=None)).truth is Truth.UNKNOWN
    scene = world(*placed)
    moving = World(
        0.0, objects=scene.objects, states={**scene.states, "cube": state(at(0, 0, 0.03), (0.1, 0, 0))}
    )
    assert ObjectInContainer("cube", "bin").evaluate(moving).truth is Truth.TRUE
    assert ObjectInContainer("cube", "bin", require_stationary=True).evaluate(moving).truth is Truth.FALSE


@pytest.mark.parametrize("points", [[[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], [[0, 0, 0]], []])
def test_flat_geometry_is_unknown_by_name(points: list[list[float]]) -> None:
    sheet = mesh("sheet", points)
    scene = world((sheet, at(0, 0, 0)), (CUBE, at(0, 0, 0)))
    for predicate in (
        ObjectInContainer("cube", "sheet"),
        ObjectOutsideOf("sheet", "cube"),
        ObjectAbove("sheet", "cube"),
    ):
        found = predicate.evaluate(scene)
        assert found.truth is Truth.UNKNOWN
        assert "'sheet'" in found.reason


PINCH = (
    touch("cube", "r/left", (0, -2, 0), (0, 0.02, 0)),
    touch("r/right", "cube", (0, -3, 0), (0, -0.02, 0)),
)


@pytest.mark.parametrize(
    ("contacts", "truth", "margin"),
    [
        (PINCH, Truth.TRUE, 1.9),
        (PINCH[:1], Truth.FALSE, -0.1),
        ((), Truth.FALSE, -0.1),
        (None, Truth.UNKNOWN, np.nan),
        ((PINCH[0], touch("cube", "r/right", (0, -3, 0), (0, -0.02, 0))), Truth.FALSE, -3.1),
        ((PINCH[0], touch("cube", "r/right", (0, 0.05, 0), (0, -0.02, 0))), Truth.FALSE, -0.05),
        ((PINCH[0], touch("cube", "r/right", (0, 0, 5), (0, -0.02, 0))), Truth.FALSE, -0.1),
    ],
)
def test_grabbed(contacts: tuple[Contact, ...] | None, truth: Truth, margin: float) -> None:
    found = ObjectGrabbed("cube", fingers=FINGERS).evaluate(world((CUBE, at(0, 0, 0)), contacts=contacts))
    assert found.truth is truth
    assert found.margin == pytest.approx(margin, nan_ok=True)


HAND = Hand(FINGERS, "finger", 0.04, 0.0)


@pytest.mark.parametrize(
    ("opening", "truth"), [(0.02, Truth.TRUE), (0.0395, Truth.TRUE), (0.0398, Truth.FALSE)]
)
def test_what_is_wedged_between_open_fingers_is_not_grasped(opening: float, truth: Truth) -> None:
    wedged = world((CUBE, at(0, 0, 0)), contacts=PINCH, opening=opening)
    for scene in (wedged, replace(wedged, joints=JointState(0.0, {}))):
        found = ObjectGrabbed("cube", hands=(HAND,)).evaluate(scene)
        assert found.truth is (truth if scene is wedged else Truth.TRUE)
        assert ObjectGrabbed("cube", hands=(HAND,), min_closed=0.0).evaluate(scene).truth is Truth.TRUE
        alike = evaluate(ObjectGrabbed("cube", hands=(HAND,)), Worlds.of([scene]))
        assert alike.margin == pytest.approx(found.margin)


def test_a_gripper_that_holds_something_thin_is_not_fully_closed() -> None:
    closed = GripperFullyClosed(joint="finger", open_position=0.04, closed_position=0.0, hands=(HAND,))
    thin = world((CUBE, at(0, 0, 0)), contacts=PINCH, opening=0.001)
    assert closed.evaluate(thin).truth is Truth.FALSE
    assert "cube is held most firmly, with 2.00 N" in closed.evaluate(thin).reason
    assert replace(closed, while_holding=True).evaluate(thin).truth is Truth.TRUE
    assert closed.evaluate(replace(thin, contacts=())).truth is Truth.TRUE
    assert closed.evaluate(replace(thin, contacts=None)).truth is Truth.UNKNOWN
    assert evaluate(closed, Worlds.of([thin])).margin == pytest.approx(-1.9)


@pytest.mark.parametrize(
    ("force", "x", "truth"),
    [
        ((0.0, 0.0, 1.0), 0.0, Truth.TRUE),
        ((0.0, 0.0, 0.05), 0.0, Truth.FALSE),
        ((0.0, 1.0, 0.9), 0.0, Truth.FALSE),
        ((0.0, 0.9, 1.0), 0.0, Truth.TRUE),
        ((0.0, 0.0, -1.0), 0.0, Truth.FALSE),
        ((0.0, 0.0, 1.0), 0.505, Truth.TRUE),
        ((0.0, 0.0, 1.0), 0.52, Truth.FALSE),
    ],
)
def test_on_top(force: tuple[float, float, float], x: float, truth: Truth) -> None:
    placed = ((TABLE, at(0.0, 0.0, -0.025)), (CUBE, at(x, 0.0, 0.02)))
    found = ObjectOnTop("cube", "table").evaluate(world(*placed, contacts=(touch("cube", "table", force),)))
    assert found.truth is truth
    reversed_contact = touch("table", "cube", tuple(-f for f in force))
    again = ObjectOnTop("cube", "table").evaluate(world(*placed, contacts=(reversed_contact,)))
    assert again.margin == found.margin


def both(predicate: Predicate, scene: World) -> Truth:
    """Return the verdict, which a batch shares."""
    found = predicate.evaluate(scene)
    assert evaluate(predicate, Worlds.of([scene])).margin == pytest.approx(found.margin)
    return found.truth


def test_an_object_of_eight_grams_touches_and_rests() -> None:
    weight_n = 0.008 * 9.81
    for mass_kg, rests in ((0.008, Truth.TRUE), (0.0, Truth.FALSE)):
        light = replace(CUBE, mass_kg=mass_kg)
        scene = world(
            (TABLE, at(0, 0, -0.025)),
            (light, at(0, 0, 0.02)),
            contacts=(touch("cube", "table", (0.0, 0.0, weight_n)),),
        )
        assert both(ObjectOnTop("cube", "table"), scene) is rests
        assert both(ObjectOnTop("cube", "table", weight_share=0.0), scene) is Truth.FALSE
        assert both(ObjectInContact("cube", "table"), scene) is rests
        assert both(ObjectStationary("cube", require_contact_with="table"), scene) is rests
        assert both(Stacked(("table", "cube")), scene) is rests


@pytest.mark.parametrize(
    ("left", "right", "on_left", "on_right"),
    [(1.0, 1.0, True, True), (1.8, 0.2, True, False), (2.0, 0.0, False, False)],
)
def test_a_plank_on_two_blocks_rests_on_both(
    left: float, right: float, on_left: bool, on_right: bool
) -> None:
    plank, one, other = (
        box("plank", 0.4, 0.05, 0.02),
        box("one", 0.05, 0.05, 0.1),
        box("other", 0.05, 0.05, 0.1),
    )
    pushes = [
        touch("plank", name, (0.0, 0.0, force)) for name, force in (("one", left), ("other", right)) if force
    ]
    scene = world(
        (plank, at(0, 0, 0.11)), (one, at(-0.15, 0, 0.05)), (other, at(0.15, 0, 0.05)), contacts=tuple(pushes)
    )
    assert both(ObjectOnTop("plank", "one"), scene) is Truth.of(on_left)
    assert both(ObjectOnTop("plank", "other"), scene) is Truth.of(on_right)
    assert both(ObjectOnTop("plank", "one", support_share=0.0), scene) is Truth.FALSE


@pytest.mark.parametrize(("x", "z", "margin"), [(0.0, 0.13, 0.01), (0.0, 0.11, -0.01), (0.2, 0.2, -0.07)])
def test_above(x: float, z: float, margin: float) -> None:
    found = ObjectAbove("cube", "bin", z_margin=0.0).evaluate(
        world((BIN, at(0, 0, 0)), (CUBE, at(x, 0.0, z)))
    )
    assert found.margin == pytest.approx(margin)
    assert found.truth is Truth.of(margin > 0.0)


@pytest.mark.parametrize(
    ("opening", "truth"), [(0.04, Truth.TRUE), (0.036, Truth.TRUE), (0.0359, Truth.FALSE)]
)
def test_gripper_open(opening: float, truth: Truth) -> None:
    predicate = GripperOpen(0.072, "finger", 2.0)
    assert predicate.evaluate(world(opening=opening)).truth is truth
    assert predicate.evaluate(World(0.0)).truth is Truth.UNKNOWN
