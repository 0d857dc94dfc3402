"""The time by which an arm must be commanded ahead of its path so that it is on it. No ROS."""

from __future__ import annotations

from handiwork_core.model.geometry import Array

MOVES = 0.2
"""The speed of the path [rad/s] below which nothing is learnt."""

SHARE = 0.05
"""The share of a measured lag that is added to the estimate."""

LONGEST_S = 0.1


class DriveLead:
    """The lag of one arm's drives and of the connection, learnt while it moves.

    The lead grows by a share of the time by which the arm is late.

    Args:
        lag_s: First estimate, s: damping over stiffness of the drives.
    """

    def __init__(self, lag_s: float) -> None:
        self.seconds = min(lag_s, LONGEST_S)

    def learn(self, late: float) -> None:
        """Correct the estimate at a measurement.

        Args:
            late: Time by which the arm is late, s; negative when it is ahead.
        """
        self.seconds = min(LONGEST_S, max(0.0, self.seconds + SHARE * late))


def late_s(behind: Array, velocity: Array) -> float:
    """Return the time by which an arm is late on its path.

    Args:
        behind: Reference minus measured positions, (dof,), rad or m.
        velocity: Velocity of the reference, (dof,), rad/s or m/s.

    Returns:
        Time in s; negative when the arm is ahead, 0 below the speed MOVES.
    """
    square = float(velocity @ velocity)
    return float(behind @ velocity) / square if square >= MOVES**2 else 0.0
