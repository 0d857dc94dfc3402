"""The causes of an end: one enum of causes and one value that carries the cause with its numbers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import NamedTuple


class Code(IntEnum):
    """Cause of an end. The hundreds name the layer; numbers equal those in ``handiwork_msgs/msg/Outcome``.

    Zero is the value of an unset message field, so zero never means success.
    """

    UNSET = 0
    OK = 1
    # Ended by a request.
    CANCELED = 2
    PREEMPTED = 3
    SHUTDOWN = 4
    TIME_RESET = 5
    TIMED_OUT = 6
    # The goal itself.
    BAD_GOAL = 100
    UNKNOWN_OBJECT = 101
    UNKNOWN_FRAME = 102
    BAD_NUMBER = 103
    CONTRADICTION = 104
    BUSY = 105
    NOT_ACTIVE = 106
    NO_CANDIDATE = 107
    # Planning.
    PLAN_FAILED = 200
    START_IN_COLLISION = 201
    GOAL_IN_COLLISION = 202
    NO_IK = 203
    JOINT_LIMIT = 204
    PATH_BLOCKED = 205
    PLAN_BUDGET = 206
    UNSUPPORTED = 207
    TRAJECTORY_REFUSED = 208
    PLANNER_LOST = 209
    ARM_IN_THE_WAY = 210
    # Motion.
    NOT_REACHED = 300
    PATH_TOLERANCE = 301
    GOAL_TOLERANCE = 302
    CONTROLLER_REFUSED = 303
    ROBOT_LOST = 304
    UNRESPONSIVE = 305
    PROTECTIVE_STOP = 306
    EMERGENCY_STOP = 307
    CONTACT = 308
    ROBOT_STOPPED = 309
    # World and perception.
    STALE_WORLD = 400
    OBJECT_MOVED = 401
    NOT_IN_PLACE = 402
    # Gripper.
    NOTHING_GRASPED = 500
    OBJECT_DROPPED = 501
    GRIPPER_FAILED = 502
    # Control flow of a task.
    CONDITION_FALSE = 600
    CONDITION_UNKNOWN = 601
    LOOP_BOUND = 602
    # Faults of the program.
    INTERNAL = 900


class BodyPair(NamedTuple):
    """Two bodies that touch. Robot links are ``<robot>/<link>``, objects have their name."""

    a: str
    b: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a step: ``code`` decides; the rest explains it.

    Attributes:
        code: The cause.
        message: The cause in words.
        stage: Stage of the skill in which it occurred.
        field_name: The goal field at fault.
        blocking: The bodies that touch.
        position_error_m: Distance from the target, m; nan where none applies.
        angle_error_rad: Angle from the target, rad; nan where none applies.
        others: Further faults of a goal.
    """

    code: Code
    message: str = ""
    stage: str = ""
    field_name: str = ""
    blocking: BodyPair | None = None
    position_error_m: float = field(default=float("nan"))
    angle_error_rad: float = field(default=float("nan"))
    others: tuple[Outcome, ...] = ()

    @property
    def ok(self) -> bool:
        """True when the step succeeded."""
        return self.code is Code.OK

    @property
    def all(self) -> tuple[Outcome, ...]:
        """This outcome without its others, followed by the others."""
        return (replace(self, others=()), *self.others)

    def in_one(self) -> Outcome:
        """Return this outcome with the messages of all of them, for a channel that carries only one."""
        return replace(self, message=" | ".join(one.message for one in self.all), others=())


OK = Outcome(Code.OK)
