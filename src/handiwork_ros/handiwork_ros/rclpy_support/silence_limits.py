"""The longest accepted silence of a node or a stream, and its growth with the measured delay of the scheduler."""

from __future__ import annotations

import math
import threading
from collections import deque

SILENCE_S = 1.2
"""The silence after which a node counts as dead, or a robot as lost, on a machine without delay, s of steady time."""

STREAM_SILENCE_S = 1.0
"""The silence of a simulator's joint stream after which the controllers abort their goals, s of steady time."""

GIVE_UP_SILENCE_S = 4.0
"""The silence after which a client gives up a goal of a server whose process may still be alive, s of steady time."""

DELAY_GAIN = 2.0
"""The growth of a limit per second of measured delay, s: the timers of the sender and of the reader are both late."""

GREATEST_GROWTH = 3.0
"""The largest ratio of a limit to its value without delay."""

DELAY_WINDOW_S = 10.0
"""The length of the window in which the greatest delay counts, s."""


def silence_limit_s(base_s: float, *delays_s: float) -> float:
    """Return the longest accepted silence of a peer, s.

    Args:
        base_s: The limit on a machine without delay, s.
        delays_s: Measured scheduling delays of the reader and of the sender, s; those that are not finite are ignored.

    Returns:
        ``base_s`` plus ``DELAY_GAIN`` times the greatest delay, at most ``GREATEST_GROWTH`` times ``base_s``, s.
    """
    greatest_s = max((d for d in delays_s if math.isfinite(d)), default=0.0)
    return min(base_s + DELAY_GAIN * max(0.0, greatest_s), GREATEST_GROWTH * base_s)


class SchedulingDelay:
    """Measures how late a periodic timer is called; safe from any thread."""

    def __init__(self, period_s: float, now_s: float) -> None:
        """Begin to measure.

        Args:
            period_s: Period of the timer that calls ``tick``, s.
            now_s: Steady time, s.
        """
        self._period_s, self._last_s = period_s, now_s
        self._lock = threading.Lock()
        self._greatest: deque[tuple[float, float]] = deque()
        """Times and delays of the window; the delays fall, so that the first one is the greatest."""

    def tick(self, now_s: float) -> float:
        """Note a call of the timer.

        Args:
            now_s: Steady time, s.

        Returns:
            The time by which this call came later than one period after the call before, s; zero for an early one.
        """
        with self._lock:
            delay_s = max(0.0, now_s - self._last_s - self._period_s)
            self._last_s = now_s
            while self._greatest and self._greatest[-1][1] <= delay_s:
                self._greatest.pop()
            self._greatest.append((now_s, delay_s))
            return delay_s

    def greatest_s(self, now_s: float) -> float:
        """Return the greatest delay within ``DELAY_WINDOW_S``, including that of a call which is overdue now, s.

        Args:
            now_s: Steady time, s.
        """
        with self._lock:
            while self._greatest and now_s - self._greatest[0][0] > DELAY_WINDOW_S:
                self._greatest.popleft()
            overdue_s = max(0.0, now_s - self._last_s - self._period_s)
            return max(overdue_s, self._greatest[0][1] if self._greatest else 0.0)
