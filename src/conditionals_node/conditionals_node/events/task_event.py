"""Events of a task, and the limits from which they are reported."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum


class EventCode(IntEnum):
    """Numbers equal those in ``handiwork_msgs/msg/TaskEvent``."""

    WRONG_OBJECT_GRABBED = 250
    GRIPPER_HIT_TABLE = 255
    GRIPPER_FULLY_CLOSED = 256
    WRONG_OBJECT_DETACHED = 257
    OBJECT_BUMPED = 258
    OBJECT_MOVED = 259
    OBJECT_OUT_OF_SCENE = 260
    OBJECT_STARTED_MOVING = 261
    OBJECT_TIPPED_OVER = 262
    TARGET_OBJECT_DROPPED = 263
    GRIPPER_HIT_OBJECT = 264
    MULTIPLE_OBJECTS_GRABBED = 265
    # Steps of the task itself.
    CONDITION_GAINED = 300
    CONDITION_LOST = 301
    SUBTASK_DONE = 302
    TASK_DONE = 303
    TASK_CONFIRMED = 304
    TASK_LOST = 305


@dataclass(frozen=True, slots=True)
class EventRules:
    """The limits of events.

    Attributes:
        bump_m: Way of an object that is not intended from which it was bumped, m.
        move_m: Way from which it was moved, m.
        moving_mps: Speed above which an object moves, m/s.
        tip_rad: Tilt above which an object of ``upright`` has tipped over, rad.
        closed_share: Share of its way from which the gripper is fully closed, more than 0, at most 1.
        centre_m: Centre of the box that objects must not leave, (3,) in world, m.
        size_m: Edges of this box, m.
        grow_scene: True to let this box grow, until it has the places where objects and goals were first seen, with
            ``ROOM_M`` around them.
        merge_s: Time within which the same event on the same object is reported once, s.
        closing_on_object: True to report a fully closed gripper also while it holds something.
        rearm: True when an object that is back may leave, tip or be hit again.
        tell_starts: True to report when pushed objects begin to move.
        upright: Objects that must not tip over.
    """

    bump_m: float = 0.05
    move_m: float = 0.5
    moving_mps: float = 0.05
    tip_rad: float = 0.3
    closed_share: float = 0.98
    centre_m: tuple[float, float, float] = (0.55, 0.0, 0.5)
    size_m: tuple[float, float, float] = (2.0, 2.0, 2.0)
    grow_scene: bool = True
    merge_s: float = 2.0
    closing_on_object: bool = False
    rearm: bool = True
    tell_starts: bool = False
    upright: tuple[str, ...] = ()
    surfaces: tuple[str, ...] = ("table",)
    """Objects that others stand on: touching them is no grasp, and they never move."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.bump_m <= self.move_m:
            raise ValueError(f"bump_m: is {self.bump_m:g}; write 0 to move_m, which is {self.move_m:g}")
        for name in ("moving_mps", "tip_rad", "merge_s"):
            if getattr(self, name) < 0.0:
                raise ValueError(f"{name}: is {getattr(self, name):g}; write 0 or more")
        if not 0.0 < self.closed_share <= 1.0:
            raise ValueError(f"closed_share: is {self.closed_share:g}; write more than 0, at most 1")
        if min(self.size_m) <= 0.0:
            raise ValueError(f"size_m: is {self.size_m}; write three edges of more than 0")


@dataclass(frozen=True, slots=True)
class Event:
    """One event.

    Attributes:
        code: Its kind.
        stamp_s: Time of its detection, s.
        subject: The object or the group that it is about; empty where there is none.
        message: One sentence.
        value: The number that decided; nan where there is none.
        onset_s: Time at which it began, s: a push is detected at its end.
    """

    code: EventCode
    stamp_s: float
    subject: str
    message: str
    value: float = math.nan
    onset_s: float = math.nan
