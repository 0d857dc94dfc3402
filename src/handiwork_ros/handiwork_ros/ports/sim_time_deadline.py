"""How long a result is waited for, where the world's time may run faster than messages travel. No ROS."""

from __future__ import annotations

import time
from collections.abc import Callable

MESSAGE_S = 1.0
"""A result may be on its way for so long in steady time; a fast simulation lives through many seconds meanwhile."""


class Patience:
    """Ends after ``limit_s`` of the world's time, and ``MESSAGE_S`` of steady time after that.

    Args:
        limit_s: of the world's time from now on [s].
        world_s: the world's time [s].
        steady_s: steady time [s].
    """

    def __init__(
        self, limit_s: float, world_s: Callable[[], float], steady_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._end_s, self._world_s, self._steady_s = world_s() + limit_s, world_s, steady_s
        self._since_s: float | None = None

    @property
    def is_over(self) -> bool:
        """Ask often: steady time counts from when it is first seen that the world's is over."""
        if self._world_s() <= self._end_s:
            return False
        if self._since_s is None:
            self._since_s = self._steady_s()
        return self._steady_s() - self._since_s > MESSAGE_S
