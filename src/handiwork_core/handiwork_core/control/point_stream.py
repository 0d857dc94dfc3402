"""Streams of points, and of schedules, with irregular arrival times, and a smooth motion along them."""

from __future__ import annotations

import numpy as np

from handiwork_core.control.goal_refusal import ErrorCode, GoalRefused
from handiwork_core.control.tolerances import Tolerances
from handiwork_core.control.trajectory_goal import CheckedTrajectory, JointLimits, TrajectoryGoal, check
from handiwork_core.model.geometry import Array

SILENT_S = 0.1
"""A stream without a new point for this time has ended, and the arm brakes. An older point is not used, s."""
PULL = 25.0
"""Speed per distance from the position on the stream's line, 1/s."""
CLOSING_SHARE = 0.5
"""Share of the acceleration limit with which the arm comes to rest on the stream's line."""


class PointStream:
    """The line through the newest point with its velocity, and the approach to it within the limits.

    If points have time stamps, a late one lies on the line all the same, and the motion does not jerk.

    Args:
        limits: Limits of the joints.
    """

    def __init__(self, limits: JointLimits) -> None:
        self._limits = limits
        self._position: Array = np.zeros(len(limits.names))
        self._velocity: Array = np.zeros(len(limits.names))
        self._age_s, self.silent_s = 0.0, float("inf")

    def take(self, position: Array, velocity: Array, age_s: float) -> None:
        """Take over a new point, unless a newer one has overtaken it.

        Args:
            position: Positions, (dof,), rad or m.
            velocity: Velocities, (dof,), rad/s or m/s.
            age_s: Time since the point was due, s; below 0 if it is due later.
        """
        if self.silent_s <= SILENT_S and age_s > self._age_s:
            return
        self._position, self._age_s, self.silent_s = position, age_s, 0.0
        self._velocity = np.clip(velocity, -self._limits.velocity, self._limits.velocity)

    def advance(self, q: Array, rate: Array, step_s: float, speed_scale: float = 1.0) -> tuple[Array, Array]:
        """Return the reference one step later, within all limits.

        Args:
            q: Present reference positions, (dof,), rad or m.
            rate: Present reference velocities, (dof,), rad/s or m/s.
            step_s: Duration of the step, s.
            speed_scale: Share of the velocity limits, (0, 1].

        Returns:
            Positions and velocities of the reference, (dof,) each.
        """
        limits, fastest = self._limits, speed_scale * self._limits.velocity
        self.silent_s += step_s
        self._age_s += step_s
        apart = self._position + self._velocity * self._age_s - q
        braking = np.sqrt(2.0 * CLOSING_SHARE * limits.acceleration * np.abs(apart))
        wanted = self._velocity + np.clip(PULL * (apart - self._velocity * step_s), -braking, braking)
        most = limits.acceleration * step_s
        rate = np.clip(np.clip(wanted, -fastest, fastest), rate - most, rate + most)
        rate = np.clip(rate, -limits.velocity, limits.velocity)
        rate = np.clip(
            rate, -self._stoppable(q - limits.lower, step_s), self._stoppable(limits.upper - q, step_s)
        )
        place = q + rate * step_s
        inside = np.clip(place, limits.lower, limits.upper)
        return inside, np.where(inside == place, rate, 0.0)

    def _stoppable(self, room: Array, step_s: float) -> Array:
        """Return the largest speed from which a joint still comes to rest within a room, rad/s or m/s.

        The safety layer stops an arm that could not brake any more in front of a limit of position.
        """
        most = self._limits.acceleration * step_s
        return np.asarray(np.sqrt(most**2 + 2.0 * self._limits.acceleration * np.maximum(room, 0.0)) - most)


SOONEST_S = 0.04
"""Points of a schedule that are due sooner are left out, so that the arm joins the later ones without a jerk, s."""
SAME_PLACE, SAME_RATE = 1e-5, 1e-3
"""A reference that is so near to the curve of a schedule lies on it, rad or m, rad/s or m/s."""
JOIN_EXCESS = 1.25
"""Share of the acceleration limits with which an arm may join a schedule that it is not on."""


def taken_over(
    limits: JointLimits,
    points: tuple[Array, Array, Array],
    reference: tuple[Array, Array],
    tolerances: Tolerances,
) -> tuple[CheckedTrajectory, float]:
    """Return the path along a schedule from where an arm is, and the time on it.

    A schedule whose curve passes through the reference now is followed exactly, as the joint_trajectory_controller of
    ros2_control does. Any other one is joined at the first point to which the arm can go within its acceleration
    limits. Where there is none, a schedule that begins later is joined at the point that needs the least, and one that
    has begun is refused: the arm goes on with the one before, to its rest.

    Args:
        limits: Limits of the joints.
        points: Time until each point is due, (n,), s; positions and velocities, (n, dof) each.
        reference: Position and velocity of the arm, (dof,) each.
        tolerances: Tolerances of the controller.

    Raises:
        GoalRefused: The numbers make no sense, or exceed a limit.
    """
    t_s, q, qd = points
    if t_s[0] <= 0.0 < t_s[-1]:
        whole = check(TrajectoryGoal(limits.names, t_s - t_s[0], q, qd), limits, None, tolerances)
        place, rate = whole.sample(-t_s[0])
        apart = np.abs(place - reference[0]).max(), np.abs(rate - reference[1]).max()
        if apart[0] <= SAME_PLACE and apart[1] <= SAME_RATE:
            return whole, float(-t_s[0])
    t_s = np.append(t_s[:-1], max(t_s[-1], SOONEST_S))
    first = _first_point(limits, (t_s, q, qd), reference)
    rows = np.vstack([reference[0], q[first:]]), np.vstack([reference[1], qd[first:]])
    goal = TrajectoryGoal(limits.names, np.concatenate([[0.0], t_s[first:]]), *rows)
    return check(goal, limits, reference[0], tolerances), 0.0


def _first_point(
    limits: JointLimits, points: tuple[Array, Array, Array], reference: tuple[Array, Array]
) -> int:
    """Return the index of the point at which a schedule is joined, by the accelerations of the cubic to it."""
    t_s, q, qd = points
    ahead = np.flatnonzero(t_s >= SOONEST_S)
    if not np.isfinite(q).all() or not np.isfinite(qd).all():
        return int(ahead[0])
    time = t_s[ahead, None]
    way = 6.0 * (q[ahead] - reference[0]) / time**2
    begin = way - (4.0 * reference[1] + 2.0 * qd[ahead]) / time
    end = (2.0 * reference[1] + 4.0 * qd[ahead]) / time - way
    need = (np.maximum(np.abs(begin), np.abs(end)) / limits.acceleration).max(axis=1)
    gentle = np.flatnonzero(need <= JOIN_EXCESS)
    if not len(gentle) and t_s[0] <= 0.0:
        text = (
            f"the arm is off the schedule's curve, and would need {need.min():.2f} of its acceleration limits"
        )
        raise GoalRefused(ErrorCode.INVALID_GOAL, f"{text} to join it; {JOIN_EXCESS:g} is most")
    return int(ahead[gentle[0] if len(gentle) else need.argmin()])
