"""The schedules by which an arm follows the references of the steps, and rests where nothing further comes. Pure."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array

ALIKE = 1e-6
"""A reference that is farther from the one before than its velocity says has been taken back to the arm, rad or m."""
JOIN_SHARE = 0.5
"""Share of the limits with which the arm goes to such a reference."""


@dataclass(frozen=True, eq=False)
class Schedule:
    """Points of a curve with their times; the last one is at rest.

    Attributes:
        due_s: Times after the beginning of this step, without the lag, (n,), s; those of the past are below 0.
        q: Positions, (n, dof), rad or m.
        v: Velocities, (n, dof), rad/s or m/s.
    """

    due_s: Array
    q: Array
    v: Array


class ScheduleMaker:
    """Makes the schedule of each step.

    The arm follows the curve of ``smoothed``, later by a lag. Each schedule has this curve for the step and for the
    brake behind it, which ends at rest: the controller never goes on beyond what the guard has checked.

    Args:
        step_s: Time of a step, s.
        lag_s: Time by which the arm follows behind the end of a step, s.
        velocity: Largest speeds of the joints, (dof,), rad/s or m/s.
        acceleration: Largest accelerations, (dof,), rad/s^2 or m/s^2.
    """

    def __init__(self, step_s: float, lag_s: float, velocity: Array, acceleration: Array) -> None:
        self._step_s, self._velocity, self._acceleration = step_s, velocity, acceleration
        self._kept = math.ceil(lag_s / step_s) + 2
        """References that are sent again, since the arm has not passed them."""
        self._past: deque[tuple[Array, Array]] = deque(maxlen=self._kept)
        self._rows: tuple[Array, Array] = (np.empty((0, 0)), np.empty((0, 0)))
        """Positions and velocities from the reference of now on, or from the one that was sent, then the brake."""
        self._is_made, self._missed = False, 0

    @property
    def has_begun(self) -> bool:
        """True once the place is known at which the arm rests."""
        return bool(self._past)

    def rest_at(self, q: Array) -> None:
        """Begin with an arm that rests.

        Args:
            q: Positions, (dof,), rad or m.
        """
        still = np.zeros_like(q)
        self._past.extend([(q, still)] * self._kept)
        self._rows = q[None], still[None]

    def make(self, q: Array, v: Array) -> Schedule:
        """Return the schedule of a step.

        A reference that does not go on from the one before was taken back to the arm: then the arm brakes, and goes
        there, for which it takes the steps of ``take_missed``.

        Args:
            q: Positions, (n, dof): the end of this step, then each step of the brake, rad or m.
            v: Velocities, (n, dof), rad/s or m/s; the last row is zero.
        """
        before = q[0] - self._step_s * v[0]
        if not self._past:
            self.rest_at(before)
        if float(np.abs(self._past[-1][0] - before).max()) > ALIKE:
            return self._join(q[-1])
        self._rows, self._is_made = (q, v), True
        return self._through(q, v, np.asarray(self._step_s * np.arange(1, len(q) + 1), dtype=np.float64))

    def take_missed(self) -> int:
        """Return the number of further steps that the newest schedule takes, and forget it."""
        missed, self._missed = self._missed, 0
        return missed

    def advance(self, missed: int) -> None:
        """Take the references of the steps that are over; in those that were missed the arm has braked.

        Args:
            missed: Number of steps that were missed behind the one that has just ended.
        """
        first, last = int(not self._is_made), len(self._rows[0]) - 1
        self._is_made = False
        if not self._past:
            return
        for row in range(first, first + missed + 1):
            self._past.append((self._rows[0][min(row, last)], self._rows[1][min(row, last)]))
        at = min(first + missed, last)
        self._rows = self._rows[0][at:], self._rows[1][at:]

    def _through(self, q: Array, v: Array, after_s: Array) -> Schedule:
        """Return the curve through the references that the arm has not passed, and through these."""
        rows = np.vstack([[one for one, _ in self._past], q])
        rates = np.vstack([[one for _, one in self._past], v])
        past_s = self._step_s * np.arange(1 - len(self._past), 1)
        return Schedule(np.concatenate([past_s, after_s]), rows - 0.5 * self._step_s * rates, rates)

    def _join(self, q: Array) -> Schedule:
        """Let the arm brake, then go back to a reference that was taken back to it; that takes some steps."""
        brake, rates = self._rows[0][1:], self._rows[1][1:]
        brake, rates = (brake, rates) if len(brake) else (self._rows[0], np.zeros_like(self._rows[1]))
        far = np.abs(brake[-1] - q)
        slow_s = 1.5 * far / (JOIN_SHARE * self._velocity)
        soft_s = np.sqrt(6.0 * far / (JOIN_SHARE * self._acceleration))
        steps = len(brake) + math.ceil(float(np.maximum(slow_s, soft_s).max()) / self._step_s) + 1
        after_s = self._step_s * np.append(np.arange(1, len(brake) + 1), steps)
        made = self._through(np.vstack([brake, q]), np.vstack([rates, np.zeros_like(q)]), after_s)
        self.rest_at(q)
        self._is_made, self._missed = True, steps + self._kept
        return made
