"""The controller's cycles at the times at which joints are heard of, however uneven these are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array

from .command import MotionCommand
from .controller import ReactiveController

SHORTEST_S, LONGEST_S = 0.002, 0.05
"""Time of a cycle, whatever lies between two measurements."""
BRAKED_S = 0.1
"""After so long without a point the arm has braked, as ``<arm>_controller/joint_trajectory`` promises."""


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """Where the arm shall be, ``q`` (n,) with ``rate`` (n,), ``ahead_s`` after the joints were measured [rad, s]."""

    q: Array
    rate: Array
    ahead_s: float


class UnevenCycles:
    """Points of one arm, each for a time of its own.

    The command goes on with its velocity until the next cycle, whenever that comes, as the arm does that follows the
    points by their times: neither sees a jump. After a silence that has braked the arm, it begins from what is
    measured.
    """

    def __init__(self, controller: ReactiveController) -> None:
        self.controller = controller
        self._stamp_s = self._due_s = float("-inf")

    def point(self, command: MotionCommand | None, stamp_s: float, q: Array, rate: Array) -> Point | None:
        """One cycle, at ``q`` (n,) and ``rate`` (n,), which were measured at ``stamp_s``; no command brakes.

        None: the joints are not newer than those of the last cycle.
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
        return Point(reference.q, reference.rate, dt)
