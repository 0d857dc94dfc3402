"""The states of the safety layer and their transitions, in the terms of ISO 10218-1 and IEC 60204-1."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum, IntEnum

from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.outcome import Code, Outcome


class Mode(IntEnum):
    """The state of the layer. Numbers equal those in handiwork_msgs/msg/SafetyState."""

    NORMAL = 1
    REDUCED = 2
    PROTECTIVE_STOP = 3
    EMERGENCY_STOP = 4


class Cause(Enum):
    """The cause of a stop."""

    POSITION = "position"
    VELOCITY = "velocity"
    ACCELERATION = "acceleration"
    EFFORT = "effort"
    TOOL_SPEED = "tool_speed"
    ZONE = "zone"
    CONTACT_FORCE = "contact_force"
    HEARTBEAT = "heartbeat"
    FEEDBACK = "feedback"
    COMMAND = "command"
    REQUEST = "request"


MEASURED = frozenset({Cause.EFFORT, Cause.CONTACT_FORCE})
"""Causes with a force on the arm: the stop begins at the measured position, not at the command."""

SELF_RECOVERING = frozenset({Cause.HEARTBEAT})
"""Causes that end when the arm is at rest: its goal has ended, and the robot has no fault."""

STOP_CATEGORY = {Mode.PROTECTIVE_STOP: 2, Mode.EMERGENCY_STOP: 1}
"""Stop categories of IEC 60204-1: 2 brakes and holds under power, 1 brakes, after which power may be removed."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A limit that was exceeded.

    Attributes:
        cause: Kind of the limit.
        subject: Joint, arm, zone or node.
        value: Commanded or measured value, unit of the limit; nan where none applies.
        limit: The limit in force.
        text: One sentence for a person.
    """

    cause: Cause
    subject: str
    value: float
    limit: float
    text: str


@dataclass(frozen=True, slots=True)
class SafetyStatus:
    """The published state of the layer.

    Attributes:
        mode: Present state.
        violation: Cause of the stop in force; None while there is none.
        since_s: Begin of the mode, s of the plant's time.
        at_rest: True if the stopped arms are at rest.
        speed_scale: Share of the requested speed in the reduced mode.
        pressed: True while an emergency stop is held.
        protective_stops: Number since the start.
        emergency_stops: Number since the start.
    """

    mode: Mode = Mode.NORMAL
    violation: Violation | None = None
    since_s: float = 0.0
    at_rest: bool = True
    speed_scale: float = 1.0
    pressed: bool = False
    protective_stops: int = 0
    emergency_stops: int = 0

    @property
    def is_stopped(self) -> bool:
        """True in a protective or emergency stop."""
        return self.mode in STOP_CATEGORY

    @property
    def stop_category(self) -> int:
        """Stop category of IEC 60204-1; 0 while nothing is stopped."""
        return STOP_CATEGORY.get(self.mode, 0)

    @property
    def reason(self) -> str:
        """The reason of the stop and the remedy, for a person; empty while there is none."""
        if self.violation is None or not self.is_stopped:
            return ""
        if self.mode is Mode.EMERGENCY_STOP:
            return f"emergency stop: {self.violation.text}; release it, then call safety/reset and safety/recover"
        ends = "" if self.violation.cause in SELF_RECOVERING else "; call safety/recover once it is safe"
        return f"protective stop: {self.violation.text}{ends}"


class Refusal(HandiworkError, ValueError):
    """A request that the present state does not allow.

    Args:
        message: The reason and the remedy.
    """

    def __init__(self, message: str) -> None:
        super().__init__(Outcome(Code.BAD_GOAL, message))


class SafetyStateMachine:
    """Keeps the mode. A stop is latched; the more severe one takes precedence; leaving a stop moves nothing."""

    def __init__(self) -> None:
        self.status = SafetyStatus()

    def protective_stop(self, violation: Violation, now_s: float) -> bool:
        """Enter a protective stop; nothing changes in a stop that is in force.

        Args:
            violation: The cause.
            now_s: The plant's time, s.

        Returns:
            True if the mode changed.
        """
        if self.status.is_stopped:
            return False
        self._enter(Mode.PROTECTIVE_STOP, now_s, violation)
        self.status = replace(self.status, protective_stops=self.status.protective_stops + 1)
        return True

    def emergency_stop(self, source: str, now_s: float) -> bool:
        """Enter an emergency stop from any mode.

        Args:
            source: Name of the node or device that requested it.
            now_s: The plant's time, s.

        Returns:
            True if the mode changed.
        """
        if self.status.mode is Mode.EMERGENCY_STOP:
            return False
        text = f"requested by {source}"
        self._enter(Mode.EMERGENCY_STOP, now_s, Violation(Cause.REQUEST, source, math.nan, math.nan, text))
        self.status = replace(self.status, emergency_stops=self.status.emergency_stops + 1)
        return True

    def set_pressed(self, *, pressed: bool) -> None:
        """Record whether an emergency stop is held; ``emergency_stop`` enters the mode.

        Args:
            pressed: True while it is held.
        """
        self.status = replace(self.status, pressed=pressed)

    def set_at_rest(self, *, at_rest: bool, now_s: float) -> None:
        """Record whether the stopped arms are at rest; a stop whose cause ends with that is left.

        Args:
            at_rest: True if they are.
            now_s: The plant's time, s.
        """
        self.status = replace(self.status, at_rest=at_rest)
        status = self.status
        is_over = status.violation is not None and status.violation.cause in SELF_RECOVERING
        if at_rest and is_over and status.mode is Mode.PROTECTIVE_STOP:
            self._leave(now_s)

    def reset(self, now_s: float) -> None:
        """Acknowledge an emergency stop: a protective stop remains, which ``recover`` ends.

        Args:
            now_s: The plant's time, s.

        Raises:
            Refusal: There is no emergency stop, it is still held, or the arms still move.
        """
        status = self.status
        if status.mode is not Mode.EMERGENCY_STOP:
            raise Refusal(f"there is no emergency stop to reset; the state is {status.mode.name}")
        if status.pressed:
            raise Refusal("the emergency stop is still held: publish false on safety/emergency_stop first")
        if not status.at_rest:
            raise Refusal("the arms still move; reset once safety/state says at_rest")
        text = "the emergency stop was reset"
        violation = Violation(Cause.REQUEST, "safety/reset", math.nan, math.nan, text)
        self._enter(Mode.PROTECTIVE_STOP, now_s, violation)
        self.status = replace(self.status, at_rest=True)

    def recover(self, now_s: float, lasting: Violation | None) -> None:
        """End a protective stop; nothing moves by that, and ended goals stay ended.

        Args:
            now_s: The plant's time, s.
            lasting: The violation that lasts; None if the cause has ended.

        Raises:
            Refusal: There is no protective stop, the arms still move, or the cause lasts.
        """
        status = self.status
        if status.mode is Mode.EMERGENCY_STOP:
            raise Refusal("the emergency stop is latched: release it and call safety/reset first")
        if status.mode is not Mode.PROTECTIVE_STOP:
            raise Refusal(f"there is no protective stop to recover from; the state is {status.mode.name}")
        if not status.at_rest:
            raise Refusal("the arms still move; recover once safety/state says at_rest")
        if lasting is not None:
            raise Refusal(f"the cause lasts: {lasting.text}; remove it first")
        self._leave(now_s)

    def set_speed_scale(self, scale: float, now_s: float) -> None:
        """Reduce the speed of all motions; 1 ends the reduced mode. A stop stays in force.

        Args:
            scale: Share of the requested speed, (0, 1].
            now_s: The plant's time, s.

        Raises:
            Refusal: ``scale`` is not in (0, 1].
        """
        if not 0.0 < scale <= 1.0:
            raise Refusal(f"speed_scale is {scale}; give a number above 0, at most 1")
        self.status = replace(self.status, speed_scale=scale)
        if not self.status.is_stopped:
            self._leave(now_s)

    def _enter(self, mode: Mode, now_s: float, violation: Violation | None) -> None:
        self.status = replace(self.status, mode=mode, violation=violation, since_s=now_s, at_rest=False)

    def _leave(self, now_s: float) -> None:
        mode = Mode.REDUCED if self.status.speed_scale < 1.0 else Mode.NORMAL
        self._enter(mode, now_s, None)
        self.status = replace(self.status, at_rest=True)
