"""Mobile translate and rotate keep the contract; the base reaches its target, or names the obstacle in its way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.planning import Attachment
from handiwork_core.contracts.skill import Skill
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.testing.fakes import Cell, Fakes, fakes
from handiwork_core.testing.mobile import FakeBase, mobile_fakes, mobile_gantry
from handiwork_core.testing.skill_contract import SkillContract
from skill_server.execution.run import run_skill
from skill_server.skills.base.mobile_pick import MobilePick, MobilePickParams
from skill_server.skills.base.mobile_place import MobilePlace, MobilePlaceParams
from skill_server.skills.base.mobile_rotate import MobileRotate, MobileRotateParams
from skill_server.skills.base.mobile_translate import MobileTranslate, MobileTranslateParams

from . import test_skills

EAST = MobileTranslateParams(target=(0.3, 0.0))
HAND = mobile_gantry().arm("").ee_link
DRIVES = ("base.follow", "arm.follow", "gripper.move")


def free() -> Fakes:
    """The mobile gantry with an empty hand."""
    return mobile_fakes(test_skills.cell())[0]


def suite(
    kind: type[Skill[Any]], good: Any, unknown: Any = None, make: Callable[[], Fakes] = free
) -> type[SkillContract[Any]]:
    class Suite(SkillContract[Any]):
        run = staticmethod(run_skill)

        def skill(self) -> Skill[Any]:
            return kind()

        def params(self) -> Any:
            return good

        def unknown(self) -> Any:
            return unknown

        def fakes(self, seed: int = 0) -> Fakes:
            made = make()
            made.context.seed, made.context.rng = seed, np.random.default_rng(seed)
            return made

    if unknown is None:
        Suite.test_unknown_object_is_named_and_nothing_moves = None  # type: ignore[method-assign, assignment]
    return Suite


TestTranslate = suite(MobileTranslate, EAST)
TestRotate = suite(MobileRotate, MobileRotateParams())


def held() -> Fakes:
    """The mobile gantry with the cube in its hand."""
    carrying = test_skills.carrying()
    made = mobile_fakes(carrying.cell)[0]
    made.context.held |= carrying.context.held
    return made


TestMobilePick = suite(MobilePick, MobilePickParams(object="cube"), MobilePickParams(object="cub"))
TestMobilePlace = suite(
    MobilePlace, MobilePlaceParams(container="tray"), MobilePlaceParams(container="tary"), held
)
SUITES = (TestTranslate, TestRotate, TestMobilePick, TestMobilePlace)


def wall(*, x: float) -> Cell:
    """Return the cell with a wall across the way of the gantry's hand, which is at x 0.3 and 0.6 high."""
    cell = test_skills.cell()
    cell.objects["wall"], cell.poses["wall"] = (
        test_skills.box("wall", (0.05, 1.0, 2.0), static=True),
        Pose.of((x, 0, 0)),
    )
    return cell


def run(made: Fakes, skill: Skill[Any], params: Any) -> Outcome:
    return run_skill(skill, params, made.context).outcome


def turned(yaw: float = np.pi / 2) -> tuple[Fakes, FakeBase]:
    made, base, _world = mobile_fakes(test_skills.cell())
    base.q = np.array([0.1, 0.2, yaw])
    return made, base


@pytest.mark.parametrize(
    ("frame", "goal"), [("base", [0.1, 0.5, np.pi / 2]), ("start", [0.4, 0.2, np.pi / 2])]
)
def test_ways_count_in_the_base_or_from_the_start(frame: str, goal: list[float]) -> None:
    made, base = turned()
    assert run(made, MobileTranslate(), replace(EAST, frame=frame)).ok
    assert base.q == pytest.approx(goal)


@pytest.mark.parametrize("target", [(0.0, 0.4), (0.0, 0.0), (-0.2, 0.0)])
def test_a_component_may_be_zero(target: tuple[float, float]) -> None:
    made, base, _world = mobile_fakes(test_skills.cell())
    assert run(made, MobileTranslate(), MobileTranslateParams(target=target)).ok
    assert base.q == pytest.approx([*target, 0.0])


