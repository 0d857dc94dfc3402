"""The executor of a command list: what each command leaves in the state, and what later commands make of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from handiwork_core.contracts.commands import (
    AttachObject,
    CloseGripper,
    Command,
    DetachObject,
    DummyForward,
    Function,
    Motion,
    OpenGripper,
    UpdatePoseCostMetric,
    UpdateSpecific,
)
from handiwork_core.contracts.planning import PlanResult
from handiwork_core.contracts.skill import StepFailed, Stopped
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.testing.fakes import Fakes
from handiwork_core.testing.gantry import gantry_pose
from skill_server.execution.command_executor import CommandExecutor
from skill_server.execution.execution_state import ExecutionState, initial_state
from skill_server.execution.stage_log import StageLog

from .test_executor import made, move_cube
from .test_making_room import ReservedPath

DOWN = Pose.from_matrix(np.diag([1.0, -1.0, -1.0, 1.0]))


def to(f: Fakes, function: Function, by_m: float, **options: object) -> Command:
    """A command that moves along x from home first."""
    q = np.array(f.context.arm_spec.home_q) + np.array([by_m, 0.0, 0.0, 0.0, 0.0, 0.0])
    return Command("move", function, gantry_pose(q), q, **options)  # type: ignore[arg-type]


def at_cube(f: Fakes) -> Command:
    """A command that puts the cube between the open fingers."""
    pose = Pose.of((0.0, 0.0, 0.1)) @ f.cell.poses["cube"] @ DOWN
    return Command("reach", OpenGripper(), pose, motion=Motion.FREE, touching=frozenset({"cube"}))


def done(
    f: Fakes, commands: Sequence[Command | Function], targets: tuple[str, ...] = ("cube",)
) -> ExecutionState:
    """The state after a list; functions stand for commands without a pose."""
    state = begin(f, listed(commands), targets)
    run(f, listed(commands), state)
    return state


def listed(commands: Sequence[Command | Function]) -> tuple[Command, ...]:
    return tuple(c if isinstance(c, Command) else Command("stay", c) for c in commands)


def begin(f: Fakes, commands: tuple[Command, ...], targets: tuple[str, ...] = ("cube",)) -> ExecutionState:
    return initial_state(f.context, commands, f.context.world.snapshot(), targets)


def run(f: Fakes, commands: tuple[Command, ...], state: ExecutionState) -> None:
    log = StageLog(f.context)
    log.enter("select")
    CommandExecutor(SkillParams(), f.context, log, state).execute(commands)


def test_updates_hold_for_later_plans_until_the_next_update() -> None:
    f, weights = made(), (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
    keep = UpdateSpecific(frozenset({"tray"}))
    done(
        f,
        [
            to(f, UpdatePoseCostMetric(weights), 0.05),
            to(f, keep, 0.1),
            to(f, UpdatePoseCostMetric(None), 0.15),
            to(f, UpdateSpecific(frozenset()), 0.2),
            to(f, OpenGripper(), 0.25),
        ],
    )
    assert [plan.hold_vec_weight for plan in f.planner.plans] == [None, weights, weights, None, None]
    assert [sorted(plan.scene.ignored) for plan in f.planner.plans] == [[], [], ["tray"], ["tray"], []]


def test_a_width_is_sent_once_until_another_is_sent() -> None:
    f = made()
    done(f, [OpenGripper(0.04), OpenGripper(0.04), CloseGripper(), CloseGripper(), OpenGripper(0.04)])
    assert f.cell.calls.count("gripper.move") == 3


def test_a_gripper_that_holds_something_counts_as_closed() -> None:
    f = made()
    done(f, [at_cube(f), CloseGripper(), AttachObject("cube")])
    before = f.cell.calls.count("gripper.move")
    state = done(f, [CloseGripper()])
    assert f.cell.calls.count("gripper.move") == before
    assert not state.is_touched


def test_a_closed_gripper_is_sent_another_force_and_the_same_one_only_once() -> None:
    f = made()
    done(f, [at_cube(f), CloseGripper(), AttachObject("cube")])
    before = len(f.gripper.forces)
    done(f, [CloseGripper(12.0), CloseGripper(12.0), CloseGripper(), CloseGripper(20.0)])
    assert f.gripper.forces[before:] == [12.0, 20.0]


def test_a_held_object_is_no_target_any_more_and_must_stay_in_the_hand() -> None:
    f = made()
    state = done(f, [at_cube(f), CloseGripper(), AttachObject("cube")])
    assert state.targets == ()
    assert state.keeps_hold
    assert set(f.context.held) == {"cube"}
    f.cell.drop()
    with pytest.raises(StepFailed) as caught:
        done(f, [to(f, OpenGripper(), 0.3)])
    assert caught.value.outcome.code is Code.OBJECT_DROPPED


@pytest.mark.parametrize("then", [CloseGripper(), OpenGripper(0.03)])
def test_no_command_to_the_gripper_is_sent_once_a_target_has_moved(then: Function) -> None:
    f = made()
    commands = listed([then])
    state = begin(f, commands)
    move_cube(f, 0.02)
    with pytest.raises(StepFailed) as caught:
        run(f, commands, state)
    assert caught.value.outcome.code is Code.OBJECT_MOVED
    assert caught.value.outcome.position_error_m == pytest.approx(0.02)
    assert "gripper.move" not in f.cell.calls


def test_what_is_no_target_may_move() -> None:
    f = made()
    commands = listed([to(f, CloseGripper(), 0.1)])
    state = begin(f, commands, targets=())
    move_cube(f, 0.02)
    run(f, commands, state)
    assert state.is_touched


def test_an_opened_hand_may_lose_what_it_held() -> None:
    f = made()
    done(f, [at_cube(f), CloseGripper(), AttachObject("cube")])
    state = done(f, [OpenGripper(), to(f, UpdatePoseCostMetric(None), 0.2), DetachObject("cube")], targets=())
    assert not state.keeps_hold
    assert state.is_touched
    assert f.context.released == "cube"
    assert f.context.release_height_m == pytest.approx(0.045 / 2)


def test_the_state_says_how_far_the_list_came_when_a_command_fails() -> None:
    f = made()
    commands = listed(
        [
            to(f, OpenGripper(), 0.1, motion=Motion.STRAIGHT),
            to(f, CloseGripper(), 0.2),
            to(f, OpenGripper(), 0.3),
        ]
    )
    f.gripper.outcome = Outcome(Code.GRIPPER_FAILED, "stuck")
    state = begin(f, commands[1:])
    with pytest.raises(StepFailed, match="stuck"):
        run(f, commands[1:], state)
    assert state.begun == [commands[1]]
    assert not state.is_touched
    first = commands[1].q
    assert state.first_free_q is first
    assert begin(f, commands).first_free_q is first


def test_only_a_finished_motion_counts_for_the_version_of_the_world() -> None:
    f = made()
    commands = listed([to(f, OpenGripper(), 0.1), to(f, OpenGripper(), 0.2)])
    state = begin(f, commands)
    plan, answers = f.planner.plan, [1, 7]

    def refuse_the_second(request, *, should_stop):  # type: ignore[no-untyped-def]
        version = answers.pop(0)
        made = plan(request, should_stop=should_stop)
        return made if version == 1 else PlanResult(Code.PLAN_FAILED, "no way", world_version=version)

    f.planner.plan = refuse_the_second  # type: ignore[method-assign]
    with pytest.raises(StepFailed, match="no way"):
        run(f, commands, state)
    assert state.world_version == 1


def test_a_direct_motion_needs_no_plan_but_is_validated() -> None:
    f = made()
    goal = np.array(f.context.arm_spec.home_q) + 0.1
    done(f, [DummyForward(goal)])
    assert not f.planner.plans
    assert f.cell.calls.count("planner.validate") == 1
    assert f.cell.q == pytest.approx(goal)


def test_other_arms_learn_when_the_hand_has_closed() -> None:
    f, way = made(), ReservedPath()
    f.context.right_of_way = way
    done(f, [OpenGripper(), CloseGripper(), OpenGripper()])
    assert way.committed == [False, False, True, True]


def test_a_set_token_ends_the_list_before_the_next_command() -> None:
    f = made()
    commands = listed([OpenGripper(0.03), CloseGripper()])
    state = begin(f, commands)
    f.cell.before = lambda call: f.context.token.set(Code.CANCELED) if call == "gripper.move" else None
    with pytest.raises(Stopped):
        run(f, commands, state)
    assert len(state.begun) == 1
