"""Joint positions of the last moments, for observations of objects that are older than the joints."""

from __future__ import annotations

import bisect

from handiwork_core.model.geometry import Array


class JointHistory:
    """The measured joints of a time, interpolated linearly.

    Args:
        keep_s: Age up to which measurements are kept, s.
    """

    def __init__(self, keep_s: float) -> None:
        self._keep_s = keep_s
        self._stamps_s: list[float] = []
        self._places: list[Array] = []

    def add(self, stamp_s: float, q: Array) -> None:
        """Keep a measurement. One of an earlier time, after a reset, replaces all before.

        Args:
            stamp_s: Its time, s.
            q: Joint positions, (n,), rad or m.
        """
        if self._stamps_s and stamp_s < self._stamps_s[-1]:
            self._stamps_s, self._places = [], []
        old = bisect.bisect_right(self._stamps_s, stamp_s - self._keep_s) - 1
        if old > 0:  # The newest of the too old ones is kept: times between it and the next are still known.
            del self._stamps_s[:old], self._places[:old]
        self._stamps_s.append(stamp_s)
        self._places.append(q)

    def at(self, stamp_s: float) -> Array:
        """Return the joints of a time, (n,), rad or m; at an unknown time those of the nearest known one.

        Args:
            stamp_s: The time, s.

        Raises:
            ValueError: There is no measurement yet.
        """
        if not self._stamps_s:
            raise ValueError("no joints were added yet; add a measurement first")
        after = bisect.bisect_right(self._stamps_s, stamp_s)
        if after in (0, len(self._stamps_s)):
            return self._places[0 if after == 0 else -1]
        begin_s, end_s = self._stamps_s[after - 1], self._stamps_s[after]
        share = (stamp_s - begin_s) / (end_s - begin_s)
        return (1.0 - share) * self._places[after - 1] + share * self._places[after]
