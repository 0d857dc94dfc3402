"""The functions of the command list.

Gripper, attachments, constraints, direct joint motion.
"""

from __future__ import annotations

from dataclasses import replace

from handiwork_core.contracts.commands import (
    AttachObject,
    AwaitObject,
    CloseGripper,
    Command,
    DetachObject,
    DriveBase,
    DummyForward,
    ExpectJoint,
    OpenGripper,
    UpdatePoseCostMetric,
    UpdateSpecific,
)
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.robot import GripperSpec
from skill_server.motions.quintic_motion import quintic
from skill_server.state import gripper_state
from skill_server.state.deadline import Deadline

from .base_drive import drive
from .motion_steps import ARRIVAL_S, POLL_S, MotionSteps
from .waits import await_object, expect_joint

OPEN_TOLERANCE_M = 0.005


class CommandFunctions:
    """Runs the function of a command. The last gripper command is latched: repeating it does nothing.

    ``touched``: the hand closed, or opened on what it held.
    """

    def __init__(self, context: Context, steps: MotionSteps) -> None:
        self._context, self._steps = context, steps
        self.touched = False
        gripper = context.arm_spec.gripper
        self._latched: float | None = gripper.min_width_m if gripper is not None and context.held else None

    def run(self, command: Command) -> None:
        """Do it; the arm is where the command wants it."""
        function, context = command.function, self._context
        if isinstance(function, UpdatePoseCostMetric):
            self._steps.hold_vec_weight = function.hold_vec_weight
        elif isinstance(function, UpdateSpecific):
            self._steps.ignored = function.ignored
        elif isinstance(function, OpenGripper):
            self._open(function.width_m, command.stage)
        elif isinstance(function, CloseGripper):
            self._grip(self._gripper().min_width_m, command.stage)
        elif isinstance(function, AttachObject):
            self._attach(function.object, command.stage)
        elif isinstance(function, DetachObject):
            context.held.pop(function.object, None)
            context.released = function.object
        elif isinstance(function, AwaitObject):
            await_object(function, context, self._steps, command.stage)
        elif isinstance(function, ExpectJoint):
            expect_joint(function, context, self._steps, command.stage)
        elif isinstance(function, DriveBase):
            drive(function, context, self._steps, command.stage, command.speed)
        else:
            self._direct(function, command)

    def _gripper(self) -> GripperSpec:
        gripper = self._context.arm_spec.gripper
        if gripper is None:
            raise StepFailed(
                Outcome(Code.BAD_GOAL, f"arm {self._context.arm_spec.name!r} has no gripper", "", "arm")
            )
        return gripper

    def _grip(self, width_m: float, stage: str) -> bool:
        """Send the gripper to a width; False when it was sent there already."""
        if self._latched == width_m:
            return False
        context = self._context
        context.token.check()
        self._steps.check_targets()
        outcome = context.gripper.move(width_m, should_stop=context.token.is_set)
        context.token.check()
        if not outcome.ok:
            raise StepFailed(replace(outcome, stage=stage))
        self._latched = width_m
        self.touched = self.touched or bool(context.held) or width_m == self._gripper().min_width_m
        return True

    def _open(self, width_m: float | None, stage: str) -> None:
        gripper = self._gripper()
        wanted = gripper.max_width_m if width_m is None else width_m
        self._steps.watch.on = False
        self._note_release()
        if not self._grip(wanted, stage):
            return
        deadline = Deadline(self._context.clock, ARRIVAL_S)
        while (
            width := gripper_state.width_m(world := self._steps.world(), gripper)
        ) < wanted - OPEN_TOLERANCE_M:
            if deadline.is_past(world):
                text = f"the gripper opened to {width * 1e3:.0f} mm instead of {wanted * 1e3:.0f} mm; free the fingers"
                raise StepFailed(Outcome(Code.GRIPPER_FAILED, text, stage))
            self._steps.pause(POLL_S)

    def _note_release(self) -> None:
        """Remember how high the object is that the hand is about to let go."""
        states = self._steps.world().states
        for name in self._context.held:
            if name in states:
                self._context.release_height_m = float(states[name].world_T_object.translation_m[2])

    def _attach(self, name: str, stage: str) -> None:
        """Record how the hand holds the object, once it is measured to hold it."""
        context, gripper = self._context, self._gripper()
        deadline = Deadline(context.clock, ARRIVAL_S)
        while not (
            found := gripper_state.holds(world := self._steps.world(), context.robot, gripper, name)
        ).ok:
            if deadline.is_past(world):
                raise StepFailed(replace(found, stage=stage))
            self._steps.pause(POLL_S)
        world, base = self._steps.world(), context.world.world_T_base()
        context.held[name] = gripper_state.attachment(world, context.robot, context.arm_spec, base, name)
        self._steps.target_is_free = False
        self._steps.watch.on = True

    def _direct(self, function: DummyForward, command: Command) -> None:
        context, params = self._context, self._steps.params
        velocity = params.max_velocity_scaling_factor * command.speed
        acceleration = params.max_acceleration_scaling_factor * command.speed

        def plan(q: Array) -> Trajectory:
            return quintic(context.robot, context.arm_spec, q, function.q, velocity, acceleration)

        self._steps.go(plan, self._steps.scene_now(command.touching), command.stage)
