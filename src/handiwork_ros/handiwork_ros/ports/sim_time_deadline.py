"""The deadline of a result if the world's time may run faster than messages travel. Without ROS."""

from __future__ import annotations

import time
from collections.abc import Callable

MESSAGE_S = 1.0
"""The time that a result may be under way, s of steady time; many seconds of a fast simulation pass meanwhile."""


LEAST_S = 5.0
"""The least steady time of a deadline, s: in a fast simulation messages and processes take as long as in a slow one."""


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
