"""The joints of the last seconds, for poses of the arm at the time of an image or an observation."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque

from handiwork_core.model.world import JointState

KEPT_S = 3.0
"""The time that is kept, s."""
BEYOND_S = 0.1
"""The greatest time beyond the newest or before the oldest joints for which these are taken, s."""


class JointHistory:
    """Joint positions by time."""

    def __init__(self) -> None:
        self._kept: deque[JointState] = deque()

    def take(self, joints: JointState) -> None:
        """Keep measured joints; when time goes back, the earlier ones are dropped.

        Args:
            joints: The joints.
        """
        if self._kept and joints.stamp_s < self._kept[-1].stamp_s:
            self._kept.clear()
        self._kept.append(joints)
        while joints.stamp_s - self._kept[0].stamp_s > KEPT_S:
            self._kept.popleft()

    def newest(self) -> JointState | None:
        """Return the newest joints; None before the first."""
        return self._kept[-1] if self._kept else None

    def at(self, stamp_s: float) -> dict[str, float] | None:
        """Return the joint positions of a time, linear between two measurements.

        Args:
            stamp_s: The time, s.

        Returns:
            Positions by name, rad or m; None where none was measured near that time.
        """
        stamps = [joints.stamp_s for joints in self._kept]
        after = bisect_left(stamps, stamp_s)
        if after == 0 or after == len(stamps):
            end = self._kept[0 if after == 0 else -1] if stamps else None
            is_near = end is not None and abs(end.stamp_s - stamp_s) <= BEYOND_S
            return dict(end.position) if end is not None and is_near else None
        first, second = self._kept[after - 1], self._kept[after]
        share = (stamp_s - first.stamp_s) / (second.stamp_s - first.stamp_s)
        return {
            name: value + share * (second.position.get(name, value) - value)
            for name, value in first.position.items()
        }
