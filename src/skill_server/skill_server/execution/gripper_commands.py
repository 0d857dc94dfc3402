"""Commands to the gripper, and the record of what it holds."""

from __future__ import annotations

from dataclasses import replace

from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.thresholds import SAME_OPENING_M
from handiwork_core.robot.robot import GripperSpec
from skill_server.state import gripper_state
from skill_server.state.deadline import MeasurementDeadline

from .execution_state import ExecutionState
from .measurement import ARRIVAL_S, POLL_S, check_targets, fresh_world, pause


def open_gripper(width_m: float | None, context: Context, state: ExecutionState, stage: str) -> None:
    """Open, and return once the opening is measured. What is held may leave the hand from now on.

    Args:
        width_m: Opening [m]; None for the gripper's greatest.
        context: Ports of the run; takes how high the held object is right before.
        state: Takes the width; one that was sent already is not sent again. It has no targets any more once the hand
            lets go of what it held.
        stage: Stage of the command, for failures.

    Raises:
        StepFailed: There is no gripper, it did not open, or a target has moved; with the cause.
        Stopped: The token was set.
    """
    gripper = _gripper_of(context)
    wanted_m = gripper.max_width_m if width_m is None else width_m
    state.keeps_hold = False
    _note_release(context)
    if not _send(wanted_m, context, state, stage):
        return
    if context.held:
        state.targets = ()  # the fingers that let go may push the container, which matters no more
    deadline = MeasurementDeadline(context.clock, ARRIVAL_S)
    while True:
        world = fresh_world(context)
        measured_m = gripper_state.width_m(world, gripper)
        # A width that is not measured is nan, which is not too small.
        if not measured_m < wanted_m - SAME_OPENING_M:
            return
        if deadline.is_past(world):
            text = (
                f"the gripper opened to {measured_m * 1e3:.0f} mm instead of {wanted_m * 1e3:.0f} mm; "
                "free the fingers"
            )
            raise StepFailed(Outcome(Code.GRIPPER_FAILED, text, stage))
        pause(context, POLL_S)


def close_gripper(context: Context, state: ExecutionState, stage: str, force_n: float = 0.0) -> None:
    """Close until the fingers stall.

    Args:
        context: Ports of the run.
        state: Takes the width and the force; one that is closed is not closed again but with another force.
        stage: Stage of the command, for failures.
        force_n: Largest force of a finger, N; 0: the gripper's greatest.

    Raises:
        StepFailed: There is no gripper, it failed, or a target has moved; with the cause.
        Stopped: The token was set.
    """
    _send(_gripper_of(context).min_width_m, context, state, stage, force_n)


def attach(name: str, context: Context, state: ExecutionState, stage: str) -> None:
    """Record how the hand holds the object, once it is measured to hold it. From now on it must not be lost.

    Args:
        name: The object.
        context: Ports of the run; takes the record.
        state: Takes that the object is no target any more, and must stay in the hand.
        stage: Stage of the command, for failures.

    Raises:
        StepFailed: The gripper does not hold the object; with the reason.
        Stopped: The token was set.
    """
    gripper = _gripper_of(context)
    deadline = MeasurementDeadline(context.clock, ARRIVAL_S)
    while True:
        world = fresh_world(context)
        found = gripper_state.holds(world, context.robot, gripper, name)
        if found.ok:
            break
        if deadline.is_past(world):
            raise StepFailed(replace(found, stage=stage))
        pause(context, POLL_S)
    base = context.world.world_T_base()
    context.held[name] = gripper_state.attachment(world, context.robot, context.arm_spec, base, name)
    state.targets = ()
    state.keeps_hold = True


def detach(name: str, context: Context) -> None:
    """Record that the hand let go of the object.

    Args:
        name: The object.
        context: Takes the record.
    """
    context.held.pop(name, None)
    context.released = name


def _gripper_of(context: Context) -> GripperSpec:
    gripper = context.arm_spec.gripper
    if gripper is None:
        text = f"arm {context.arm_spec.name!r} has no gripper"
        raise StepFailed(Outcome(Code.BAD_GOAL, text, "", "arm"))
    return gripper


def _send(width_m: float, context: Context, state: ExecutionState, stage: str, force_n: float = 0.0) -> bool:
    """Send the gripper to a width; False when it was sent there already, with the force that the command asks for."""
    if state.gripper_m == width_m and force_n in (0.0, state.grip_n):
        return False
    context.token.check()
    check_targets(context, state)
    outcome = context.gripper.move(width_m, force_n=force_n, should_stop=context.token.is_set)
    context.token.check()
    if not outcome.ok:
        raise StepFailed(replace(outcome, stage=stage))
    state.gripper_m, state.grip_n = width_m, force_n
    state.is_touched |= bool(context.held) or width_m == _gripper_of(context).min_width_m
    return True


def _note_release(context: Context) -> None:
    """Remember how high the object is that the hand is about to let go."""
    states = fresh_world(context).states
    for name in context.held:
        if name in states:
            context.release_height_m = float(states[name].world_T_object.translation_m[2])
