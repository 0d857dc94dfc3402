"""Limits the rate of messages of a fast simulation. No ROS."""

from __future__ import annotations


class RateLimiter:
    """Lets through at most ``rate_hz`` events per second of steady time.

    Late events may pass in a burst, so that a short stall of the machine loses none.

    Args:
        rate_hz: Largest mean rate, 1/s.
        burst: Late events that may pass at once.
    """

    def __init__(self, rate_hz: float, burst: int = 1) -> None:
        self._period_s, self._burst = 1.0 / rate_hz, burst
        self._next_s = float("-inf")

    def due(self, now_s: float) -> bool:
        """Check whether an event may pass, and count it if so.

        Args:
            now_s: Steady time, s.

        Returns:
            True when it may pass.
        """
        if now_s < self._next_s:
            return False
        self._next_s = max(self._next_s, now_s - self._burst * self._period_s) + self._period_s
        return True
