"""Follows joint trajectories in a simulated arm, step by step, and reports how each goal ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from handiwork_core.admittance.rule import AdmittanceRule
from handiwork_core.control.contact_guard import ContactGuard, Measure, not_measured
from handiwork_core.control.goal_refusal import ErrorCode, GoalRefused
from handiwork_core.control.point_stream import SILENT_S, PointStream, taken_over
from handiwork_core.control.tolerances import Tolerances
from handiwork_core.control.trajectory_goal import CheckedTrajectory, JointLimits, TrajectoryGoal, check
from handiwork_core.model.geometry import Array
from handiwork_core.model.thresholds import REST_TIME_S

SLOWEST_BRAKE_S = 0.4
"""Longest duration of a brake along the path, s, even if it needs more than the acceleration limits."""
RISE_PER_S = 0.5
"""Rise of a path's rate per second after it was reduced: two seconds to full speed."""

STREAM_JUMP_RAD = 0.2
"""A streamed position farther than this from the measured one is refused as a mistake, rad or m."""


def fastest_slowing(slope: Array, bend: Array, acceleration: Array) -> float:
    """Return the fastest fall of a path's rate within the acceleration limits, 1/s; inf where no joint moves.

    Args:
        slope: Velocities of the path at its full rate, (dof,), rad/s or m/s.
        bend: Accelerations of the path at its present rate, (dof,), rad/s^2 or m/s^2.
        acceleration: Limits, (dof,), rad/s^2 or m/s^2.
    """
    moving = np.abs(slope) > 1e-6
    room = acceleration + np.sign(slope) * bend
    return float((room[moving] / np.abs(slope[moving])).min()) if moving.any() else np.inf


class Ending(Enum):
    """The kind of end of a goal."""

    SUCCEEDED = "succeeded"
    CANCELED = "canceled"
    ABORTED = "aborted"


@dataclass(frozen=True, slots=True)
class TrajectoryResult:
    """The end of one goal.

    Attributes:
        ending: The kind of end.
        code: Code for the action result.
        message: Joint, value and limit if something went wrong.
    """

    ending: Ending
    code: ErrorCode
    message: str


STREAM_ENDED = TrajectoryResult(Ending.ABORTED, ErrorCode.SUCCESSFUL, "the stream ended")


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """The present reference of the servos.

    Attributes:
        position: Positions, (dof,), rad or m.
        velocity: Velocities, (dof,), rad/s or m/s.
    """

    position: Array
    velocity: Array


class Phase(Enum):
    """The state of the controller."""

    HOLD = "hold"
    FOLLOW = "follow"
    BRAKE_ON_PATH = "brake on path"
    BRAKE_HERE = "brake here"
    STREAM = "stream"
    SCHEDULE = "schedule"


