"""The refusal of a goal that must not start, with the code of its action result."""

from __future__ import annotations

from enum import IntEnum

from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.outcome import Code, Outcome


class ErrorCode(IntEnum):
    """Numbers equal those in control_msgs/action/FollowJointTrajectory; below -100 they are negated outcome codes."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5
    PROTECTIVE_STOP = -306
    EMERGENCY_STOP = -307
    CONTACT = -308


OUTCOMES = {
    ErrorCode.PROTECTIVE_STOP: Code.PROTECTIVE_STOP,
    ErrorCode.EMERGENCY_STOP: Code.EMERGENCY_STOP,
}
"""Causes of refused goals; all others are CONTROLLER_REFUSED."""


class GoalRefused(HandiworkError, ValueError):
    """A goal that must not start; the message names joint, value and limit.

    Args:
        code: Code for the action result.
        message: The reason.
    """

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(Outcome(OUTCOMES.get(code, Code.CONTROLLER_REFUSED), message))
        self.code = code
