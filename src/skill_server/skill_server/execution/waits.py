"""Waits: for a joint of a part, for an object that moves, and for the world to come to rest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from handiwork_core.contracts.commands import AwaitObject, ExpectJoint
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from skill_server.articulation.parts import part_of
from skill_server.motions.conveyor import remaining_s
from skill_server.state.deadline import MeasurementDeadline

from .grasp_monitor import GraspMonitor
from .measurement import POLL_S, fresh_world, lost, pause

CATCH_UP_S = 0.5
"""Time of the robot's world in which the measured joint may come to where the hand has brought it."""
JOINT_POLL_S = 0.02
OBJECT_POLL_S = 0.01
SETTLE_S = 2.0
SETTLED_MPS = 0.02
NEW_WORLD_S = 0.1


def expect_joint(function: ExpectJoint, context: Context, stage: str) -> None:
    """Return once the measured joint is where it is expected.

    Args:
        function: Names the part, and the position of its joint.
        context: Ports of the run.
        stage: Stage of the command, for the failure.

    Raises:
        StepFailed: NOT_IN_PLACE with the measured position, when it stays behind.
        Stopped: The token was set.
    """
    until_s = context.clock.now_s() + CATCH_UP_S
    while True:
        part = part_of(function.part, fresh_world(context))
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
        pause(context, JOINT_POLL_S)


def await_object(function: AwaitObject, context: Context, stage: str, check: Callable[[], None]) -> None:
    """Return when the object comes.

    Args:
        function: Names the object, the point that it comes to, and how early to return.
        context: Ports of the run.
        stage: Stage of the command, for the failure.
        check: Raises where the object is not on its way as expected.

    Raises:
        StepFailed: OBJECT_MOVED when it is past, gone, or does not come in time; STALE_WORLD when its pose is not
            known any more.
        Stopped: The token was set.
    """
    end_s = context.clock.now_s() + function.timeout_s
    first = True
    while True:
        world = fresh_world(context)
        if function.object not in world.states:
            raise StepFailed(lost(function.object, world, stage))
        check()
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
        pause(context, OBJECT_POLL_S)


def settled_world(context: Context, monitor: GraspMonitor, stage: str) -> World:
    """Return the first world that is new and at rest, or the one after ``SETTLE_S``.

    Args:
        context: Ports of the run.
        monitor: Watches what is held meanwhile.
        stage: Stage of the last command, for the failure.

    Raises:
        StepFailed: OBJECT_DROPPED, or STALE_WORLD.
        Stopped: The token was set.
    """
    ended_s, fresh = context.clock.now_s(), MeasurementDeadline(context.clock, NEW_WORLD_S)
    while True:
        pause(context, POLL_S)
        monitor.check(stage)
        world = fresh_world(context)
        waited_s = context.clock.now_s() - ended_s
        if fresh.is_past(world) and (_is_at_rest(world) or waited_s > SETTLE_S):
            return world


def _is_at_rest(world: World) -> bool:
    speeds = (
        np.linalg.norm(s.world_v_object) for n, s in world.states.items() if not world.objects[n].is_static
    )
    return all(bool(speed < SETTLED_MPS) for speed in speeds)