def test_turns_add_up() -> None:
    made, base = turned(0.5)
    assert run(made, MobileRotate(), MobileRotateParams(target=-0.8)).ok
    assert base.q == pytest.approx([0.1, 0.2, -0.3])


def test_a_wall_in_the_way_is_named_before_anything_moves() -> None:
    made, _base, _world = mobile_fakes(wall(x=0.5))
    ended = run(made, MobileTranslate(), EAST)
    assert ended.code is Code.PATH_BLOCKED
    assert ended.blocking is not None
    assert ended.blocking.b == "wall"
    assert ended.blocking.a.startswith("gantry/")
    assert not set(made.cell.calls) & set(DRIVES)
    assert run(mobile_fakes(wall(x=0.5))[0], MobileTranslate(), replace(EAST, target=(0.05, 0.0))).ok
    assert run(mobile_fakes(wall(x=0.5))[0], MobileTranslate(), replace(EAST, ignore_substring=("wall",))).ok


def test_what_is_held_must_get_through_too() -> None:
    made = test_skills.carrying()
    cell = made.cell
    low = cell.poses["cube"].translation_m
    cell.objects["step"] = test_skills.box("step", (0.05, 1.0, 0.02), static=True)
    cell.poses["step"] = Pose.of((low[0] + 0.15, 0.0, low[2] - 0.03))
    mobile, _base, _world = mobile_fakes(cell)
    assert run(mobile, MobileTranslate(), EAST).ok  # without the cube the hand passes over it
    mobile, _base, _world = mobile_fakes(cell)
    mobile.context.held |= made.context.held
    ended = run(mobile, MobileTranslate(), EAST)
    assert ended.code is Code.PATH_BLOCKED
    assert ended.blocking == ("cube", "step")


def with_post() -> tuple[Fakes, Cell, Pose]:
    """Return fakes with a post on the way of a point 2 m above the hand, their cell, and the pose of this point.

    Nothing of the robot reaches the post. The pose is in the hand's frame and turned like the world.
    """
    made, _base, _world = mobile_fakes(test_skills.cell())
    hand = link_poses(made.context.robot, made.context.world.snapshot().joints.position)[HAND]
    made.cell.objects["post"] = test_skills.box("post", (0.02, 0.02, 0.02), static=True)
    made.cell.poses["post"] = Pose.of(hand.translation_m + (0.2, 0.0, 2.0))
    return made, made.cell, hand.inverse() @ Pose.of(hand.translation_m + (0.0, 0.0, 2.0))


def test_what_the_planner_has_attached_must_get_through_too() -> None:
    assert run(with_post()[0], MobileTranslate(), EAST).ok
    made, cell, hand_T_above = with_post()
    cell.objects["mast"] = test_skills.box("mast", (0.05, 0.05, 0.05))
    cell.poses["mast"] = Pose.of((9.0, 9.0, 9.0))
    cell.planner_attached["mast"] = (HAND, hand_T_above)
    ended = run(made, MobileTranslate(), EAST)
    assert (ended.code, ended.blocking) == (Code.PATH_BLOCKED, ("mast", "post"))
    assert not set(cell.calls) & set(DRIVES)


def test_an_obstacle_of_the_planner_that_is_attached_goes_along_and_is_in_no_way() -> None:
    made, cell, hand_T_above = with_post()
    ahead = cell.poses["post"].translation_m - (0.1, 0.0, 2.0)
    item = test_skills.box("crate", (0.05, 0.05, 0.05))
    world_T_crate = Pose.of(ahead)  # in the way of the hand, if it were an obstacle
    shapes = tuple(replace(s, object_T_shape=world_T_crate @ s.object_T_shape) for s in item.shapes)
    cell.planner_objects["crate"] = replace(item, shapes=shapes)
    assert run(made, MobileTranslate(), EAST).code is Code.PATH_BLOCKED
    cell.planner_attached["crate"] = (HAND, hand_T_above @ world_T_crate.inverse())
    assert run(made, MobileTranslate(), EAST).blocking == ("crate", "post")
    del cell.objects["post"], cell.poses["post"]
    assert run(made, MobileTranslate(), EAST).ok


