"""Each predicate on worlds that a person can picture, and against verdicts of another implementation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from conditionals_node.extents import extent
from conditionals_node.geometry import GeometryError, hull, hull_of
from conditionals_node.predicates.containment import ObjectInContainer, ObjectOutsideOf
from conditionals_node.predicates.grip import ObjectGrabbed
from conditionals_node.predicates.joints import GripperOpen
from conditionals_node.predicates.motion import ObjectStationary
from conditionals_node.predicates.support import ObjectOnTop
from conditionals_node.predicates.vertical import ObjectAbove
from conditionals_node.views import Point
from handiwork_core.geometry import Pose, Rotation, frozen
from handiwork_core.predicate import Truth
from handiwork_core.world import Contact, JointState, ObjectState, Shape, ShapeKind, World, WorldObject

DATA = Path(__file__).parent / "data"
FINGERS = ("r/left", "r/right")


def solid(kind: ShapeKind, size: Sequence[float], at: Sequence[float] = (0.0, 0.0, 0.0)) -> Shape:
    return Shape(kind, frozen(size), Pose.of(at))


def box(name: str, *size: float) -> WorldObject:
    return WorldObject(name, (solid(ShapeKind.BOX, size),))


def mesh(name: str, points: Sequence[Sequence[float]]) -> WorldObject:
    return WorldObject(name, (Shape(ShapeKind.CONVEX, frozen(()), Pose.identity(), frozen(points)),))


BIN = WorldObject(
    "bin",
    (
        solid(ShapeKind.BOX, (0.24, 0.24, 0.01), (0.0, 0.0, 0.005)),
        solid(ShapeKind.BOX, (0.01, 0.24, 0.1), (0.115, 0.0, 0.05)),
        solid(ShapeKind.BOX, (0.01, 0.24, 0.1), (-0.115, 0.0, 0.05)),
        solid(ShapeKind.BOX, (0.22, 0.01, 0.1), (0.0, 0.115, 0.05)),
        solid(ShapeKind.BOX, (0.22, 0.01, 0.1), (0.0, -0.115, 0.05)),
    ),
)
CUBE, TABLE = box("cube", 0.04, 0.04, 0.04), box("table", 1.0, 1.0, 0.05)


def state(
    pose: Pose, v: Sequence[float] = (0.0, 0.0, 0.0), w: Sequence[float] = (0.0, 0.0, 0.0)
) -> ObjectState:
    return ObjectState(pose, frozen(v), frozen(w), 0.0)


def world(
    *items: tuple[WorldObject, Pose], contacts: tuple[Contact, ...] | None = (), opening: float = 0.0
) -> World:
    return World(
        0.0,
        objects={item.name: item for item, _ in items},
        states={item.name: state(pose) for item, pose in items},
        contacts=contacts,
        joints=JointState(0.0, {"finger": opening}),
    )


def at(x: float, y: float, z: float) -> Pose:
    return Pose.of((x, y, z))


def touch(a: str, b: str, force: Sequence[float], point: Sequence[float] = (0.0, 0.0, 0.0)) -> Contact:
    return Contact(a, b, frozen(force), frozen(point))


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
def test_in_container_and_outside_of(z: float, x: float, above_rim: float | None, depth: float) -> None:
    scene = world((BIN, at(1.0, 0.0, 0.0)), (CUBE, at(1.0 + x, 0.0, z)))
    found = ObjectInContainer("cube", "bin", above_rim=above_rim).evaluate(scene)
    assert found.margin == pytest.approx(depth)
    assert found.truth is Truth.of(depth > 0.0)
    opposite = ObjectOutsideOf("cube", "bin", above_rim=above_rim).evaluate(scene)
    assert opposite.margin == pytest.approx(-depth)
    assert opposite.truth is Truth.of(depth < 0.0)


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


@pytest.mark.parametrize(("x", "z", "margin"), [(0.0, 0.13, 0.01), (0.0, 0.11, -0.01), (0.2, 0.2, -0.07)])
def test_above(x: float, z: float, margin: float) -> None:
    found = ObjectAbove("cube", "bin").evaluate(world((BIN, at(0, 0, 0)), (CUBE, at(x, 0.0, z))))
    assert found.margin == pytest.approx(margin)
    assert found.truth is Truth.of(margin > 0.0)


@pytest.mark.parametrize(
    ("opening", "truth"), [(0.04, Truth.TRUE), (0.036, Truth.TRUE), (0.0359, Truth.FALSE)]
)
def test_gripper_open(opening: float, truth: Truth) -> None:
    predicate = GripperOpen(0.072, "finger", 2.0)
    assert predicate.evaluate(world(opening=opening)).truth is truth
    assert predicate.evaluate(World(0.0)).truth is Truth.UNKNOWN


def test_containment_agrees_with_another_implementation() -> None:
    data = json.loads((DATA / "containment.json").read_text(encoding="utf-8"))
    containers = {name: mesh("c", points) for name, points in data["containers"].items()}
    objects = {name: mesh("o", points) for name, points in data["objects"].items()}
    assert {case[6] for case in data["cases"]} == {True, False}
    for c, o, c_pos, c_quat, o_pos, o_quat, inside, distance in data["cases"]:
        poses = [Pose.of(p, Rotation.from_wxyz(q)) for p, q in ((c_pos, c_quat), (o_pos, o_quat))]
        scene = world((containers[c], poses[0]), (objects[o], poses[1]))
        found = ObjectInContainer("o", "c", point=Point.VERTEX_MEAN).evaluate(scene)
        assert found.truth is Truth.of(inside)
        assert found.margin == pytest.approx(-distance, abs=5e-6)


def test_support_cone_agrees_with_another_implementation() -> None:
    data = json.loads((DATA / "support.json").read_text(encoding="utf-8"))
    placed = ((TABLE, at(0.0, 0.0, -0.025)), (CUBE, at(0.0, 0.0, 0.02)))
    for force, *verdicts in data["forces"]:
        scene = world(*placed, contacts=(touch("cube", "table", force),))
        for cone_deg, verdict in zip((30.0, 45.0, 60.0), verdicts, strict=True):
            assert ObjectOnTop("cube", "table", cone_deg=cone_deg).evaluate(scene).truth is Truth.of(verdict)


def test_above_and_stationary_agree_with_another_implementation() -> None:
    data = json.loads((DATA / "support.json").read_text(encoding="utf-8"))
    a, b = mesh("a", data["boxes"][0]), mesh("b", data["boxes"][1])
    for a_pos, a_quat, b_pos, b_quat, verdict in data["above"]:
        poses = [Pose.of(p, Rotation.from_wxyz(q)) for p, q in ((a_pos, a_quat), (b_pos, b_quat))]
        found = ObjectAbove("a", "b").evaluate(world((a, poses[0]), (b, poses[1])))
        assert found.truth is Truth.of(verdict), found.reason
    for twist, verdict in data["stationary"]:
        scene = World(0.0, states={"a": state(Pose.identity(), twist[:3], twist[3:])})
        assert ObjectStationary("a").evaluate(scene).truth is Truth.of(verdict)


def test_extents_of_round_shapes_are_exact() -> None:
    turned = Pose.of((0.0, 0.0, 0.0), Rotation.from_axis_angle((0.0, 1.0, 0.0), np.pi / 4))
    c = np.sqrt(0.5)
    for kind, size, reach in (
        (ShapeKind.SPHERE, (0.1,), (0.1, 0.1, 0.1)),
        (ShapeKind.CAPSULE, (0.1, 1.0), (0.1 + 0.5 * c, 0.1, 0.1 + 0.5 * c)),
        (ShapeKind.CYLINDER, (0.1, 1.0), (0.6 * c, 0.1, 0.6 * c)),
        (ShapeKind.BOX, (1.0, 0.2, 1.0), (c, 0.1, c)),
    ):
        low, high = extent(WorldObject("x", (solid(kind, size),)), turned)
        assert np.allclose(high, reach), kind
        assert np.allclose(low, -np.array(reach)), kind


def test_centroid_is_that_of_the_volume() -> None:
    half_ball = mesh(
        "x", (hull(WorldObject("b", (solid(ShapeKind.SPHERE, (1.0,)),))).vertices * (1, 1, 0.5)).tolist()
    )
    assert np.allclose(hull(half_ball).centroid, 0.0, atol=1e-9)
    pyramid = mesh("p", [[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0], [0, 0, 4]])
    assert np.allclose(hull(pyramid).centroid, [0.0, 0.0, 1.0])
    assert np.allclose(hull(pyramid).vertex_mean, [0.0, 0.0, 0.8])
    assert hull(pyramid) is hull(pyramid)


def test_geometry_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(GeometryError, match="'x'"):
        hull_of(np.full((8, 3), np.nan), "x")
