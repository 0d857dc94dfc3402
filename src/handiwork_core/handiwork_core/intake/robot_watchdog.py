"""Decides from the feedback of a robot whether the robot is lost. No ROS.

Every wait of a running skill polls the token of its goal. So one watchdog, which sets the tokens when the robot is
lost, bounds all of them, regardless of the clock that they use.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

SILENCE_S = 1.2
"""Silence of the joint states after which a robot without delay is lost [s of observed time]."""

LONGEST_SILENCE_S = 2.0
"""The same for a simulation that reports a delay, however great that is [s of observed time]."""

STALL_S = 2.0
"""The robot is lost when only one of the clock and the stamps of the joints advances for this long, s of observed time.

When both stop the world is paused, and goals wait. Time in which both stopped is not counted, as one of them is always
the first to go on.
"""

GAP_S = 0.5
"""One advance counts for this long at most: before it, both may have stopped [s]."""

STEP_S = 0.15
"""One observation counts for this long at most: an observer that was held up itself has not read its messages [s]."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """The knowledge of an observer at one instant.

    Attributes:
        now_s: Steady time, s.
        received_s: Steady time of the newest joint states, s; not finite before the first.
        stamp_s: Time stamp of the newest joint states, s.
        clock_s: Time of the robot's world, s; simulated time in simulation.
    """

    now_s: float
    received_s: float
    stamp_s: float
    clock_s: float


class _Advance:
    """Adds up the observed time in which one of two sources of time advances and the other one does not."""

    def __init__(self) -> None:
        self.alone_s = self._gap_s = 0.0

    def add(self, step_s: float, *, advances: bool, other_advances: bool) -> None:
        """Take one observation into account.

        Args:
            step_s: Observed time since the last one, s.
            advances: Whether this source has advanced since then.
            other_advances: Whether the other one has.
        """
        self._gap_s += step_s
        if other_advances:
            self.alone_s = 0.0
        elif advances:
            self.alone_s += min(self._gap_s, GAP_S)
        if advances:
            self._gap_s = 0.0


class RobotWatchdog:
    """Adds up observed silence. Call ``observe`` several times in each ``STEP_S``, from one thread.

    Observed time is steady time less the time in which the observer itself did not run: a late observation adds only
    ``STEP_S``. So a machine under load, or a process that was suspended, does not make the robot look lost.
    """

    def __init__(self) -> None:
        self._last: Feedback | None = None
        self._silent_s, self._limit_s = 0.0, SILENCE_S
        self._clock, self._stamps = _Advance(), _Advance()

    def observe(self, feedback: Feedback, limit_s: float = SILENCE_S) -> str:
        """Take the newest feedback into account.

        Args:
            feedback: The present feedback.
            limit_s: Silence of the joint states after which the robot is lost now, s of observed time; at most
                ``LONGEST_SILENCE_S`` counts.

        Returns:
            The reason why the robot is lost, in words; empty while it is not.
        """
        last, self._last = self._last, feedback
        self._limit_s = min(limit_s, LONGEST_SILENCE_S)
        if last is None:
            return ""
        step_s = min(max(0.0, feedback.now_s - last.now_s), STEP_S)
        self._silent_s = 0.0 if _is_new(last, feedback) else self._silent_s + step_s
        has_clock, has_stamp = feedback.clock_s != last.clock_s, feedback.stamp_s != last.stamp_s
        self._clock.add(step_s, advances=has_clock, other_advances=has_stamp)
        self._stamps.add(step_s, advances=has_stamp, other_advances=has_clock)
        return self._why(feedback)

    @property
    def is_silent(self) -> bool:
        """True while no joint states have come for longer than the limit."""
        return self._silent_s > self._limit_s

    def _why(self, feedback: Feedback) -> str:
        if self.is_silent:
            return f"no joint_states for {self._silent_s:.1f} s; is the robot or the simulation running?"
        if self._stamps.alone_s > STALL_S:
            text = f"/clock stays at {feedback.clock_s:.3f} s while the stamps of joint_states advance"
            return f"{text}; check the publisher of /clock"
        if self._clock.alone_s > STALL_S:
            text = f"joint_states repeats the stamp {feedback.stamp_s:.3f} s while the clock advances"
            return f"{text}; check the robot's driver"
        return ""


def _is_new(last: Feedback, feedback: Feedback) -> bool:
    """Check whether joint states came between two observations; a reset of them by a jump of time counts as well."""
    if math.isfinite(last.received_s) and math.isfinite(feedback.received_s):
        return feedback.received_s > last.received_s
    return last.received_s != feedback.received_s