def test_an_attached_object_without_a_shape_is_named() -> None:
    made, _base, _world = mobile_fakes(test_skills.cell())
    made.cell.planner_attached["ghost"] = (HAND, Pose.identity())
    ended = run(made, MobileTranslate(), EAST)
    assert ended.code is Code.PATH_BLOCKED
    assert "'ghost' is attached at the planner and has no known shape" in ended.message


def test_what_another_arm_holds_must_get_through_too() -> None:
    made, cell, hand_T_above = with_post()
    cell.objects["mast"] = test_skills.box("mast", (0.05, 0.05, 0.05))
    cell.poses["mast"] = Pose.of((9.0, 9.0, 9.0))
    grip = Attachment("mast", HAND, hand_T_above)
    made.context.held_by_others = lambda: {"mast": grip}
    assert run(made, MobileTranslate(), EAST).blocking == ("mast", "post")


def test_where_it_ended_is_measured() -> None:
    made, base, _world = mobile_fakes(test_skills.cell())
    base.miss = np.array([0.0, 0.03, 0.0])
    ended = run(made, MobileTranslate(), EAST)
    assert ended.code is Code.NOT_REACHED
    assert ended.position_error_m == pytest.approx(0.03)


def test_no_driving_while_another_arm_moves() -> None:
    made, _base, world = mobile_fakes(test_skills.cell())
    robot = made.context.robot
    other = replace(robot.arms["arm"], name="other", joint_names=("other_joint",))
    made.context.robot = replace(robot, arms={**robot.arms, "other": other})
    world.moving["other_joint"] = 0.5
    ended = run(made, MobileTranslate(), EAST)
    assert (ended.code, made.cell.calls.count("base.follow")) == (Code.BUSY, 0)
    world.moving["other_joint"] = 0.0
    assert run(made, MobileTranslate(), EAST).ok


BAD: list[tuple[Skill[Any], Any, Code, str]] = [
    (MobilePick(), MobilePickParams(object="cube", search_time=0.0), Code.BAD_NUMBER, "search_time"),
    (MobilePlace(), MobilePlaceParams(container="tray", search_time=-1.0), Code.BAD_NUMBER, "search_time"),
    (MobileTranslate(), replace(EAST, target=(float("nan"), 0.0)), Code.BAD_NUMBER, "target[0]"),
    (MobileTranslate(), replace(EAST, target=(2.5, 0.0)), Code.BAD_NUMBER, "target"),
    (MobileTranslate(), replace(EAST, frame="map"), Code.BAD_GOAL, "frame"),
    (MobileTranslate(), replace(EAST, tolerance_m=0.0), Code.BAD_NUMBER, "tolerance_m"),
    (MobileRotate(), MobileRotateParams(target=2.5), Code.BAD_NUMBER, "target"),
]


@pytest.mark.parametrize(("skill", "params", "code", "field"), BAD)
def test_bad_goals_are_refused_by_field(skill: Skill[Any], params: Any, code: Code, field: str) -> None:
    made, _base, _world = mobile_fakes(test_skills.cell())
    ended = run(made, skill, params)
    assert (ended.code, ended.field_name) == (code, field), ended


@pytest.mark.parametrize(
    ("skill", "params"), [(MobileTranslate(), EAST), (MobileRotate(), MobileRotateParams())]
)
def test_a_robot_that_stands_is_named(skill: Skill[Any], params: Any) -> None:
    ended = run(fakes(test_skills.cell()), skill, params)
    assert ended.code is Code.UNSUPPORTED
    assert "'gantry' has no mobile base" in ended.message
