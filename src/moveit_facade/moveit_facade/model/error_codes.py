"""The values of ``moveit_msgs/msg/MoveItErrorCodes``, and the value that belongs to each code of Handiwork."""

from __future__ import annotations

from enum import IntEnum

from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.outcome import Code, Outcome


class ErrorCode(IntEnum):
    """The values of ``moveit_msgs/msg/MoveItErrorCodes`` 2.6.0."""

    SUCCESS = 1
    PLANNING_FAILED = -1
    INVALID_MOTION_PLAN = -2
    MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE = -3
    CONTROL_FAILED = -4
    TIMED_OUT = -6
    PREEMPTED = -7
    START_STATE_IN_COLLISION = -10
    START_STATE_VIOLATES_PATH_CONSTRAINTS = -11
    GOAL_IN_COLLISION = -12
    GOAL_VIOLATES_PATH_CONSTRAINTS = -13
    GOAL_CONSTRAINTS_VIOLATED = -14
    INVALID_GROUP_NAME = -15
    INVALID_GOAL_CONSTRAINTS = -16
    INVALID_ROBOT_STATE = -17
    INVALID_LINK_NAME = -18
    INVALID_OBJECT_NAME = -19
    FRAME_TRANSFORM_FAILURE = -21
    ROBOT_STATE_STALE = -23
    SENSOR_INFO_STALE = -24
    COMMUNICATION_FAILURE = -25
    START_STATE_INVALID = -26
    GOAL_STATE_INVALID = -27
    UNRECOGNIZED_GOAL_TYPE = -28
    CRASH = -29
    ABORT = -30
    NO_IK_SOLUTION = -31


VALUES = {
    Code.OK: ErrorCode.SUCCESS,
    Code.CANCELED: ErrorCode.PREEMPTED,
    Code.PREEMPTED: ErrorCode.PREEMPTED,
    Code.SHUTDOWN: ErrorCode.PREEMPTED,
    Code.TIME_RESET: ErrorCode.ABORT,
    Code.TIMED_OUT: ErrorCode.TIMED_OUT,
    Code.BAD_GOAL: ErrorCode.INVALID_GOAL_CONSTRAINTS,
    Code.UNKNOWN_OBJECT: ErrorCode.INVALID_OBJECT_NAME,
    Code.UNKNOWN_FRAME: ErrorCode.FRAME_TRANSFORM_FAILURE,
    Code.BAD_NUMBER: ErrorCode.INVALID_GOAL_CONSTRAINTS,
    Code.CONTRADICTION: ErrorCode.INVALID_GOAL_CONSTRAINTS,
    Code.BUSY: ErrorCode.COMMUNICATION_FAILURE,
    Code.NOT_ACTIVE: ErrorCode.COMMUNICATION_FAILURE,
    Code.NO_CANDIDATE: ErrorCode.PLANNING_FAILED,
    Code.PLAN_FAILED: ErrorCode.PLANNING_FAILED,
    Code.START_IN_COLLISION: ErrorCode.START_STATE_IN_COLLISION,
    Code.GOAL_IN_COLLISION: ErrorCode.GOAL_IN_COLLISION,
    Code.NO_IK: ErrorCode.NO_IK_SOLUTION,
    Code.JOINT_LIMIT: ErrorCode.GOAL_STATE_INVALID,
    Code.PATH_BLOCKED: ErrorCode.PLANNING_FAILED,
    Code.PLAN_BUDGET: ErrorCode.TIMED_OUT,
    Code.UNSUPPORTED: ErrorCode.UNRECOGNIZED_GOAL_TYPE,
    Code.TRAJECTORY_REFUSED: ErrorCode.INVALID_MOTION_PLAN,
    Code.PLANNER_LOST: ErrorCode.COMMUNICATION_FAILURE,
    Code.ARM_IN_THE_WAY: ErrorCode.PLANNING_FAILED,
    Code.ROBOT_LOST: ErrorCode.ROBOT_STATE_STALE,
    Code.STALE_WORLD: ErrorCode.SENSOR_INFO_STALE,
    Code.OBJECT_MOVED: ErrorCode.MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE,
    Code.INTERNAL: ErrorCode.CRASH,
}
"""Code of Handiwork -> value of MoveIt. Codes of motions and grippers that are not listed are CONTROL_FAILED."""


def value_of(code: Code) -> ErrorCode:
    """Return the value of MoveIt for a code of Handiwork.

    Args:
        code: The code.
    """
    return VALUES.get(code, ErrorCode.CONTROL_FAILED)


class RequestError(HandiworkError):
    """The end of a request of a client of MoveIt, with the value that is reported.

    Args:
        value: Value of ``MoveItErrorCodes``.
        message: One sentence: the thing, its value, what to do.
        source: The component that found it.
    """

    def __init__(self, value: ErrorCode, message: str, source: str = "move_group") -> None:
        super().__init__(Outcome(Code.BAD_GOAL, message))
        self.value, self.source = value, source


def error_of(outcome: Outcome, source: str) -> RequestError:
    """Return the error of an outcome that is not OK.

    Args:
        outcome: The outcome; bodies that touch and the goal's errors are in its message or are added to it.
        source: The component that it came from.
    """
    text = outcome.message or f"ended with {outcome.code.name} and without a reason"
    if outcome.blocking is not None and not all(body in text for body in outcome.blocking):
        text = f"{text} ({outcome.blocking.a!r} touches {outcome.blocking.b!r})"
    return RequestError(value_of(outcome.code), text, source)
