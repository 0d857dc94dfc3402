"""A stream of points with irregular arrival times, and a smooth motion along it."""

from __future__ import annotations

import numpy as np

from handiwork_core.control.trajectory_goal import JointLimits
from handiwork_core.model.geometry import Array

SILENT_S = 0.1
"""A stream without a new point for this time has ended, and the arm brakes. An older point is not used, s."""
PULL = 25.0
"""Speed per distance from the position on the stream's line, 1/s."""
CLOSING_SHARE = 0.5
"""Share of the acceleration limit with which the arm comes to rest on the stream's line."""


class PointStream:
    """The line through the newest point with its velocity, and the approach to it within the limits.

    If points have time stamps, a late one lies on the line all the same, and the motion does not jerk.

    Args:
        limits: Limits of the joints.
    """

    def __init__(self, limits: JointLimits) -> None:
        self._limits = limits
        self._position: Array = np.zeros(len(limits.names))
        self._velocity: Array = np.zeros(len(limits.names))
        self._age_s, self.silent_s = 0.0, float("inf")

    def take(self, position: Array, velocity: Array, age_s: float) -> None:
        """Take over a new point, unless a newer one has overtaken it.

        Args:
            position: Positions, (dof,), rad or m.
            velocity: Velocities, (dof,), rad/s or m/s.
            age_s: Time since the point was due, s; below 0 if it is due later.
        """
        if self.silent_s <= SILENT_S and age_s > self._age_s:
            return
        self._position, self._age_s, self.silent_s = position, age_s, 0.0
        self._velocity = np.clip(velocity, -self._limits.velocity, self._limits.velocity)

    def advance(self, q: Array, rate: Array, step_s: float, speed_scale: float = 1.0) -> tuple[Array, Array]:
        """Return the reference one step later, within all limits.

        Args:
            q: Present reference positions, (dof,), rad or m.
            rate: Present reference velocities, (dof,), rad/s or m/s.
            step_s: Duration of the step, s.
            speed_scale: Share of the velocity limits, (0, 1].

        Returns:
            Positions and velocities of the reference, (dof,) each.
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
