"""Skills that are done by others are previewed step by step, each in the world that the steps before would leave."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.commands import Command, CommandFunction
from handiwork_core.contracts.composite import CompositeSkill, SkillStep, Steps
from handiwork_core.contracts.planning import PlanRequest
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import Shape, ShapeKind, World, WorldObject
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.testing.fakes import Cell, Fakes, blocked, fakes
from skill_server.preview.previewed_skill import execute_plan
from skill_server.preview.rehearsed_run import preview_skill
from skill_server.preview.surroundings import Surroundings
from skill_server.skills.motion.home import Home, HomeParams
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams

EDGE_M = 0.045
SHELF_M = 0.004
"""The fake drops objects to the floor: the tray is thinner than a step takes for another place."""


def box(name: str, size: tuple[float, float, float], *, static: bool = False) -> WorldObject:
    return WorldObject(name, (Shape(ShapeKind.BOX, np.array(size), Pose.identity()),), is_static=static)


@pytest.fixture
def made() -> Fakes:
    objects = {
        "cube": box("cube", (EDGE_M, EDGE_M, EDGE_M)),
        "tray": box("tray", (0.3, 0.3, SHELF_M), static=True),
    }
    poses = {"cube": Pose.of((0.3, 0.1, EDGE_M / 2)), "tray": Pose.of((-0.2, 0.1, SHELF_M / 2))}
    return fakes(Cell(objects, poses, {"cube": EDGE_M}))


@dataclass(frozen=True)
class InTurn(CompositeSkill[SkillParams]):
    """Does given skills in turn, and goes on after a failure of a step whose label is ``may fail``."""

    doing: tuple[tuple[str, Skill[Any], Any], ...]
    name = "in_turn"

    def is_feasible(self, params: SkillParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        return OK

    def steps(self, params: SkillParams, context: Context) -> Steps:
        for label, skill, given in self.doing:
            outcome = yield SkillStep(label, skill, given)
            assert outcome.ok or label == "may fail", outcome

    def is_success(self, params: SkillParams, before: World, after: World, context: Context) -> Outcome:
        return Outcome(Code.OK, "done in turn")


PICK, PLACE = ("pick", Pick(), PickParams(object="cube")), ("place", Place(), PlaceParams(container="tray"))
TWICE = InTurn((PICK, PLACE, ("again", *PICK[1:])))


def test_each_step_begins_where_the_one_before_ends(made: Fakes) -> None:
    before = made.cell.q.copy()
    result = preview_skill(TWICE, SkillParams(), made.context)
    assert result.plan is not None, result.outcome
    assert [step.label for step in result.plan.steps] == ["pick", "place", "again"]
    assert not made.context.held
    assert np.array_equal(made.cell.q, before)
    ways = [motion.trajectory for motion in result.plan.motions]
    assert all(np.allclose(a.q[-1], b.q[0]) for a, b in itertools.pairwise(ways))
    assert {stage.stage.split(":")[0] for stage in result.stages} == {"select", "pick", "place", "again"}
    # The cube of the last step rests on the tray.
    cube = result.plan.steps[2].plan.before.world.states["cube"].world_T_object.translation_m
    assert cube[2] == pytest.approx(SHELF_M + EDGE_M / 2, abs=1e-6)
    ended = execute_plan(result.plan, made.context)
    assert (ended.outcome.message, ended.planning_time_s) == ("done in turn", 0.0)
    assert made.cell.in_hand == "cube"


def test_the_planner_gets_what_was_put_down_where_it_would_be(made: Fakes) -> None:
    skill = InTurn((PICK, PLACE, ("home", Home(), HomeParams())))
    assert preview_skill(skill, SkillParams(), made.context).outcome.ok
    scene = made.planner.plans[-1].scene
    (put_down,) = scene.attached
    assert (put_down.object, put_down.link) == ("cube", made.context.arm_spec.base_link)
    assert put_down.link_T_object.translation_m[2] == pytest.approx(SHELF_M + EDGE_M / 2, abs=1e-6)


def test_a_step_that_fails_is_not_in_the_plan_and_the_next_one_begins_before_it(made: Fakes) -> None:
    plan = made.planner.plan

    def lift_is_blocked(request: PlanRequest, **named: Any) -> Any:
        if request.scene.attached:
            return blocked(Code.PATH_BLOCKED, "gantry/hand", "tray")
        return plan(request, **named)

    made.cell.q = made.cell.q + 0.1
    made.planner.plan = lift_is_blocked  # type: ignore[method-assign]
    skill = InTurn((("may fail", *PICK[1:]), ("home", Home(), HomeParams())))
    result = preview_skill(skill, SkillParams(), made.context)
    assert result.plan is not None, result.outcome
    assert [step.label for step in result.plan.steps] == ["home"]
    assert not [stage for stage in result.stages if stage.stage.startswith("may fail")]
    home = result.plan.motions[0].trajectory
    assert np.array_equal(home.q[0], made.cell.q)
    assert not result.plan.steps[0].plan.before.held


def test_a_step_is_refused_where_the_ones_before_have_left_its_target_elsewhere(made: Fakes) -> None:
    plan = preview_skill(TWICE, SkillParams(), made.context).plan
    assert plan is not None

    def roll(progress: Any) -> None:
        if progress.stage == "place: retreat":
            made.cell.poses["cube"] = Pose.of((0.012, 0.0, 0.0)) @ made.cell.poses["cube"]

    made.context.report = roll
    ended = execute_plan(plan, made.context)
    assert (ended.outcome.code, ended.outcome.stage) == (Code.OBJECT_MOVED, "again: select")
    assert "after the steps before, 'cube' moved by" in ended.outcome.message
    assert made.cell.in_hand == ""


def test_nothing_moves_where_a_bystander_has_moved_since_the_preview(made: Fakes) -> None:
    made.cell.objects["can"] = box("can", (0.04, 0.04, 0.1))
    made.cell.poses["can"] = Pose.of((0.6, 0.6, 0.05))
    plan = preview_skill(TWICE, SkillParams(), made.context).plan
    assert plan is not None
    made.cell.poses["can"] = Pose.of((0.6, 0.5, 0.05))
    made.cell.calls.clear()
    ended = execute_plan(plan, made.context)
    assert ended.outcome.code is Code.OBJECT_MOVED
    assert "'can' moved by 100 mm since the preview" in ended.outcome.message
    assert "arm.follow" not in made.cell.calls


def test_a_goal_that_takes_the_arm_ends_a_preview_of_steps(made: Fakes) -> None:
    answers = iter([OK] * 4)
    busy = Outcome(Code.BUSY, "arm is busy with 'pick'")
    result = preview_skill(
        TWICE, SkillParams(), made.context, Surroundings(at_rest=lambda: next(answers, busy))
    )
    assert (result.outcome.code, result.plan) == (Code.BUSY, None)


@dataclass(frozen=True)
class Squeeze(CommandFunction):
    """Closes the gripper by its port."""

    in_preview = True

    def execute(self, context: Context, stage: str) -> None:
        assert context.gripper.move(0.01, should_stop=context.token.is_set).ok


class Squeezing(Skill[SkillParams]):
    """Calls a function of its own that a preview can execute."""

    name = "squeezing"

    def is_feasible(self, params: SkillParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        return OK

    def commands(self, params: SkillParams, context: Context) -> Sequence[Command]:
        return (Command("squeeze", Squeeze()),)

    def is_success(self, params: SkillParams, before: World, after: World, context: Context) -> Outcome:
        return OK


def test_a_function_that_only_uses_its_ports_is_executed_in_the_preview(made: Fakes) -> None:
    skill = InTurn((("squeeze", Squeezing(), SkillParams()), ("home", Home(), HomeParams())))
    made.cell.q = made.cell.q + 0.1
    before_m = made.cell.width_m
    result = preview_skill(skill, SkillParams(), made.context)
    assert result.plan is not None, result.outcome
    assert made.cell.width_m == before_m
    scene = made.planner.plans[-1].scene
    gripper = made.context.arm_spec.gripper
    assert gripper is not None
    assert dict(scene.gripper_m)[gripper.joint] == pytest.approx(gripper.position(0.01))
    assert execute_plan(result.plan, replace(made.context)).outcome.ok
    assert made.cell.width_m == pytest.approx(0.01)
