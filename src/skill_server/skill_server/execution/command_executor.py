"""Executes a list of commands on an arm: the one place that makes an ``ExecutionState`` and hands it on."""

from __future__ import annotations

from collections.abc import Sequence

from handiwork_core.contracts.commands import (
    AttachObject,
    AwaitObject,
    CloseGripper,
    Command,
    CommandFunction,
    DetachObject,
    DriveBase,
    DummyForward,
    ExpectJoint,
    Function,
    NavigateBase,
    OpenGripper,
    UpdatePoseCostMetric,
    UpdateSpecific,
)
from handiwork_core.contracts.skill import Context, PeakSpeeds, StepFailed
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from skill_server.params.protocol import RunParams

from . import gripper_commands
from .arm_mover import ArmMover
from .base_drive import drive, navigate
from .command_judge import CommandJudge, plain_judge
from .execution_state import ExecutionState
from .grasp_monitor import GraspMonitor
from .measurement import check_targets, pause
from .stage_log import StageLog
from .waits import await_object, expect_joint, settled_world


class CommandExecutor:
    """Executes one command list: moves for each command, does its function, and waits.

    Data goes one way: the list comes in, each function gets the state as an argument, and ``state`` is read by the
    caller afterwards, also after a failure.
    """

    def __init__(
        self,
        params: RunParams,
        context: Context,
        log: StageLog,
        state: ExecutionState,
        judge: CommandJudge | None = None,
    ) -> None:
        self._params, self._context, self._log, self._state = params, context, log, state
        self._judge = judge or plain_judge(params)
        state.take_params(params)
        self._monitor = GraspMonitor(context, state)
        self._mover = ArmMover(params, context, self._monitor, self._judge)

    def execute(self, commands: Sequence[Command]) -> None:
        """Do all of them in order, or as many as the skill needs by its ``is_done``.

        Args:
            commands: The list, each command with the stage that it is reported in.

        Raises:
            StepFailed: A command failed; the arm may have stopped anywhere.
            Stopped: The token was set.
        """
        _refuse_unknown(commands)
        self._context.fastest, self._context.contact = PeakSpeeds(), None
        self._report_touched()
        for done, command in enumerate(commands, 1):
            self._context.token.check()
            self._log.enter(command.stage)
            self._state.begun.append(command)
            if command.world_T_ee is not None:
                self._mover.move(command, self._state)
                self._log.planned()
            elif not _lets_go(command.function):
                self._monitor.check(command.stage)
            self._do(command)
            self._report_touched()
            if command.dwell_s > 0.0:
                pause(self._context, command.dwell_s)
            if self._judge.is_done(commands[done:], self._context):
                return

    def settled_world(self) -> World:
        """Return the world once it has come to rest after the last command; see ``waits.settled_world``.

        Raises:
            StepFailed: OBJECT_DROPPED, or STALE_WORLD.
            Stopped: The token was set.
        """
        return settled_world(self._context, self._monitor, self._log.stage)

    def _do(self, command: Command) -> None:
        """Do the function; the arm is where the command wants it."""
        context, state, stage = self._context, self._state, command.stage
        match command.function:
            case UpdatePoseCostMetric(hold_vec_weight):
                state.hold_vec_weight = hold_vec_weight
            case UpdateSpecific(ignored):
                state.ignored = ignored
            case OpenGripper(width_m):
                gripper_commands.open_gripper(width_m, context, state, stage)
            case CloseGripper(force_n):
                gripper_commands.close_gripper(context, state, stage, force_n)
            case AttachObject(name):
                gripper_commands.attach(name, context, state, stage)
            case DetachObject(name):
                gripper_commands.detach(name, context)
            case AwaitObject() as function:
                await_object(function, context, stage, lambda: check_targets(context, state))
            case ExpectJoint() as function:
                expect_joint(function, context, stage)
            case DriveBase() as function:
                drive(function, command, self._params, context, self._monitor)
            case NavigateBase() as function:
                navigate(function, command, context, self._monitor)
            case DummyForward() as function:
                self._mover.move_directly(function, command, state)
            case CommandFunction() as function:
                self._do_own(function, stage)

    def _do_own(self, function: CommandFunction, stage: str) -> None:
        """Do a function of a package's own; nothing is known afterwards of where it left the gripper."""
        context, state = self._context, self._state
        if function.acts:
            check_targets(context, state)
        if function.lets_go:
            state.keeps_hold = False
        function.execute(context, stage)
        context.token.check()
        state.gripper_m = None
        state.is_touched |= function.acts

    def _report_touched(self) -> None:
        """Tell the other arms whether this one can still go home and start over."""
        if self._context.right_of_way is not None:
            self._context.right_of_way.mark_irreversible(self._state.is_touched)


def _lets_go(function: Function) -> bool:
    return isinstance(function, OpenGripper) or (isinstance(function, CommandFunction) and function.lets_go)


def _refuse_unknown(commands: Sequence[Command]) -> None:
    """Refuse a list with a function that nothing executes, before anything moves."""
    for command in commands:
        if not isinstance(command.function, Function):
            text = (
                f"the function {command.function!r} of {command.stage!r} is no command function; use one of "
                "handiwork's, or extend handiwork.CommandFunction"
            )
            raise StepFailed(Outcome(Code.INTERNAL, text, command.stage))
