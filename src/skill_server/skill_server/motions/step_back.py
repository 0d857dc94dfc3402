"""The commands by which an arm steps back after a failed attempt, along the straight motions that it came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from handiwork_core.contracts.commands import (
    CloseGripper,
    Command,
    DetachObject,
    Function,
    Motion,
    OpenGripper,
    UpdateSpecific,
)
from handiwork_core.contracts.skill import Context


def way_back(walked: Sequence[Command], context: Context) -> tuple[Command, ...]:
    """Make the commands that let go of the held objects and retreat along the straight motions that led here.

    Args:
        walked: Commands that were executed, in order.
        context: Context of the run.

    Returns:
        Opening and detaching; then one straight motion to the end of the last free motion. The motion is left out
        where the last motion was free, or none was.
    """
    let_go = (Command("recover", OpenGripper()), *(Command("recover", DetachObject(n)) for n in context.held))
    return (*let_go, *_retreat(walked, OpenGripper(), frozenset()))


def way_back_holding(walked: Sequence[Command], touching: frozenset[str]) -> tuple[Command, ...]:
    """Make the commands that retreat along the straight motions that led here, with the object in the hand.

    Args:
        walked: Commands that were executed, in order.
        touching: Objects that the held one may touch where it is now.

    Returns:
        One straight motion to the end of the last free motion; nothing where the last motion was free, or none was.
    """
    return _retreat(walked, CloseGripper(), touching)


def way_back_to_free(walked: Sequence[Command], touching: frozenset[str]) -> tuple[Command, ...]:
    """Make the command that retreats along the straight motions that led here, with the gripper as it is.

    Args:
        walked: Commands that were begun, in order.
        touching: Objects that the held one may touch where it is now.

    Returns:
        One straight motion to the end of the last free motion; nothing where the last motion was free, or none was.
    """
    ignored = [c.function for c in walked if isinstance(c.function, UpdateSpecific)]
    return _retreat(walked, ignored[-1] if ignored else UpdateSpecific(frozenset()), touching)


def _retreat(walked: Sequence[Command], function: Function, touching: frozenset[str]) -> tuple[Command, ...]:
    moves = [c for c in walked if c.world_T_ee is not None]
    free = [c for c in moves if c.motion is Motion.FREE]
    if not free or moves[-1].motion is Motion.FREE:
        return ()
    touching = touching.union(*(move.touching for move in moves))
    back = replace(
        moves[-1], stage="recover", function=function, world_T_ee=free[-1].world_T_ee, q=free[-1].q
    )
    back = replace(back, motion=Motion.STRAIGHT, touching=touching, planned=None, dwell_s=0.0, path=())
    # The force of a contact falls on the way back, and would end it.
    return (replace(back, stop_force_n=0.0, tool_speed=0.0),)
