"""Commands with functions of a package's own, and with two motions, are previewed or refused by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from handiwork_core.contracts.commands import Command, CommandFunction, DummyForward
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.testing.fakes import Cell, Fakes, fakes
from skill_server.preview.previewed_skill import execute_plan
from skill_server.preview.rehearsed_run import preview_skill
from skill_server.skills.contact.move_until_contact import MoveUntilContact, MoveUntilContactParams
from skill_server.skills.motion.home import Home, HomeParams


@pytest.fixture
def made() -> Fakes:
    return fakes(Cell({}, {}))


@dataclass(frozen=True)
class Note(CommandFunction):
    """Counts how often it was executed."""

    acts = False
    made: ClassVar[list[str]] = []

    def execute(self, context: Context, stage: str) -> None:
        self.made.append(stage)


@dataclass(frozen=True)
class Throw(Note):
    acts = True


@dataclass(frozen=True)
class Release(Note):
    lets_go = True


@dataclass(frozen=True)
class Noting(Skill[SkillParams]):
    """Calls a function of its own."""

    function: CommandFunction = Note()
    name = "noting"

    def is_feasible(self, params: SkillParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        return OK

    def commands(self, params: SkillParams, context: Context) -> Sequence[Command]:
        return (Command("note", self.function), *Home().commands(HomeParams(), context))

    def is_success(self, params: SkillParams, before: World, after: World, context: Context) -> Outcome:
        return OK


class Twice(Skill[SkillParams]):
    """Goes to a pose and on to joint positions, in one command."""

    name = "twice"

    def is_feasible(self, params: SkillParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        return OK

    def commands(self, params: SkillParams, context: Context) -> Sequence[Command]:
        (home,) = (one for one in Home().commands(HomeParams(), context) if one.world_T_ee is not None)
        assert home.q is not None
        return (replace(home, function=DummyForward(home.q + 0.2)),)

    def is_success(self, params: SkillParams, before: World, after: World, context: Context) -> Outcome:
        return OK


class TouchAndLeave(Skill[SkillParams]):
    """Goes until contact, and home from there."""

    name = "touch_and_leave"

    def is_feasible(self, params: SkillParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        return OK

    def commands(self, params: SkillParams, context: Context) -> Sequence[Command]:
        touch = MoveUntilContact().commands(MoveUntilContactParams(), context)
        return (*touch, *Home().commands(HomeParams(), context))

    def is_success(self, params: SkillParams, before: World, after: World, context: Context) -> Outcome:
        return OK


def test_what_comes_behind_a_contact_cannot_be_previewed(made: Fakes) -> None:
    result = preview_skill(TouchAndLeave(), SkillParams(), made.context)
    assert (result.outcome.code, result.outcome.stage) == (Code.UNSUPPORTED, "touch")
    assert "its stage 'touch' ends where something is touched" in result.outcome.message


def test_a_previewed_motion_until_contact_ends_by_contact_when_it_is_executed(made: Fakes) -> None:
    plan = preview_skill(MoveUntilContact(), MoveUntilContactParams(), made.context).plan
    assert plan is not None
    made.arm.contact_s = 1.0
    ended = execute_plan(plan, made.context)
    assert ended.outcome.ok and ended.outcome.message.startswith("contact after "), ended.outcome


@pytest.mark.parametrize("away_rad", [0.0, 0.1])
def test_a_command_with_two_motions_keeps_both(made: Fakes, away_rad: float) -> None:
    made.cell.q = made.cell.q + away_rad
    plan = preview_skill(Twice(), SkillParams(), made.context).plan
    assert plan is not None
    assert len(plan.motions) == (2 if away_rad else 1)
    asked_before = len(made.planner.plans)
    ended = execute_plan(plan, made.context)
    assert ended.outcome.ok, ended.outcome
    assert len(made.planner.plans) == asked_before
    assert np.allclose(made.cell.q, plan.motions[-1].trajectory.q[-1])


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (Throw(), "its stage 'note' calls 'Throw', which changes the world"),
        (Release(), "calls 'Release', which may let go"),
    ],
)
def test_a_function_with_effects_cannot_be_previewed(
    made: Fakes, function: CommandFunction, text: str
) -> None:
    result = preview_skill(Noting(function), SkillParams(), made.context)
    assert (result.outcome.code, result.outcome.stage, result.plan) == (Code.UNSUPPORTED, "note", None)
    assert text in result.outcome.message


def test_a_function_that_only_measures_is_passed_over_and_executed_later(made: Fakes) -> None:
    made.cell.q = made.cell.q + 0.1
    Note.made.clear()
    result = preview_skill(Noting(), SkillParams(), made.context)
    assert (result.outcome.ok, Note.made) == (True, [])
    assert result.plan is not None
    assert result.plan.motions
    assert execute_plan(result.plan, made.context).outcome.ok
    assert Note.made == ["note"]
