"""Ways of a mobile base that its own controller drives: a few straight motions, each checked, to a pose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from handiwork_core.contracts.commands import Command, DriveBase
from handiwork_core.contracts.planning import Verdict
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World

from .base_motion import base_of, base_q, in_range, straight_verdict

SIDESTEPS_M = (0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.0, -2.0)
"""Distances to the left of the straight line at which a way runs beside it, m."""
SAME = 1e-6
"""Way points nearer to the one before are left out, m or rad."""


def ways_between(start: Array, goal: Array) -> Iterator[list[Array]]:
    """Yield the ways that are tried, the shortest first.

    Straight to the goal with the turn on the way, before it or behind it; then along x and y; then beside the straight
    line. The latter turn before they drive, or at the end.

    Args:
        start: x, y [m] and yaw [rad], (3,).
        goal: The same at the end, (3,).

    Yields:
        The ends of the straight motions, each (3,), in order; the last one is the goal.
    """
    yield _ends(start, [goal])
    places = [
        [goal[:2]],
        [np.array([goal[0], start[1]]), goal[:2]],
        [np.array([start[0], goal[1]]), goal[:2]],
    ]
    way = goal[:2] - start[:2]
    length = float(np.hypot(*way))
    if length > SAME:
        left = np.array([-way[1], way[0]]) / length
        places += [[start[:2] + side * left, goal[:2] + side * left, goal[:2]] for side in SIDESTEPS_M]
    yaws = (goal[2], start[2]) if abs(goal[2] - start[2]) > SAME else (goal[2],)
    for through in places:
        for yaw in yaws:
            yield _ends(start, [np.array([*xy, yaw]) for xy in (start[:2], *through)] + [goal])


def _ends(start: Array, ends: Sequence[Array]) -> list[Array]:
    """Return the ends without those that lie where the one before lies, at least one."""
    kept, here = list[Array](), start
    for end in ends:
        if np.abs(end - here).max() > SAME:
            kept.append(end)
            here = end
    return kept or [ends[-1]]


def ways_to(goal: Array, ignored: frozenset[str], context: Context, world: World) -> Sequence[Command]:
    """Make the commands of the first way on which nothing is in the way of the robot and of what it holds.

    Args:
        goal: x, y [m] and yaw [rad], (3,).
        ignored: Objects that are no obstacles.
        context: Context of the run, with a base.
        world: Snapshot of the world.

    Returns:
        One command for each straight motion.

    Raises:
        StepFailed: PATH_BLOCKED with the bodies that meet on the straight way, when no way is free.
    """
    start = base_q(context.robot, world.joints.position)
    first: Verdict | None = None
    tried = 0
    for way in ways_between(start, goal):
        context.token.check()
        if not all(in_range(("x", "y", "yaw"), context.robot, end).ok for end in way):
            continue
        verdict = _verdict(start, way, ignored, context, world)
        if verdict.code is Code.OK:
            names = ["drive"] if len(way) == 1 else [f"drive {i}" for i in range(1, len(way) + 1)]
            return [Command(name, DriveBase(end, ignored)) for name, end in zip(names, way, strict=True)]
        first, tried = first or verdict, tried + 1
    assert first is not None
    text = (
        f"{first.message}, and none of {tried} ways beside that is free; clear it, or drive by several goals"
    )
    if base_of(context.robot).navigation is None:
        text += ", or name navigate_action in robot.yaml if nav2 drives this base"
    raise StepFailed(Outcome(Code.PATH_BLOCKED, text, "select", blocking=first.blocking))


def _verdict(
    start: Array, way: Sequence[Array], ignored: frozenset[str], context: Context, world: World
) -> Verdict:
    here = start
    for end in way:
        verdict = straight_verdict(here, end, ignored, context, world)
        if verdict.code is not Code.OK:
            return verdict
        here = end
    return verdict
