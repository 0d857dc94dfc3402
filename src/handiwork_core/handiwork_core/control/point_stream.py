"""A stream of points that comes as unevenly as a busy machine lets it; the arm goes smoothly all the same."""

from __future__ import annotations

import numpy as np

from handiwork_core.control.trajectory_goal import JointLimits
from handiwork_core.model.geometry import Array

SILENT_S = 0.1
"""A stream that brings nothing new for so long has ended, and the arm brakes. A point that is older is of no use."""
PULL = 25.0
"""Speed per distance from where the stream says that the arm should be [1/s]."""
CLOSING_SHARE = 0.5
"""Of the acceleration, with which the arm comes to rest on the stream's line."""


class PointStream:
    """The line through the newest point with its velocity, and the way onto it within the limits.

    Where points say for when they are, one that comes late lies on the line all the same, and nothing jerks.
    """

    def __init__(self, limits: JointLimits) -> None:
        self._limits = limits
        self._position: Array = np.zeros(len(limits.names))
        self._velocity: Array = np.zeros(len(limits.names))
        self._age_s, self.silent_s = 0.0, float("inf")

    def take(self, position: Array, velocity: Array, age_s: float) -> None:
        """A new point (dof,), for ``age_s`` before now [s]; below 0: for later. One that was overtaken is no news."""
        if self.silent_s <= SILENT_S and age_s > self._age_s:
            return
        self._position, self._age_s, self.silent_s = position, age_s, 0.0
        self._velocity = np.clip(velocity, -self._limits.velocity, self._limits.velocity)

    def advance(self, q: Array, rate: Array, step_s: float, speed_scale: float = 1.0) -> tuple[Array, Array]:
        """Returns the reference (dof,) and its velocity one step after ``q`` and ``rate``, within all limits.

        ``speed_scale``: of the velocity limits, in (0, 1].
        """
        limits, fastest = self._limits, speed_scale * self._limits.velocity
        self.silent_s += step_s
        self._age_s += step_s
        apart = self._position + self._velocity * self._age_s - q
        braking = np.sqrt(2.0 * CLOSING_SHARE * limits.acceleration * np.abs(apart))
        wanted = self._velocity + np.clip(PULL * (apart - self._velocity * step_s), -braking, braking)
        most = limits.acceleration * step_s
        rate = np.clip(np.clip(wanted, -fastest, fastest), rate - most, rate + most)
        rate = np.clip(rate, -limits.velocity, limits.velocity)
        place = q + rate * step_s
        inside = np.clip(place, limits.lower, limits.upper)
        return inside, np.where(inside == place, rate, 0.0)
