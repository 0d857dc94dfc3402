"""The way of a hand from an object that it lets go, or that it failed to take."""

from __future__ import annotations

from handiwork_core.contracts.composite import SkillStep, Steps
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.outcome import OK, Code
from skill_server.params.retry_policy import UNREACHED

from .hand_step import HandStep, release, retreat
from .params import BACK, TwoHandParams

REFUSED = {Code.NO_CANDIDATE, Code.JOINT_LIMIT, Code.ARM_IN_THE_WAY, *UNREACHED}
"""Failures of a retreat after which a shorter one may be possible: nothing has moved."""


def leave(
    label: str,
    params: TwoHandParams,
    name: str,
    context: Context,
    *,
    gives: bool,
    left: int = 0,
    arm: str = "",
) -> Steps:
    """Open a hand, and bring it straight back from the object, by less where the whole way is refused.

    Args:
        label: Name of the steps.
        params: Parameters of the goal.
        name: The object.
        context: Context of the arm.
        gives: True where this hand held the object.
        left: Number of steps that are expected to follow.
        arm: Name of the arm where it is a further one of the goal.

    Raises:
        StepFailed: The hand did not open, or cannot leave.
    """
    yield from let_go(label, params, name, gives=gives, left=left + 1, arm=arm)
    yield from go_back(label, params, name, context, left=left, arm=arm)


def let_go(
    label: str, params: TwoHandParams, name: str, *, gives: bool, left: int = 0, arm: str = ""
) -> Steps:
    """Open a hand; see ``leave``.

    Args:
        label: Name of the step.
        params: Parameters of the goal.
        name: The object.
        gives: True where this hand held the object.
        left: Number of steps that are expected to follow.
        arm: Name of the arm where it is a further one of the goal.

    Raises:
        StepFailed: The hand did not open.
    """
    opened = yield SkillStep(label, HandStep(), release(params, name, gives=gives), left, arm)
    if not opened.ok:
        raise StepFailed(opened)


def go_back(
    label: str, params: TwoHandParams, name: str, context: Context, *, left: int = 0, arm: str = ""
) -> Steps:
    """Bring an open hand straight back; see ``leave``.

    Args:
        label: Name of the steps.
        params: Parameters of the goal.
        name: The object.
        context: Context of the arm.
        left: Number of steps that are expected to follow.
        arm: Name of the arm where it is a further one of the goal.

    Raises:
        StepFailed: The hand cannot leave.
    """
    moved = OK
    for first in range(len(BACK)):
        moved = yield SkillStep(label, HandStep(), retreat(params, name, context, first), left, arm)
        if moved.ok or moved.code not in REFUSED:
            break
    if not moved.ok:
        raise StepFailed(moved)
