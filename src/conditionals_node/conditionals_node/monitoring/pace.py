"""When to decide next, so that a stream of messages leaves time for everything else. Pure."""

from __future__ import annotations


class Pace:
    """Bounds the rate of decisions, and the share of the time that long ones take.

    A decision that takes longer than a period is followed by a rest of that excess. So decisions never take much more
    than half of the time, however fast messages come; services and timers are served in between.

    Args:
        period_s: Shortest time from the begin of a decision to that of the next, s.
    """

    def __init__(self, period_s: float) -> None:
        self._period_s = period_s
        self._next_s = float("-inf")

    def is_due(self, now_s: float) -> bool:
        """Return True when a message may be decided on.

        Args:
            now_s: Steady time, s.
        """
        return now_s >= self._next_s

    def note(self, begin_s: float, end_s: float) -> None:
        """Note a decision.

        Args:
            begin_s: Steady time of its begin, s.
            end_s: Steady time of its end, s.
        """
        excess_s = end_s - begin_s - self._period_s
        self._next_s = max(begin_s + self._period_s, end_s + excess_s)
