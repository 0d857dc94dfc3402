"""The policy after a failure: end, take another candidate while nothing was touched, or grasp once more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from typing import Protocol, runtime_checkable

from handiwork_core.contracts.commands import (
    CloseGripper,
    Command,
    DetachObject,
    Function,
    Motion,
    OpenGripper,
)
from handiwork_core.contracts.skill import Context
from handiwork_core.model.outcome import Code


class Recovery(Enum):
    """Values of the goal field ``recovery``."""

    GIVE_UP = "give_up"
    NEXT_CANDIDATE = "next_candidate"
    REGRASP = "regrasp"


class CandidateTest(Enum):
    """Values of the goal field ``test_mode``; both avoid obstacles."""

    FORWARD = "forward"
    IK = "ik"


@runtime_checkable
class Recovering(Protocol):
    """Parameters that name a policy; a run without one takes the next of ``DEFAULT_ATTEMPTS`` candidates."""

    @property
    def recovery(self) -> str:
        """The policy, a value of ``Recovery``."""
        ...

    @property
    def max_attempts(self) -> int:
        """The number of candidates, or of grasps, that are tried in all."""
        ...


DEFAULT_ATTEMPTS = 3
UNREACHED = (Code.PLAN_FAILED, Code.PATH_BLOCKED, Code.PLAN_BUDGET, Code.GOAL_IN_COLLISION, Code.NO_IK)
"""Refusals of a plan after which another candidate may succeed."""
LOST = (Code.NOTHING_GRASPED, Code.OBJECT_DROPPED, Code.OBJECT_MOVED, Code.NOT_IN_PLACE)
"""Failures that a new grasp, in the world as it is now, may correct."""


def policy_of(params: object) -> tuple[Recovery, int]:
    """Return the policy and the number of attempts of a run.

    Args:
        params: Parameters of a skill, which may be ``Recovering``.

    Returns:
        The policy, and the number of candidates or grasps that are tried in all.
    """
    if isinstance(params, Recovering):
        return Recovery(params.recovery), params.max_attempts
    return Recovery.NEXT_CANDIDATE, DEFAULT_ATTEMPTS


def plans_approach(params: object) -> bool:
    """Return True when the free motion to a candidate is planned before the candidate is taken.

    Args:
        params: Parameters of a skill, which may have the field ``test_mode``.
    """
    return getattr(params, "test_mode", None) == CandidateTest.FORWARD.value


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


def _retreat(walked: Sequence[Command], function: Function, touching: frozenset[str]) -> tuple[Command, ...]:
    moves = [c for c in walked if c.world_T_ee is not None]
    free = [c for c in moves if c.motion is Motion.FREE]
    if not free or moves[-1].motion is Motion.FREE:
        return ()
    touching = touching.union(*(move.touching for move in moves))
    back = replace(
        moves[-1], stage="recover", function=function, world_T_ee=free[-1].world_T_ee, q=free[-1].q
    )
    return (replace(back, motion=Motion.STRAIGHT, touching=touching, planned=None, dwell_s=0.0),)
