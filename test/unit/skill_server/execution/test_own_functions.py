"""What a skill of another package brings along: command functions of its own, and its own judgement of commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from handiwork_core.contracts.commands import (
    AttachObject,
    CloseGripper,
    Command,
    CommandFunction,
    OpenGripper,
)
from handiwork_core.contracts.skill import Context, Skill, StepFailed
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.testing.fakes import Fakes
from handiwork_core.testing.gantry import gantry_pose
from skill_server.execution.run import run_skill

from .test_command_executor import at_cube, begin, done, listed, to
from .test_command_executor import run as execute
from .test_executor import made, move_cube


@dataclass(frozen=True)
class Squeeze(CommandFunction):
    """Closes the gripper by its port."""

    width_m: float = 0.0
    log: tuple[list[str], ...] = ()

    def execute(self, context: Context, stage: str) -> None:
        for log in self.log:
            log.append(stage)
        outcome = context.gripper.move(self.width_m, should_stop=context.token.is_set)
        if not outcome.ok:
            raise StepFailed(replace(outcome, stage=stage))


@dataclass(frozen=True)
class Look(CommandFunction):
    """Only looks."""

    acts: ClassVar[bool] = False

    def execute(self, context: Context, stage: str) -> None:
        context.world.snapshot()


@dataclass(frozen=True)
class Throw(CommandFunction):
    """Lets go of what is held."""

    lets_go: ClassVar[bool] = True

    def execute(self, context: Context, stage: str) -> None:
        context.gripper.move(0.08, should_stop=context.token.is_set)


def test_a_function_of_a_plug_in_is_executed_at_its_pose() -> None:
    f, log = made(), list[str]()
    state = done(f, [to(f, Squeeze(0.01, (log,)), 0.1)])
    assert log == ["move"]
    assert f.cell.width_m == 0.01
    assert f.cell.q[0] == pytest.approx(f.context.arm_spec.home_q[0] + 0.1)
    assert state.is_touched


def test_what_only_looks_changes_nothing_and_lets_targets_move() -> None:
    f = made()
    commands = listed([Look()])
    state = begin(f, commands)
    move_cube(f, 0.02)
    execute(f, commands, state)
    assert not state.is_touched


def test_what_acts_is_not_done_once_a_target_has_moved() -> None:
    f = made()
    commands = listed([Squeeze()])
    state = begin(f, commands)
    move_cube(f, 0.02)
    with pytest.raises(StepFailed) as caught:
        execute(f, commands, state)
    assert caught.value.outcome.code is Code.OBJECT_MOVED
    assert "gripper.move" not in f.cell.calls


def test_the_gripper_is_sent_again_after_a_function_of_a_plug_in() -> None:
    f = made()
    done(f, [OpenGripper(0.03), Squeeze(0.01), OpenGripper(0.03)])
    assert f.cell.width_m == 0.03


def test_what_lets_go_may_lose_what_is_held() -> None:
    f = made()
    done(f, [at_cube(f), CloseGripper(), AttachObject("cube")])
    state = done(f, [Throw(), to(f, Look(), 0.2)], targets=())
    assert not f.cell.in_hand
    assert not state.keeps_hold


@dataclass(frozen=True, slots=True, kw_only=True)
class Given(SkillParams):
    """The list is given."""

    commands: tuple[Any, ...] = ()


class Plugin(Skill[Given]):
    """Executes the list of its parameters."""

    name = "plugin"
    params_type = Given

    def is_feasible(self, params: Given, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        return OK

    def commands(self, params: Given, context: Context) -> Sequence[Command]:
        return params.commands

    def is_success(self, params: Given, before: World, after: World, context: Context) -> Outcome:
        return OK


def test_a_failure_of_a_plug_in_is_the_outcome_with_its_stage() -> None:
    f = made()
    f.gripper.outcome = Outcome(Code.GRIPPER_FAILED, "stuck")
    run = run_skill(Plugin(), Given(commands=listed([Squeeze()])), f.context)
    assert (run.outcome.code, run.outcome.message, run.outcome.stage) == (
        Code.GRIPPER_FAILED,
        "stuck",
        "stay",
    )
    assert f.arm.stops == 1


def test_a_stop_ends_a_function_of_a_plug_in() -> None:
    f = made()
    f.cell.before = lambda call: f.context.token.set(Code.CANCELED) if call == "gripper.move" else None
    run = run_skill(Plugin(), Given(commands=listed([Squeeze(), Squeeze()])), f.context)
    assert run.outcome.code is Code.CANCELED
    assert f.cell.calls.count("gripper.move") == 1


def test_what_is_no_function_is_named_before_anything_moves() -> None:
    f = made()
    commands = (*listed([Squeeze()]), Command("wave", "wave the hand"))  # type: ignore[arg-type]
    outcome = run_skill(Plugin(), Given(commands=commands), f.context).outcome
    assert outcome.code is Code.INTERNAL
    assert "'wave the hand' of 'wave' is no command function" in outcome.message
    assert not {"gripper.move", "arm.follow"} & set(f.cell.calls)


class Touchy(Plugin):
    """Takes a waypoint for reached within a decimetre."""

    def is_subtask_done(self, params: Given, command: Command, world: World, context: Context) -> Outcome:
        found = super().is_subtask_done(params, command, world, context)
        return OK if found.position_error_m < 0.1 else found


class Sated(Plugin):
    """Is done once the hand is beyond 0.15 m."""

    def is_done(self, params: Given, rest: Sequence[Command], context: Context) -> bool:
        x = context.world.snapshot().joints.position[context.arm_spec.joint_names[0]]
        return bool(x > context.arm_spec.home_q[0] + 0.15)


def far(f: Fakes, by_m: float) -> Command:
    q = np.array(f.context.arm_spec.home_q) + np.array([by_m, 0.0, 0.0, 0.0, 0.0, 0.0])
    return Command("go", Look(), gantry_pose(q), q)


def test_a_skill_may_judge_itself_whether_a_waypoint_is_reached() -> None:
    f = made()
    f.arm.miss = np.array([0.05, 0.0, 0.0, 0.0, 0.0, 0.0])
    params = Given(commands=(far(f, 0.3),))
    missed = run_skill(Plugin(), params, f.context).outcome
    assert (missed.code, missed.stage) == (Code.NOT_REACHED, "go")
    assert missed.position_error_m == pytest.approx(0.05)
    g = made()
    g.arm.miss = f.arm.miss
    assert run_skill(Touchy(), params, g.context).outcome.ok


def test_a_skill_may_end_its_list_early() -> None:
    f = made()
    params = Given(commands=(far(f, 0.1), far(f, 0.2), far(f, 0.3)))
    assert run_skill(Sated(), params, f.context).outcome.ok
    assert f.arm.followed == 2
    assert run_skill(Plugin(), params, f.context).outcome.ok
    assert f.cell.q[0] == pytest.approx(f.context.arm_spec.home_q[0] + 0.3)
