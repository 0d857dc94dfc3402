"""Waits of the command list: for a joint of a part, and for an object that moves."""

from __future__ import annotations

from handiwork_core.contracts.commands import AwaitObject, ExpectJoint
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.outcome import Code, Outcome
from skill_server.articulation.parts import part_of
from skill_server.motions.conveyor import remaining_s

from .motion_steps import MotionSteps

CATCH_UP_S = 0.5
"""Time of the robot's world in which the measured joint may come to where the hand has brought it."""
JOINT_POLL_S = 0.02
OBJECT_POLL_S = 0.01


def expect_joint(function: ExpectJoint, context: Context, steps: MotionSteps, stage: str) -> None:
    """Return once the measured joint is where it is expected.

    Raises:
        StepFailed: NOT_IN_PLACE with the measured position, when it stays behind.
    """
    until_s = context.clock.now_s() + CATCH_UP_S
    while True:
        part = part_of(function.part, steps.world())
        gap = abs(part.position - function.position)
        if gap <= function.within:
            return
        if context.clock.now_s() >= until_s:
            unit = part.joint.unit
            text = (
                f"{part.name!r} is at {part.position:.3f} {unit} where the hand should have brought it to "
                f"{function.position:.3f} {unit}; it is stuck, or the handle slipped"
            )
            raise StepFailed(Outcome(Code.NOT_IN_PLACE, text, stage))
        steps.pause(JOINT_POLL_S)


def await_object(function: AwaitObject, context: Context, steps: MotionSteps, stage: str) -> None:
    """Return when the object comes.

    Raises:
        StepFailed: OBJECT_MOVED when it is past, gone, or does not come in time.
    """
    end_s = context.clock.now_s() + function.timeout_s
    first = True
    while True:
        world = steps.world()
        if function.object not in world.states:
            raise StepFailed(Outcome(Code.OBJECT_MOVED, f"{function.object!r} is gone from the world", stage))
        left_s = remaining_s(world, function.object, function.world_p, context.clock.now_s())
        if first and left_s < 0.8 * function.lead_s:
            text = f"{function.object!r} came before the hand: {left_s:.2f} s were left of {function.lead_s:.2f} s"
            raise StepFailed(Outcome(Code.OBJECT_MOVED, text, stage))
        if left_s <= function.lead_s:
            return
        if context.clock.now_s() > end_s:
            text = f"{function.object!r} did not come within {function.timeout_s:.1f} s"
            raise StepFailed(Outcome(Code.OBJECT_MOVED, text, stage))
        first = False
        steps.pause(OBJECT_POLL_S)