class TrajectoryController:
    """One arm. ``start`` takes a goal, ``update`` is called at every physics step, ``result`` is set at the end.

    A cancelled arm brakes along its path, which was checked, by slowing the path's time as fast as the acceleration
    limits allow. An arm that left its path brakes from its present place. In both cases it then holds its position.

    Args:
        limits: Limits of the joints.
        start: Present positions, (dof,), rad or m.
        tolerances: Tolerances of the controller; None for the defaults.
    """

    def __init__(self, limits: JointLimits, start: Array, tolerances: Tolerances | None = None) -> None:
        self.limits = limits
        self.tolerances = tolerances or Tolerances()
        self.phase = Phase.HOLD
        self.result: TrajectoryResult | None = None
        self.reference = Reference(start, np.zeros(len(start)))
        self._goal: CheckedTrajectory | None = None
        self.speed_scale = 1.0
        """Share of its speed at which a path is followed, in (0, 1]; approached within the acceleration limits."""
        self.measure_force: Measure = not_measured
        """Measures the force on the tool, for goals that bound it."""
        self.admittance: AdmittanceRule | None = None
        """Yields to the wrench on the tool, behind this controller in the chain; None: the arm is stiff."""
        self._guard: ContactGuard | None = None
        self._path_s, self._rate, self._still_s = 0.0, 1.0, 0.0
        self._stream = PointStream(limits)
        self._pending = TrajectoryResult(Ending.CANCELED, ErrorCode.SUCCESSFUL, "")

    @property
    def busy(self) -> bool:
        """True while a goal is being followed, the arm brakes, or it yields to a wrench."""
        yielding = self.admittance
        return self.phase is not Phase.HOLD or (yielding is not None and yielding.is_busy)

    @property
    def command(self) -> Reference:
        """The reference with the offset by which the arm yields: what the servos are sent."""
        yielding = self.admittance
        if yielding is None:
            return self.reference
        limits, reference = self.limits, self.reference
        place = np.minimum(np.maximum(reference.position + yielding.offset, limits.lower), limits.upper)
        return Reference(place, reference.velocity + yielding.rate)

    @property
    def path_s(self) -> float:
        """Time on the path since its start, s."""
        return self._path_s

    @property
    def path_rate(self) -> float:
        """Path time that passes in each second."""
        return self._rate

    @property
    def path(self) -> CheckedTrajectory | None:
        """The path that is being followed; None while there is none."""
        return self._goal if self.phase is Phase.FOLLOW else None

    def start(self, goal: TrajectoryGoal, measured: Array) -> None:
        """Begin a goal; the arm must not be busy.

        Args:
            goal: The goal.
            measured: Measured positions, (dof,), rad or m.

        Raises:
            GoalRefused: The goal has a fault; nothing changes.
        """
        path = check(goal, self.limits, measured, self.tolerances)
        bound = goal.stop_force
        self._guard = None if bound is None else ContactGuard(bound, self.measure_force)
        if self.admittance is not None:  # the arm goes on from where it is, and yields about the new path
            self.admittance.offset = self.command.position - path.position(0.0)
        self._goal = path
        self.result, self.phase, self._path_s, self._rate = None, Phase.FOLLOW, 0.0, self.speed_scale
        # The arm is measured against its new path from now on, not against where it was held before.
        self._sample(0.0, 0.0)

    def stream(self, wanted: Reference, measured: Array, age_s: float = 0.0) -> None:
        """Move to ``wanted`` within the limits, and on with its velocity until the next point comes.

        Args:
            wanted: The point of the stream.
            measured: Measured positions, (dof,), rad or m.
            age_s: Time since the point was due, s.

        Raises:
            GoalRefused: A goal has the arm, or the numbers make no sense; nothing changes.
        """
        fell_silent = self.phase is Phase.BRAKE_HERE and self._pending is STREAM_ENDED
        if self.phase not in (Phase.HOLD, Phase.STREAM) and not fell_silent:
            why = f": {self._pending.message}" if self.phase is Phase.BRAKE_HERE else ""
            raise GoalRefused(ErrorCode.INVALID_GOAL, f"the arm is busy ({self.phase.value}{why})")
        q, qd = wanted.position, wanted.velocity
        if q.shape != measured.shape or qd.shape != q.shape or not np.isfinite([*q, *qd]).all():
            raise GoalRefused(ErrorCode.INVALID_GOAL, f"give {len(measured)} finite positions and velocities")
        i = int(np.argmax(np.abs(q - measured)))
        if abs(q[i] - measured[i]) > STREAM_JUMP_RAD:
            text = f"joint {self.limits.names[i]} is to jump by {q[i] - measured[i]:.3f} rad"
            raise GoalRefused(ErrorCode.INVALID_GOAL, text)
        if age_s > SILENT_S:
            raise GoalRefused(
                ErrorCode.INVALID_GOAL, f"the point was for {age_s:.3f} s ago; {SILENT_S:g} s is most"
            )
        if self.phase is not Phase.STREAM:
            self._stream = PointStream(self.limits)
        self._stream.take(q, qd, age_s)
        self.phase = Phase.STREAM

    def schedule(self, t_s: Array, q: Array, qd: Array) -> None:
        """Go through points at their times, and rest at the last; the next schedule takes over, see ``taken_over``.

        The joint_trajectory_controller of ros2_control does the same with messages on its topic.

        Args:
            t_s: Time until each point is due, (n,), s; those that are over show the curve that leads here.
            q: Positions, (n, dof), rad or m.
            qd: Velocities, (n, dof), rad/s or m/s; the last row is zero.

        Raises:
            GoalRefused: A goal has the arm, all points are over, or the numbers make no sense; nothing changes.
        """
        if self.phase not in (Phase.HOLD, Phase.STREAM, Phase.SCHEDULE):
            raise GoalRefused(ErrorCode.INVALID_GOAL, f"the arm is busy ({self.phase.value})")
        if t_s[-1] <= 0.0:
            raise GoalRefused(ErrorCode.OLD_HEADER_TIMESTAMP, f"the last point was for {-t_s[-1]:.3f} s ago")
        start = self.reference.position, self.reference.velocity
        self._goal, self._path_s = taken_over(self.limits, (t_s, q, qd), start, self.tolerances)
        self.phase, self._rate = Phase.SCHEDULE, 1.0

    def stop(self, ending: Ending, message: str) -> None:
        """Brake along the path.

        Args:
            ending: Ending of the goal, once the arm is at rest.
            message: The reason in words.
        """
        if self.phase is Phase.FOLLOW:
            self._pending = TrajectoryResult(ending, ErrorCode.SUCCESSFUL, message)
            self.phase = Phase.BRAKE_ON_PATH

    def hold(self, position: Array, message: str, code: ErrorCode = ErrorCode.INVALID_GOAL) -> None:
        """Hold a position from now on, in any phase; a running goal is aborted.

        This serves a world that was reset, and the end of a stop by the safety layer.

        Args:
            position: Positions, (dof,), rad or m.
            message: The reason in words.
            code: Code of an aborted goal.
        """
        if self.phase is not Phase.HOLD:
            self.result = TrajectoryResult(Ending.ABORTED, code, message)
        self.reference, self.phase = Reference(position, np.zeros(len(position))), Phase.HOLD
        if self.admittance is not None:
            self.admittance.clear()

    def update(self, q: Array, qd: Array, step_s: float) -> Reference:
        """Advance by one physics step.

        Args:
            q: Measured positions, (dof,), rad or m.
            qd: Measured velocities, (dof,), rad/s or m/s.
            step_s: Duration of the step, s.

        Returns:
            The reference of the servos; of an arm that yields: see ``command``.
        """
        if self.admittance is not None:
            # The path is followed by the arm without its offset.
            q, qd = q - self.admittance.offset, qd - self.admittance.rate
        reference = self._advance(q, qd, step_s)
        if self.admittance is not None:
            self._yield(self.admittance, step_s)
        return reference

    def _yield(self, admittance: AdmittanceRule, step_s: float) -> None:
        """Advance the offset; once the arm yields no more, it becomes a part of the reference that is held."""
        if admittance.is_active:
            admittance.update(self.reference.position, step_s)
        elif self.phase is Phase.HOLD and admittance.offset.any():
            self.reference = Reference(self.command.position, self.reference.velocity)
            admittance.clear()

    def _advance(self, q: Array, qd: Array, step_s: float) -> Reference:
        if self._guard is not None and self._feels_contact(self._guard, q, qd, step_s):
            return self.reference
        if self.phase is Phase.FOLLOW:
            self._follow(q, qd, step_s)
        elif self.phase is Phase.BRAKE_ON_PATH:
            self._brake_on_path(q, qd, step_s)
        elif self.phase is Phase.BRAKE_HERE:
            self._brake_here(qd, step_s)
        elif self.phase is Phase.STREAM:
            self._go_on(q, qd, step_s)
        elif self.phase is Phase.SCHEDULE:
            self._keep_schedule(step_s)
        return self.reference

    def _feels_contact(self, guard: ContactGuard, q: Array, qd: Array, step_s: float) -> bool:
        """End at the bound of the force."""
        if self.phase not in (Phase.FOLLOW, Phase.BRAKE_ON_PATH):
            return False
        found = guard.update(step_s)
        if found is None:
            return False
        self._stop_here(q, qd, TrajectoryResult(Ending.ABORTED, *found))
        return True

    def _go_on(self, q: Array, qd: Array, step_s: float) -> None:
        """Follow the stream; when it ends, the arm brakes from its reference, without a jump."""
        if self._left_path(q, qd, np.full(len(q), self.tolerances.stream)):
            return
        if self._stream.silent_s > SILENT_S:
            self._pending, self.phase = STREAM_ENDED, Phase.BRAKE_HERE
            return
        now = self.reference
        self.reference = Reference(
            *self._stream.advance(now.position, now.velocity, step_s, self.speed_scale)
        )

    def _keep_schedule(self, step_s: float) -> None:
        goal = self._goal
        assert goal is not None
        self._path_s = min(self._path_s + step_s, goal.duration_s)
        self._sample(self._path_s, 1.0)
        if self._path_s >= goal.duration_s:
            self.phase = Phase.HOLD

    def _follow(self, q: Array, qd: Array, step_s: float) -> None:
        goal = self._goal
        assert goal is not None
        late_s = self._path_s - goal.duration_s
        tolerance = (
            goal.path_tolerance if late_s < 0.0 else np.maximum(goal.path_tolerance, goal.goal_tolerance)
        )
        if self._left_path(q, qd, tolerance):
            return
        self._approach_scale(step_s)
        self._path_s += step_s * self._rate
        self._sample(min(self._path_s, goal.duration_s), self._rate)
        if late_s < 0.0:
            return
        error = np.abs(self.reference.position - q)
        if (error <= goal.goal_tolerance).all() and np.abs(qd).max() <= self.tolerances.rest:
            self._end(TrajectoryResult(Ending.SUCCEEDED, ErrorCode.SUCCESSFUL, ""))
        elif late_s > goal.goal_time_s:
            self._stop_here(q, qd, self._late(error, qd, goal))

    def _late(self, error: Array, qd: Array, goal: CheckedTrajectory) -> TrajectoryResult:
        i = int(np.argmax(error / goal.goal_tolerance))
        if error[i] > goal.goal_tolerance[i]:
            text = f"is {error[i]:.4f} rad from its goal; the tolerance is {goal.goal_tolerance[i]:.4f}"
        else:
            i = int(np.argmax(np.abs(qd)))
            text = f"still moves at {abs(qd[i]):.4f} rad/s; the limit is {self.tolerances.rest:.4f}"
        message = f"joint {self.limits.names[i]} {text}, {goal.goal_time_s:.2f} s after the end"
        return TrajectoryResult(Ending.ABORTED, ErrorCode.GOAL_TOLERANCE_VIOLATED, message)

    def _left_path(self, q: Array, qd: Array, tolerance: Array) -> bool:
        error = np.abs(self.reference.position - q)
        if (error <= tolerance).all():
            return False
        i = int(np.argmax(error / tolerance))
        message = f"joint {self.limits.names[i]} is {error[i]:.4f} rad off its path; tolerance is {tolerance[i]:.4f}"
        self._stop_here(q, qd, TrajectoryResult(Ending.ABORTED, ErrorCode.PATH_TOLERANCE_VIOLATED, message))
        return True

    def _sample(self, path_s: float, rate: float) -> None:
        goal = self._goal
        assert goal is not None
        position, velocity = goal.sample(path_s)
        self.reference = Reference(position, velocity * rate)

    def _brake_on_path(self, q: Array, qd: Array, step_s: float) -> None:
        goal = self._goal
        assert goal is not None
        if self._rate > 0.0 and self._left_path(q, qd, goal.path_tolerance):
            return
        slowing = max(self._slowing(goal), 1.0 / SLOWEST_BRAKE_S)
        self._rate = max(0.0, self._rate - slowing * step_s)
        self._path_s = min(self._path_s + self._rate * step_s, goal.duration_s)
        self._sample(self._path_s, self._rate)
        self._end_at_rest(self._rate == 0.0 or self._path_s >= goal.duration_s, qd, step_s)

    def _slowing(self, goal: CheckedTrajectory) -> float:
        """Return the fastest fall of the path's rate within the acceleration limits, 1/s."""
        slope, bend = goal.velocity(self._path_s), goal.acceleration(self._path_s) * self._rate**2
        return fastest_slowing(slope, bend, self.limits.acceleration)

    def _approach_scale(self, step_s: float) -> None:
        """Change the path's rate towards ``speed_scale``, down as in a brake, up at ``RISE_PER_S``."""
        assert self._goal is not None
        if self._rate > self.speed_scale:
            slowing = max(self._slowing(self._goal), 1.0 / SLOWEST_BRAKE_S)
            self._rate = max(self.speed_scale, self._rate - slowing * step_s)
        elif self._rate < self.speed_scale:
            self._rate = min(self.speed_scale, self._rate + RISE_PER_S * step_s)

    def _stop_here(self, q: Array, qd: Array, result: TrajectoryResult) -> None:
        """Begin to brake where the arm is measured: the reference jumps there, so that the servos let go.

        Its velocity is the measured one as far as that lies between rest and the reference's: a joint that was stopped
        is pushed no further, and one that a blow made fast, or threw back, is not commanded to go on like that.
        """
        self._pending, self.phase, self._still_s = result, Phase.BRAKE_HERE, 0.0
        if self.admittance is not None:
            self.admittance.release()
        was = self.reference.velocity
        self.reference = Reference(q, np.clip(qd, np.minimum(was, 0.0), np.maximum(was, 0.0)))

    def _brake_here(self, qd: Array, step_s: float) -> None:
        """Slow the reference down at the acceleration limits."""
        rate = self.reference.velocity
        now = np.sign(rate) * np.maximum(np.abs(rate) - self.limits.acceleration * step_s, 0.0)
        place = np.clip(self.reference.position + now * step_s, self.limits.lower, self.limits.upper)
        self.reference = Reference(place, now)
        self._end_at_rest(not now.any(), qd, step_s)

    def _end_at_rest(self, is_braked: bool, qd: Array, step_s: float) -> None:
        """End once the arm has been still for ``REST_TIME_S``: an arm that swings out has moments without speed."""
        still = is_braked and bool(np.abs(qd).max() <= self.tolerances.rest)
        self._still_s = self._still_s + step_s if still else 0.0
        if self._still_s >= REST_TIME_S:
            self._end(self._pending)

    def _end(self, result: TrajectoryResult) -> None:
        self.reference = Reference(self.reference.position, np.zeros(len(self.limits.names)))
        self.phase, self.result, self._still_s = Phase.HOLD, result, 0.0
