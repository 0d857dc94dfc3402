"""How far ahead of its path an arm must be commanded so that it is on it. No ROS."""

from __future__ import annotations

from handiwork_core.model.geometry import Array

MOVES = 0.2
"""Below this speed of the path [rad/s] nothing is learnt."""

SHARE = 0.05
"""Of the lag that is seen at a measurement, so much is believed."""

LONGEST_S = 0.1


class DriveLead:
    """The lag of one arm's drives and of the wire, learnt while it moves.

    The lead grows by a share of the time by which the arm is late.

    Args:
        lag_s: what to begin with: damping over stiffness of the drives.
    """

    def __init__(self, lag_s: float) -> None:
        self.seconds = min(lag_s, LONGEST_S)

    def learn(self, late: float) -> None:
        """See how late the arm is [s], at a measurement."""
        self.seconds = min(LONGEST_S, max(0.0, self.seconds + SHARE * late))


def late_s(behind: Array, velocity: Array) -> float:
    """By how much time an arm is late (dof,) that is behind on a path of this velocity; negative when it is ahead."""
    square = float(velocity @ velocity)
    return float(behind @ velocity) / square if square >= MOVES**2 else 0.0
