"""A controlled stop: all joints brake together, so that the arm stays on a straight line in joint space."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array

MOVING = 1e-9
"""A slower joint counts as at rest, rad/s or m/s."""


def stop_time(rate: Array, deceleration: Array) -> float:
    """Return the duration of a stop at constant deceleration: the largest |rate| / deceleration.

    Args:
        rate: Velocities, (m,), rad/s or m/s.
        deceleration: Largest decelerations, (m,), rad/s^2 or m/s^2.

    Returns:
        Duration, s.
    """
    return float(np.max(np.abs(rate) / deceleration, initial=0.0))


class ControlledStop:
    """Commands that bring joints to rest within their decelerations, from a position and velocity on.

    A joint that would pass its position limit comes to rest there, within its own deceleration if the distance
    allows it.

    Args:
        position: Positions, (m,), rad or m.
        rate: Velocities, (m,), rad/s or m/s.
        deceleration: Deceleration of each joint, (m,), rad/s^2 or m/s^2, above 0.
        lower: Lower position limits, (m,), rad or m.
        upper: Upper position limits, (m,), rad or m.
    """

    def __init__(self, position: Array, rate: Array, deceleration: Array, lower: Array, upper: Array) -> None:
        self.position, self.rate = position.copy(), rate.copy()
        self._start, self._start_rate = position.copy(), rate.copy()
        room = np.maximum(np.where(rate > 0.0, upper - position, position - lower), 0.0)
        speed = np.maximum(np.abs(rate), MOVING)
        self._times_s = np.minimum(stop_time(rate, deceleration), 2.0 * room / speed)
        self._times_s[np.abs(rate) < MOVING] = 0.0
        self._elapsed_s = 0.0

    @property
    def is_over(self) -> bool:
        """True once the command is at rest."""
        return self.left_s <= 0.0

    @property
    def left_s(self) -> float:
        """Time until the command is at rest, s."""
        return max(0.0, float(self._times_s.max(initial=0.0)) - self._elapsed_s)

    def advance(self, step_s: float) -> None:
        """Advance by one control period; afterwards ``position`` and ``rate`` are the command.

        Args:
            step_s: Control period, s.
        """
        self._elapsed_s += step_s
        position, rate = self.ahead(np.zeros(1))
        self.position, self.rate = position[0], rate[0]

    def ahead(self, times_s: Array) -> tuple[Array, Array]:
        """Return the commands at later times.

        Args:
            times_s: Times from now, (r,), s.

        Returns:
            Positions, (r, m), rad or m, and velocities, (r, m), rad/s or m/s.
        """
        whole = np.maximum(self._times_s, 1e-9)
        t = np.minimum(self._elapsed_s + times_s[:, None], self._times_s)
        rate = self._start_rate * np.where(self._times_s > 0.0, 1.0 - t / whole, 0.0)
        return self._start + self._start_rate * (t - 0.5 * t * t / whole), rate
