"""How far ahead of its path an arm must be commanded so that it is on it. No ROS."""

from __future__ import annotations

import numpy as np

from handiwork_core.geometry import Array

MOVES = 0.2
"""Below this speed of the path [rad/s] nothing is learnt."""

SHARE = 0.05
"""Of the lag that is seen at a measurement, so much is believed."""

LONGEST_S = 0.15


class DriveLead:
    """The lag of one arm's drives and of the wire, learnt while it moves.

    An arm behind by ``e`` on a path of velocity ``v`` is late by ``e . v / v . v``; the lead grows by a share of that.

    Args:
        lag_s: what to begin with: damping over stiffness of the drives.
    """

    def __init__(self, lag_s: float) -> None:
        self.seconds = min(lag_s, LONGEST_S)

    def learn(self, behind: Array, velocity: Array) -> None:
        """See how far the arm is behind (dof,) on a path of this velocity (dof,)."""
        square = float(velocity @ velocity)
        if square < MOVES**2:
            return
        late_s = float(behind @ velocity) / square
        self.seconds = float(np.clip(self.seconds + SHARE * late_s, 0.0, LONGEST_S))
