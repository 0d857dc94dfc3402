"""Each thing that a plan depends on is compared, and named with its difference."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.model.thresholds import SAME_OBJECT_M, SAME_OBJECT_RAD, SAME_OPENING_M, SAME_START_RAD
from handiwork_core.model.world import Shape, ShapeKind, World, WorldObject
from handiwork_core.testing.fakes import Cell, Fakes, fakes
from handiwork_core.testing.gantry import gantry
from skill_server.preview.skill_plan import WorldBefore
from skill_server.preview.world_comparison import MOST_NAMED, compared

ARM = gantry().arms["arm"]
TURN = Rotation.from_axis_angle((0.0, 0.0, 1.0), 1.1 * SAME_OBJECT_RAD)


def box(name: str, edge_m: float = 0.05) -> WorldObject:
    return WorldObject(name, (Shape(ShapeKind.BOX, np.full(3, edge_m), Pose.identity()),))


@pytest.fixture
def made() -> Fakes:
    names = ("cube", "tray")
    return fakes(
        Cell({name: box(name) for name in names}, {name: Pose.of((0.4, 0.1, 0.0)) for name in names})
    )


def seen(made: Fakes, **fields: Any) -> WorldBefore:
    return WorldBefore(made.context.world.snapshot(), **{"world_T_base": Pose.identity(), **fields})


def test_the_same_world_is_the_same(made: Fakes) -> None:
    then = seen(made)
    made.cell.now_s += 60.0
    made.cell.poses["cube"] = Pose.of((0.4 + 0.9 * SAME_OBJECT_M, 0.1, 0.0))
    made.cell.q = made.cell.q + 0.9 * SAME_START_RAD
    made.cell.width_m += 0.9 * SAME_OPENING_M
    assert compared(then, seen(made), ARM).ok


def change_joint(made: Fakes) -> None:
    made.cell.q = made.cell.q + np.array([0.0, 0.013, 0.0, 0.0, 0.0, 0.0])


def change_opening(made: Fakes) -> None:
    made.cell.width_m += 0.02


def move_cube(made: Fakes) -> None:
    made.cell.poses["cube"] = Pose.of((0.412, 0.1, 0.0))


def turn_cube(made: Fakes) -> None:
    made.cell.poses["cube"] = Pose.of((0.4, 0.1, 0.0), TURN)


def take_cube(made: Fakes) -> None:
    del made.cell.poses["cube"], made.cell.objects["cube"]


def bring_wall(made: Fakes) -> None:
    made.cell.objects["wall"], made.cell.poses["wall"] = box("wall"), Pose.of((1.0, 0.0, 0.0))


def grow_cube(made: Fakes) -> None:
    made.cell.objects["cube"] = box("cube", 0.07)


def tell_planner(made: Fakes) -> None:
    made.cell.planner_version, made.cell.planner_objects = 2, {"fence": box("fence")}


def lose_opening(made: Fakes) -> None:
    made.cell.width_m = math.nan


CHANGES = [
    (lose_opening, Code.NOT_IN_PLACE, "is not measured any more"),
    (change_joint, Code.NOT_IN_PLACE, f"joint '{ARM.joint_names[1]}' moved by 0.013 rad"),
    (change_opening, Code.NOT_IN_PLACE, "went from 40 to 60 mm"),
    (move_cube, Code.OBJECT_MOVED, "'cube' moved by 12 mm since the preview; preview again"),
    (turn_cube, Code.OBJECT_MOVED, f"'cube' turned by {math.degrees(1.1 * SAME_OBJECT_RAD):.1f} deg"),
    (take_cube, Code.OBJECT_MOVED, "'cube' went from the world"),
    (bring_wall, Code.OBJECT_MOVED, "'wall' came into the world"),
    (grow_cube, Code.OBJECT_MOVED, "'cube' changed its shape"),
    (tell_planner, Code.OBJECT_MOVED, "the planner's own obstacles changed"),
]


@pytest.mark.parametrize(("change", "code", "text"), CHANGES, ids=[c[0].__name__ for c in CHANGES])
def test_a_difference_is_named(made: Fakes, change: Any, code: Code, text: str) -> None:
    then = seen(made)
    change(made)
    found = compared(then, seen(made), ARM)
    assert found.code is code
    assert text in found.message
    assert found.message.endswith("since the preview; preview again")


def test_an_opening_that_is_never_measured_is_no_difference(made: Fakes) -> None:
    made.cell.width_m = math.nan
    assert compared(seen(made), seen(made), ARM).ok
    then = seen(made)
    made.cell.width_m = 0.04
    assert "was not measured; it is 40 mm" in compared(then, seen(made), ARM).message


@pytest.mark.parametrize("by_m", [0.0, 0.02])
def test_the_bodies_of_the_planners_obstacles_are_compared(made: Fakes, by_m: float) -> None:
    found = []
    for x_m in (0.3, 0.3 + by_m):
        shape = Shape(ShapeKind.BOX, np.full(3, 0.05), Pose.of((x_m, 0.0, 0.5)))
        made.cell.planner_objects = {"fence": WorldObject("fence", (shape,))}
        found.append(seen(made))
    assert compared(found[0], found[1], ARM).ok is not bool(by_m)


def test_a_base_that_was_driven_is_named(made: Fakes) -> None:
    found = compared(seen(made), seen(made, world_T_base=Pose.of((0.02, 0.0, 0.0))), ARM)
    assert "the base of 'arm' moved by 20 mm" in found.message


@pytest.mark.parametrize(
    ("before", "now", "text"), [({"cube"}, set(), "left the hand"), (set(), {"cube"}, "came into the hand")]
)
def test_what_the_hand_holds_must_be_the_same(
    made: Fakes, before: set[str], now: set[str], text: str
) -> None:
    found = compared(seen(made, held=frozenset(before)), seen(made, held=frozenset(now)), ARM)
    assert f"'cube' {text}" in found.message


def test_a_frame_that_moved_is_named(made: Fakes) -> None:
    then, now = (seen(made, frames={"wrist": Pose.of((x, 0.0, 0.0))}) for x in (0.0, 0.03))
    assert "frame 'wrist' moved by 30 mm" in compared(then, now, ARM).message


def test_what_the_goal_ignores_may_go_anywhere(made: Fakes) -> None:
    then = seen(made, unwatched=frozenset({"cube"}))
    move_cube(made)
    assert compared(then, seen(made), ARM).ok


def test_a_joint_that_is_not_measured_is_a_difference(made: Fakes) -> None:
    then = seen(made)
    blind: World = replace(then.world, joints=replace(then.world.joints, position={}))
    assert compared(then, replace(then, world=blind), ARM).code is Code.NOT_IN_PLACE


def test_many_differences_are_counted(made: Fakes) -> None:
    then = seen(made)
    for i in range(MOST_NAMED + 3):
        made.cell.objects[f"wall{i}"], made.cell.poses[f"wall{i}"] = box(f"wall{i}"), Pose.identity()
    found = compared(then, seen(made), ARM)
    assert "and 3 more differences since the preview" in found.message
