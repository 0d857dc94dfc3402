"""Keeps a fast simulation from flooding its listeners. No ROS."""

from __future__ import annotations


class RateLimiter:
    """Lets through at most ``rate_hz`` events per second of steady time.

    Up to ``burst`` events that came late may pass at once, so that a hiccup of the machine costs none.
    """

    def __init__(self, rate_hz: float, burst: int = 1) -> None:
        self._period_s, self._burst = 1.0 / rate_hz, burst
        self._next_s = float("-inf")

    def due(self, now_s: float) -> bool:
        """True when an event at ``now_s`` may pass."""
        if now_s < self._next_s:
            return False
        self._next_s = max(self._next_s, now_s - self._burst * self._period_s) + self._period_s
        return True
