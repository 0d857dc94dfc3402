"""Whether joints have come to rest, from their measured speeds."""

from __future__ import annotations

import math

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.thresholds import REST_TIME_S

SLOPE_S = 0.008
"""Least time over which a deceleration is measured, s: two samples of a fast control loop differ by their noise."""


class Stillness:
    """Detects rest: joints that were slow for ``REST_TIME_S``, or that are slow and cannot leave rest in this time.

    An arm that swings out has moments without speed, at the ends of its swing, where it accelerates most. So a joint
    whose speed and present acceleration keep it slow for ``REST_TIME_S`` from now on is at rest already.

    Args:
        speed: Largest speed of a joint at rest, rad/s or m/s.
        is_predicted: False: joints are at rest only after ``REST_TIME_S``.
    """

    def __init__(self, speed: float, *, is_predicted: bool = True) -> None:
        self._speed, self._is_predicted = speed, is_predicted
        self._slow_since_s = math.inf
        self._earlier: tuple[float, Array] | None = None
        self._change: Array | None = None

    def update(self, stamp_s: float, velocity: Array) -> bool:
        """Take a measurement, and return whether the joints are at rest.

        Args:
            stamp_s: Time of the measurement, s; when it goes back, earlier measurements are forgotten.
            velocity: Measured velocities, (dof,), rad/s or m/s; NaN counts as moving.

        Returns:
            True at rest.
        """
        if self._earlier is not None and stamp_s < self._earlier[0]:
            self._slow_since_s, self._earlier, self._change = math.inf, None, None
        greatest = np.abs(velocity)
        if not (greatest <= self._speed).all():
            self._slow_since_s = math.inf
        elif stamp_s < self._slow_since_s:
            self._slow_since_s = stamp_s
        self._measure_change(stamp_s, velocity)
        if math.isinf(self._slow_since_s):
            return False
        if stamp_s - self._slow_since_s >= REST_TIME_S:
            return True
        return (
            self._is_predicted
            and self._change is not None
            and bool((greatest + np.abs(self._change) * REST_TIME_S <= self._speed).all())
        )

    def _measure_change(self, stamp_s: float, velocity: Array) -> None:
        if self._earlier is None:
            self._earlier = stamp_s, velocity.copy()
            return
        lasted_s = stamp_s - self._earlier[0]
        if lasted_s >= SLOPE_S:
            self._change = (velocity - self._earlier[1]) / lasted_s
            self._earlier = stamp_s, velocity.copy()
