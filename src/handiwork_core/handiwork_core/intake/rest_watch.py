"""Decides from measured speeds whether an arm is at rest. No ROS."""

from __future__ import annotations

import math

GAP_S = 0.1
"""Between samples whose stamps are farther apart the arm may have swung out and back, s."""
LEAST_SAMPLES = 3
"""Slow samples in a row, at least: two may be the two ends of a swing."""
SPARSE_REST_S = 0.5
"""Time for which an arm must be slow whose samples are that far apart, s: of a slow sensor, or at a busy observer."""


class RestWatch:
    """Takes the samples that an observer sees, of which some may be missing.

    An arm that swings out has moments without speed, so it must be slow for some time. An observer that is held up sees
    few samples, and could see only those moments: samples more than ``GAP_S`` apart count as one rest only where all
    are slow for ``SPARSE_REST_S``.

    Args:
        rest_time_s: Time for which an arm must be slow whose samples are near each other, s.
    """

    def __init__(self, rest_time_s: float) -> None:
        self._rest_time_s = rest_time_s
        self._stamp_s = -math.inf
        self._dense_s = self._slow_s = math.inf
        self._count = 0

    def observe(self, stamp_s: float, *, is_slow: bool) -> bool:
        """Take a sample; return whether the arm is at rest.

        Args:
            stamp_s: Time of the sample, s; the same sample may come again.
            is_slow: Whether all joints are slow in it.
        """
        is_new, gap_s, self._stamp_s = stamp_s != self._stamp_s, stamp_s - self._stamp_s, stamp_s
        if not is_slow:
            self._dense_s = self._slow_s = math.inf
            return False
        if math.isinf(self._slow_s):
            self._dense_s = self._slow_s = stamp_s
            self._count = 1
        elif is_new:
            self._count += 1
            if gap_s > GAP_S:
                self._dense_s, self._count = stamp_s, 1
        if stamp_s - self._slow_s >= SPARSE_REST_S:
            return True
        return self._count >= LEAST_SAMPLES and stamp_s - self._dense_s >= self._rest_time_s
