"""The controller's cycles at the times at which joints are received, with any intervals between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array

from .command import MotionCommand
from .controller import ReactiveController

SHORTEST_S, LONGEST_S = 0.002, 0.05
"""Limits of the time of a cycle, for any interval between two measurements."""
BRAKED_S = 0.1
"""Time without a point after which the arm has braked, as ``<arm>_controller/joint_trajectory`` promises."""


@dataclass(frozen=True, slots=True, eq=False)
class TrajectorySample:
    """One point of a trajectory.

    Attributes:
        q: Joint positions, (n,), rad or m.
        rate: Joint velocities, (n,), rad/s or m/s.
        ahead_s: Time of the point after the measurement of the joints, s.
    """

    q: Array
    rate: Array
    ahead_s: float


STALE_S = 0.2
"""Age of the observation of objects, against the joints, from which an arm stops: they may be elsewhere by now, s."""


class UnevenCycles:
    """Points of one arm, each for a time of its own.

    The command goes on with its velocity until the next cycle, whenever that comes, and so does the arm, which
    follows the points by their times: neither sees a jump. After a silence in which the arm has braked, the command
    begins at the measured joints.

    Args:
        controller: Makes the points.
    """

    def __init__(self, controller: ReactiveController) -> None:
        self.controller = controller
        self._stamp_s = self._due_s = float("-inf")

    def point(
        self, command: MotionCommand | None, stamp_s: float, q: Array, rate: Array
    ) -> TrajectorySample | None:
        """Run one cycle.

        Args:
            command: The target; None brakes.
            stamp_s: Time of the measurement, s.
            q: Measured joint positions, (n,), rad or m.
            rate: Measured joint velocities, (n,), rad/s or m/s.

        Returns:
            The next point; None when the joints have the stamp of the last cycle.

        Raises:
            ValueError: A measured joint is not finite.
        """
        since_s, late_s = stamp_s - self._stamp_s, stamp_s - self._due_s
        self._stamp_s = stamp_s
        if since_s == 0.0:
            return None
        arm, dt = self.controller, float(np.clip(since_s, SHORTEST_S, LONGEST_S))
        if abs(late_s) > BRAKED_S:
            arm.begin(q, rate)
        else:
            arm.go_on(late_s)
        reference = arm.stop(q, dt) if command is None else arm.step(command, q, dt)
        self._due_s = stamp_s + dt
        return TrajectorySample(reference.q, reference.rate, dt)
