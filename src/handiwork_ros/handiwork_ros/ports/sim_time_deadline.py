"""The deadline of a result if the world's time runs faster than messages travel, or a motion is stretched. No ROS."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from handiwork_core.model.geometry import Array

MESSAGE_S = 1.0
"""The time that a result may be under way, s of steady time; many seconds of a fast simulation pass meanwhile."""


LEAST_S = 5.0
"""The least steady time of a deadline, s: in a fast simulation messages and processes take as long as in a slow one."""


SLOWEST = 0.01
"""The least speed scaling that a motion is waited for, besides a scaling of 0: the lowest step of a slider."""
STEP = 5e-4
"""The way of a joint that shows that an arm moves, rad or m; more than the noise of encoders at rest."""


class Patience:
    """Ends after ``limit_s`` of the world's time, and ``MESSAGE_S`` of steady time after that, ``LEAST_S`` in all.

    Args:
        limit_s: Time from now on, s of the world's time.
        world_s: Returns the world's time, s.
        steady_s: Returns steady time, s.
    """

    def __init__(
        self, limit_s: float, world_s: Callable[[], float], steady_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._end_s, self._world_s, self._steady_s = world_s() + limit_s, world_s, steady_s
        self._begun_s = steady_s()
        self._since_s: float | None = None

    @property
    def is_over(self) -> bool:
        """True once the deadline has passed.

        Read it often: steady time counts from the first read after the limit of the world's time.
        """
        if self._world_s() <= self._end_s:
            return False
        if self._since_s is None:
            self._since_s = self._steady_s()
        now_s = self._steady_s()
        return now_s - self._since_s > MESSAGE_S and now_s - self._begun_s > LEAST_S


class StretchedPatience:
    """The patience with a motion that a speed scaling may stretch, as by the slider of a teach pendant.

    It ends ``overtime_s`` after the planned duration only for an arm that has stood still for that time: an arm that
    moves is waited for, down to a speed scaling of ``SLOWEST``. Time at a scaling of 0, at which the driver holds the
    goal, does not count at all.

    Args:
        lasts_s: The planned duration, s.
        overtime_s: The time of standstill after it, s of the world's time.
        world_s: Returns the world's time, s.
        steady_s: Returns steady time, s.
    """

    def __init__(
        self,
        lasts_s: float,
        overtime_s: float,
        world_s: Callable[[], float],
        steady_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._overtime_s, self._world_s, self._steady_s = overtime_s, world_s, steady_s
        self._planned = Patience(lasts_s + overtime_s, world_s, steady_s)
        self._longest_s = lasts_s / SLOWEST + overtime_s
        self._still: Patience | None = None
        self._at: Array | None = None
        self._looked_s, self._counted_s = world_s(), 0.0

    def is_over(self, q: Array, scaling: float | None) -> bool:
        """Return True once the deadline has passed. Call it often.

        Args:
            q: Measured joint positions, (dof,), rad or m; nan where they are not known.
            scaling: The speed scaling that the driver reports; None if it reports none.
        """
        now_s = self._world_s()
        passed_s, self._looked_s = max(0.0, now_s - self._looked_s), now_s
        if scaling is not None and scaling <= 0.0:
            self._still = None
            return False
        self._counted_s += passed_s
        if self._still is None or self._at is None or np.nanmax(np.abs(q - self._at), initial=0.0) > STEP:
            self._at, self._still = q, Patience(self._overtime_s, self._world_s, self._steady_s)
        return self._planned.is_over and (self._still.is_over or self._counted_s > self._longest_s)
