"""Snapshots that are new enough to act on, and pauses between two of them. Each looks at the token."""

from __future__ import annotations

import math
import time

from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from skill_server.following.expected_targets import TURNED_RAD, TargetChange

from .execution_state import ExecutionState

STALE_S = 1.0
"""Age of a snapshot in time of the robot's world."""
NEWER_S = 0.5
"""Steady time in which a newer one must come."""
LATE_S = 5.0
"""Steady time in which a snapshot of the present must come: messages are late on a busy machine."""
ARRIVAL_S = 0.5
"""Time of the robot's world for measurements to catch up with a finished motion."""
POLL_S = 0.02


class TargetMoved(StepFailed):
    """A target is not where the commands were chosen for; the arm is at rest, or stays where it is."""


def fresh_world(context: Context) -> World:
    """Return the newest snapshot, once it is new enough.

    A fast simulation puts much of its time between two messages, so age in its time alone proves nothing.

    Args:
        context: Ports of the run.

    Raises:
        StepFailed: STALE_WORLD when the snapshot is old and no newer one comes.
        Stopped: The token was set.
    """
    until = time.monotonic() + NEWER_S
    while True:
        context.token.check()
        world = context.world.snapshot()
        old = _old(context, world)
        if not old:
            return world
        if time.monotonic() >= until:
            raise StepFailed(Outcome(Code.STALE_WORLD, old))
        context.token.wait(POLL_S)


def world_since(context: Context, begin_s: float) -> World:
    """Return a snapshot of this time or later, so that what happened before is in it.

    Args:
        context: Ports of the run.
        begin_s: Time of the robot's world, s.

    Returns:
        The snapshot; after ``LATE_S`` without one, as ``fresh_world``.

    Raises:
        StepFailed: STALE_WORLD when the snapshot is old and no newer one comes.
        Stopped: The token was set.
    """
    until = time.monotonic() + LATE_S
    while context.world.snapshot().stamp_s < begin_s and time.monotonic() < until:
        context.token.check()
        context.token.wait(POLL_S)
    return fresh_world(context)


def _old(context: Context, world: World) -> str:
    """Name the part of the snapshot that is old, in words; empty when all is new."""
    stamps = {"world state": world.stamp_s}
    if world.contacts is not None:
        stamps["report of contacts"] = world.contacts_stamp_s
    for what, stamp_s in stamps.items():
        age = context.clock.now_s() - stamp_s
        if age > STALE_S:
            return f"the newest {what} is {age:.1f} s old; check its source"
    return ""


def pause(context: Context, seconds: float) -> None:
    """Wait in time of the robot's world.

    Args:
        context: Ports of the run.
        seconds: Length of the wait [s].

    Raises:
        Stopped: The token was set.
    """
    context.clock.sleep(seconds, should_stop=context.token.is_set)
    context.token.check()


def check_targets(context: Context, state: ExecutionState) -> None:
    """Refuse to go on when a target is not where the commands were chosen for.

    Args:
        context: Ports of the run.
        state: Names the targets, and where they are expected.

    Raises:
        TargetMoved: OBJECT_MOVED with both errors; STALE_WORLD where the pose of a target is not known any more.
        StepFailed: STALE_WORLD.
        Stopped: The token was set.
    """
    world = fresh_world(context)
    turn_rad = math.inf if state.following is None else TURNED_RAD
    change = state.expected.change(state.targets, world, state.tolerance_m, turn_rad)
    if change is not None:
        raise moved(change, world, state)


def lost(name: str, world: World, stage: str = "", field_name: str = "") -> Outcome:
    """Return the failure by an object that has no pose any more.

    Args:
        name: Its name.
        world: The world without its pose.
        stage: Stage of the failure.
        field_name: The goal field that names it.

    Returns:
        STALE_WORLD while the object is known, such as one whose camera was unplugged; else OBJECT_MOVED.
    """
    if name in world.objects:
        text = f"the pose of {name!r} is not known any more; check its camera or detector, then send the goal again"
        return Outcome(Code.STALE_WORLD, text, stage, field_name)
    text = f"{name!r} is gone from the world; send the goal again"
    return Outcome(Code.OBJECT_MOVED, text, stage, field_name)


def moved(change: TargetChange, world: World, state: ExecutionState) -> TargetMoved:
    """Return the failure by a target that moved.

    Args:
        change: The target.
        world: The world in which it was found.
        state: Names the goal field of each target.
    """
    field_name = state.target_fields.get(change.name, "")
    if change.is_gone:
        return TargetMoved(lost(change.name, world, field_name=field_name))
    how = f"moved by {change.gap_m * 1e3:.0f} mm"
    if change.gap_m <= state.tolerance_m:
        how = f"turned by {math.degrees(change.turn_rad):.0f} deg"
    text = f"{change.name!r} {how} since the motion was chosen; send the goal again"
    return TargetMoved(
        Outcome(
            Code.OBJECT_MOVED,
            text,
            field_name=field_name,
            position_error_m=change.gap_m,
            angle_error_rad=change.turn_rad,
        )
    )
