"""A controlled stop: all joints brake together, so that the arm goes straight on in joint space while it slows down."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array

MOVING = 1e-9
"""A joint that is slower stands [rad/s, m/s]."""


def stop_time(rate: Array, deceleration: Array) -> float:
    """How long a stop from velocities ``rate`` (m,) takes at most ``deceleration`` (m,) [s]."""
    return float(np.max(np.abs(rate) / deceleration, initial=0.0))


class ControlledStop:
    """Commands that bring joints to rest within their decelerations, from a position and velocity on.

    A joint that would meet its position limit on the way comes to rest there, within its own deceleration where the
    room allows it.

    Args:
        position: (m,) [rad, m].
        rate: (m,) velocities.
        deceleration: (m,) of each joint, above 0.
        lower: position limits (m,).
        upper: see ``lower``.
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
        """True once the command stands still."""
        return self.left_s <= 0.0

    @property
    def left_s(self) -> float:
        """Time until the command stands still [s]."""
        return max(0.0, float(self._times_s.max(initial=0.0)) - self._elapsed_s)

    def advance(self, step_s: float) -> None:
        """Go on by one control period; ``position`` and ``rate`` are the command then."""
        self._elapsed_s += step_s
        position, rate = self.ahead(np.zeros(1))
        self.position, self.rate = position[0], rate[0]

    def ahead(self, times_s: Array) -> tuple[Array, Array]:
        """Commands so long from now (r,) [s]: positions and rates (r, m)."""
        whole = np.maximum(self._times_s, 1e-9)
        t = np.minimum(self._elapsed_s + times_s[:, None], self._times_s)
        rate = self._start_rate * np.where(self._times_s > 0.0, 1.0 - t / whole, 0.0)
        return self._start + self._start_rate * (t - 0.5 * t * t / whole), rate
