"""Navigate keeps the contract on both drives: by the base's controller, and by a navigation server such as nav2."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.planning import Attachment
from handiwork_core.contracts.skill import Skill
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.robot.robot import BaseKind
from handiwork_core.testing.fakes import Cell, Fakes, fakes
from handiwork_core.testing.mobile import (
    BASE,
    FakeBase,
    FakeNavigator,
    MobileWorld,
    mobile_fakes,
    mobile_gantry,
    navigated_fakes,
)
from handiwork_core.testing.skill_contract import SkillContract
from skill_server.execution.run import run_skill
from skill_server.skills.base.mobile_rotate import MobileRotate, MobileRotateParams
from skill_server.skills.base.mobile_translate import MobileTranslate, MobileTranslateParams
from skill_server.skills.base.navigate import Navigate, NavigateParams

from . import test_skills

THERE = NavigateParams(x=0.6, y=0.4, yaw=0.5)
HAND = mobile_gantry().arm("").ee_link
ABOVE = 2.0
"""Height above the hand at which a held mast is, m: nothing else of the robot is so high."""


class TestOwnDrive(SkillContract[Any]):
    run = staticmethod(run_skill)
    test_unknown_object_is_named_and_nothing_moves = None  # type: ignore[assignment]

    def skill(self) -> Skill[Any]:
        return Navigate()

    def params(self) -> Any:
        return THERE

    def unknown(self) -> Any:
        return THERE

    def fakes(self, seed: int = 0) -> Fakes:
        return mobile_fakes(test_skills.cell(), seed)[0]


class TestByNav2(TestOwnDrive):
    def fakes(self, seed: int = 0) -> Fakes:
        return navigated_fakes(test_skills.cell(), seed)[0]


SUITES = (TestOwnDrive, TestByNav2)


def run(made: Fakes, params: Any, skill: Skill[Any] | None = None) -> Outcome:
    return run_skill(skill or Navigate(), params, made.context).outcome


def own() -> tuple[Fakes, FakeBase]:
    made, base, _world = mobile_fakes(test_skills.cell())
    return made, base


def by_nav2() -> tuple[Fakes, FakeBase, FakeNavigator]:
    return navigated_fakes(test_skills.cell())


def post(cell: Cell, x: float, y: float) -> None:
    """Put a post on the floor of the cell, high enough for the hand of the gantry."""
    cell.objects["post"] = test_skills.box("post", (0.05, 0.05, 2.0), static=True)
    cell.poses["post"] = Pose.of((x, y, 0.0))


def mast(made: Fakes, x: float, y: float) -> None:
    """Let the hand hold a mast above everything, and put a lamp at its height over a place that the base passes."""
    cell = made.cell
    hand = made.context.world.snapshot()
    at = arm_hand(made).translation_m
    cell.objects["mast"] = test_skills.box("mast", (0.05, 0.05, 0.05))
    cell.objects["lamp"] = test_skills.box("lamp", (0.05, 0.05, 0.05), static=True)
    cell.poses["mast"] = Pose.of((9.0, 9.0, 9.0))
    cell.poses["lamp"] = Pose.of(at + (x, y, ABOVE))
    assert hand.joints.position
    above = arm_hand(made).inverse() @ Pose.of(at + (0.0, 0.0, ABOVE))
    made.context.held_by_others = lambda: {"mast": Attachment("mast", HAND, above)}


def arm_hand(made: Fakes) -> Pose:
    from handiwork_core.robot.kinematics import link_poses

    return link_poses(made.context.robot, made.context.world.snapshot().joints.position)[HAND]


def test_both_drives_reach_the_pose_in_the_world() -> None:
    made, base = own()
    assert run(made, THERE).ok
    assert base.q == pytest.approx([0.6, 0.4, 0.5])
    served, base, navigator = by_nav2()
    assert run(served, THERE).ok
    assert base.q == pytest.approx([0.6, 0.4, 0.5])
    (goal,) = navigator.goals
    matrix = goal.world_T_base.matrix()
    assert matrix[:2, 3] == pytest.approx([0.6, 0.4])
    assert math.atan2(matrix[1, 0], matrix[0, 0]) == pytest.approx(0.5)


def test_a_goal_may_be_in_the_frame_of_an_object() -> None:
    made, base, _navigator = by_nav2()
    made.cell.poses["cube"] = Pose.of((1.0, 1.0, 0.1), Rotation.from_rpy(0.0, 0.0, math.pi / 2))
    assert run(made, NavigateParams(x=-0.5, y=0.2, frame="cube")).ok
    assert base.q == pytest.approx([0.8, 0.5, math.pi / 2])


def test_a_tilted_frame_shows_no_heading_and_is_refused() -> None:
    made, _base, navigator = by_nav2()
    made.cell.poses["cube"] = Pose.of((1.0, 1.0, 0.1), Rotation.from_rpy(0.0, math.pi / 2, 0.0))
    ended = run(made, NavigateParams(x=0.0, y=0.0, frame="cube"))
    assert (ended.code, ended.field_name) == (Code.BAD_GOAL, "frame")
    assert not navigator.goals


def test_the_own_drive_goes_beside_what_is_on_the_straight_way() -> None:
    made, base = own()
    post(made.cell, 0.9, 0.0)  # between the hand at x 0.3 and where it goes
    places = []
    base.on_tick = lambda _t: places.append(base.q.copy())
    ended = run(made, NavigateParams(x=1.2, y=0.0))
    assert ended.ok, ended
    assert base.q == pytest.approx([1.2, 0.0, 0.0])
    assert max(abs(q[1]) for q in places) > 0.02
    straight = run_skill(MobileTranslate(), MobileTranslateParams(target=(1.2, 0.0)), moved(0.9).context)
    assert straight.outcome.code is Code.PATH_BLOCKED


def moved(x: float) -> Fakes:
    made, _base = own()
    post(made.cell, x, 0.0)
    return made


def test_a_differential_base_drives_along_its_heading_alone() -> None:
    made, base = own()
    made.context.robot = replace(made.context.robot, base=replace(BASE, kind=BaseKind.DIFFERENTIAL))
    places = [base.q.copy()]
    base.on_tick = lambda _t: places.append(base.q.copy())
    skill = MobileTranslate()
    assert run(made, MobileTranslateParams(target=(0.3, 0.5)), skill).ok
    assert base.q == pytest.approx([0.3, 0.5, 0.0])
    assert made.cell.calls.count("base.follow") == 3
    for before, after in pairwise(places):
        yaw = 0.5 * (before[2] + after[2])
        sideways = (after - before)[:2] @ (-math.sin(yaw), math.cos(yaw))
        assert sideways == pytest.approx(0.0, abs=1e-9)
    post(made.cell, 1.1, 0.5)
    assert run(made, THERE).ok


def test_no_free_way_of_the_own_drive_is_named_with_the_bodies() -> None:
    made, _base = own()
    made.cell.objects["wall"] = test_skills.box("wall", (0.05, 20.0, 2.0), static=True)
    made.cell.poses["wall"] = Pose.of((0.9, 0.0, 0.0))
    ended = run(made, NavigateParams(x=1.2, y=0.0))
    assert ended.code is Code.PATH_BLOCKED
    assert ended.blocking is not None
    assert ended.blocking.b == "wall"
    assert "no way around was found" in ended.message
    assert "base.follow" not in made.cell.calls


def test_no_room_at_the_goal_is_found_before_nav2_is_asked() -> None:
    made, _base, navigator = by_nav2()
    post(made.cell, 0.9, 0.0)
    ended = run(made, NavigateParams(x=0.6, y=0.0))
    assert ended.code is Code.GOAL_IN_COLLISION
    assert ended.blocking is not None
    assert ended.blocking.b == "post"
    assert not navigator.goals


def test_what_nav2_does_not_know_is_not_touched_on_its_way() -> None:
    made, base, navigator = by_nav2()
    mast(made, 0.6, 0.0)
    ended = run(made, NavigateParams(x=1.2, y=0.0))
    assert ended.code is Code.PATH_BLOCKED
    assert ended.blocking == ("mast", "lamp")
    assert len(navigator.goals) == 1
    assert 0.2 < base.q[0] < 0.55
    free, base, _navigator = by_nav2()
    mast(free, 0.6, 0.6)
    assert run(free, NavigateParams(x=1.2, y=0.0)).ok


def test_an_object_that_falls_on_nav2s_way_ends_the_drive() -> None:
    made = test_skills.carrying()
    mobile, base, _navigator = navigated_fakes(made.cell)
    mobile.context.held |= made.context.held

    def drop(t: float) -> None:
        if t > 0.5:
            made.cell.in_hand = ""

    base.on_tick = drop
    ended = run(mobile, NavigateParams(x=1.5, y=0.0))
    assert ended.code is Code.OBJECT_DROPPED
    assert base.q[0] < 1.4


def test_a_speed_of_the_base_that_is_not_measured_is_not_rest() -> None:
    """The way that the base needs to stop is judged by its speed: nav2 is not asked, or its goal is canceled."""
    made, _base, navigator = by_nav2()
    world = made.context.world
    assert isinstance(world, MobileWorld)
    world.silent |= {"base_y"}
    ended = run(made, NavigateParams(x=1.2, y=0.0))
    assert (ended.code, ended.stage) == (Code.ROBOT_LOST, "select")
    assert "no velocity of ['base_y']" in ended.message
    assert not navigator.goals

    made, base, navigator = by_nav2()
    world = made.context.world
    assert isinstance(world, MobileWorld)
    silent = world.silent
    base.on_tick = lambda t: silent.update({"base_x"} if t > 0.5 else ())
    ended = run(made, NavigateParams(x=1.2, y=0.0))
    assert ended.code is Code.ROBOT_LOST
    assert "no velocity of ['base_x']" in ended.message and "stopped" in ended.message
    assert 0.2 < base.q[0] < 0.6


def test_a_speed_of_another_arm_that_is_not_measured_is_not_rest() -> None:
    made, base = own()
    robot = made.context.robot
    (name, arm), far = next(iter(robot.arms.items())), "far_joint"
    arms = {name: arm, "far": replace(arm, name="far", joint_names=(far,))}
    made.context.robot = replace(robot, arms=arms)
    ended = run(made, THERE)
    assert ended.code is Code.ROBOT_LOST
    assert f"no velocity of ['{far}']" in ended.message
    assert base.q == pytest.approx(np.zeros(3))


def test_nav2s_failure_is_that_of_the_goal() -> None:
    made, base, navigator = by_nav2()
    navigator.fails = Outcome(Code.PATH_BLOCKED, "navigate_to_pose: ComputePathToPose NO_VALID_PATH (208)")
    ended = run(made, THERE)
    assert (ended.code, ended.stage) == (Code.PATH_BLOCKED, "navigate")
    assert "NO_VALID_PATH (208)" in ended.message
    assert base.q == pytest.approx(np.zeros(3))


def test_where_nav2_ended_is_measured_and_full_turns_do_not_count() -> None:
    made, base, _navigator = by_nav2()
    base.miss = np.array([0.0, 0.3, 2.0 * math.pi])
    ended = run(made, THERE)
    assert ended.code is Code.NOT_REACHED
    assert ended.position_error_m == pytest.approx(0.3)
    assert ended.angle_error_rad == pytest.approx(0.0, abs=1e-9)
    assert "tolerance_m" in ended.message
    wide, base, _navigator = by_nav2()
    base.miss = np.array([0.0, 0.3, 2.0 * math.pi])
    assert run(wide, replace(THERE, tolerance_m=0.4)).ok


def test_the_other_skills_of_the_base_go_by_nav2_as_well() -> None:
    made, base, navigator = by_nav2()
    base.q = np.array([0.1, 0.2, math.pi / 2])
    assert run(made, MobileTranslateParams(target=(0.3, 0.0)), MobileTranslate()).ok
    assert base.q == pytest.approx([0.1, 0.5, math.pi / 2])
    assert run(made, MobileRotateParams(target=-0.5), MobileRotate()).ok
    assert base.q == pytest.approx([0.1, 0.5, math.pi / 2 - 0.5])
    assert len(navigator.goals) == 2


def test_more_than_half_a_turn_is_refused_as_nav2_turns_the_shorter_way() -> None:
    made, _base, navigator = by_nav2()
    ended = run(made, MobileRotateParams(target=4.0), MobileRotate())
    assert (ended.code, ended.field_name) == (Code.BAD_NUMBER, "target")
    assert "turn twice" in ended.message
    assert not navigator.goals


BAD = [
    (replace(THERE, x=float("nan")), Code.BAD_NUMBER, "x"),
    (replace(THERE, yaw=7.0), Code.BAD_NUMBER, "yaw"),
    (replace(THERE, x=2.5), Code.BAD_NUMBER, "x"),
    (replace(THERE, timeout_s=0.0), Code.BAD_NUMBER, "timeout_s"),
    (replace(THERE, frame="cubes"), Code.UNKNOWN_FRAME, "frame"),
]


@pytest.mark.parametrize(("params", "code", "field"), BAD)
@pytest.mark.parametrize("kind", ["own", "nav2"])
def test_bad_goals_are_refused_by_field(kind: str, params: Any, code: Code, field: str) -> None:
    made = own()[0] if kind == "own" else by_nav2()[0]
    ended = run(made, params)
    assert (ended.code, ended.field_name) == (code, field), ended
    assert not set(made.cell.calls) & {"base.follow", "navigator.navigate"}


def test_a_robot_without_a_base_is_named() -> None:
    ended = run(fakes(test_skills.cell()), THERE)
    assert ended.code is Code.UNSUPPORTED
    assert "'gantry' has no mobile base" in ended.message
