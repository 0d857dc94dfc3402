"""Checks of a trajectory goal, done once before anything moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from handiwork_core.model.geometry import Array
from handiwork_core.model.thresholds import PATH_END_REST
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.robot import ArmSpec, BaseSpec, Robot

from .goal_refusal import ErrorCode, GoalRefused
from .tolerances import Tolerances, goal_time_s, joint_tolerances


@dataclass(frozen=True, slots=True, eq=False)
class JointLimits:
    """Limits in the arm's joint order.

    Attributes:
        names: Names of the joints, (dof,).
        lower: Lower positions, (dof,), rad or m.
        upper: Upper positions, (dof,), rad or m.
        velocity: Largest speeds, (dof,), rad/s or m/s.
        acceleration: Largest accelerations, (dof,), rad/s^2 or m/s^2.
    """

    names: tuple[str, ...]
    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array

    @classmethod
    def of(cls, robot: Robot, arm: ArmSpec | BaseSpec) -> JointLimits:
        """Return the limits of the joints of an arm or base.

        Args:
            robot: The robot.
            arm: The arm or base.
        """
        joints = [robot.joints[name] for name in arm.joint_names]
        columns = [
            [getattr(j, key) for j in joints] for key in ("lower", "upper", "velocity", "acceleration")
        ]
        return cls(arm.joint_names, *(np.array(column, dtype=np.float64) for column in columns))


@dataclass(frozen=True, slots=True, eq=False)
class TrajectoryGoal:
    """A goal as received.

    A tolerance of 0, or none for a joint, takes the default, as control_msgs defines it. A negative one would lift the
    check there and is refused here, as is one above the controller's greatest.

    Attributes:
        joint_names: Names of the columns, (dof,).
        t_s: Times of the points, (n,), s from the start.
        q: Positions, (n, dof), rad or m.
        qd: Velocities, (n, dof), rad/s or m/s; None if there are none.
        path_tolerance: Tolerance by joint name, rad or m.
        goal_tolerance: Tolerance by joint name, rad or m.
        goal_time_tolerance_s: Longest time beyond the trajectory, s.
        start_s: Time of the start, s of simulated time; 0 for now.
        stop_force: Force on the tool at which the motion ends, (3,), N; see ``ContactGuard``. None: it is not watched.
    """

    joint_names: tuple[str, ...]
    t_s: Array
    q: Array
    qd: Array | None = None
    path_tolerance: Mapping[str, float] = field(default_factory=dict)
    goal_tolerance: Mapping[str, float] = field(default_factory=dict)
    goal_time_tolerance_s: float = 0.0
    start_s: float = 0.0
    stop_force: Array | None = None

    @classmethod
    def of(cls, trajectory: Trajectory) -> TrajectoryGoal:
        """Return the goal for a motion as it was planned.

        Args:
            trajectory: The motion.
        """
        names, given = trajectory.joint_names, trajectory.goal_tolerance
        return cls(
            names,
            trajectory.t_s,
            trajectory.q,
            trajectory.qd,
            goal_tolerance={} if given is None else dict(zip(names, given.tolist(), strict=True)),
            start_s=trajectory.begin_s,
            stop_force=trajectory.stop_force,
        )


@dataclass(frozen=True, slots=True, eq=False)
class CheckedTrajectory:
    """A valid trajectory, ready to be sampled, in the arm's joint order.

    Attributes:
        position: Spline of the positions, (dof,), rad or m, over time in s.
        velocity: Its first derivative.
        acceleration: Its second derivative.
        duration_s: Length of the trajectory, s.
        path_tolerance: Largest distance from the path, (dof,), rad or m.
        goal_tolerance: Largest distance from the end, (dof,), rad or m.
        goal_time_s: Longest time beyond the trajectory, s.
    """

    position: CubicHermiteSpline
    velocity: CubicHermiteSpline
    acceleration: CubicHermiteSpline
    duration_s: float
    path_tolerance: Array
    goal_tolerance: Array
    goal_time_s: float

    def sample(self, path_s: float) -> tuple[Array, Array]:
        """Return position and velocity at one time; the splines themselves take ten times as long for so little.

        Args:
            path_s: Time on the trajectory, 0 to ``duration_s``.

        Returns:
            Positions, (dof,), rad or m, and velocities, (dof,), rad/s or m/s.
        """
        knots = self.position.x
        i = min(max(int(knots.searchsorted(path_s, "right")) - 1, 0), len(knots) - 2)
        a, b, c, d = self.position.c[:, i]
        u = path_s - knots[i]
        return ((a * u + b) * u + c) * u + d, (3.0 * a * u + 2.0 * b) * u + c


def check(
    goal: TrajectoryGoal, limits: JointLimits, measured: Array | None, tolerances: Tolerances
) -> CheckedTrajectory:
    """Check all parts of a goal and prepare it.

    Args:
        goal: The goal as received.
        limits: Limits of the arm.
        measured: Measured positions in the order of ``limits.names``, (dof,), rad or m; None if they are unknown before
            the goal begins: then its start is not checked.
        tolerances: Tolerances of the controller.

    Returns:
        The trajectory, ready to be sampled.

    Raises:
        GoalRefused: The goal has a fault; the message names the first one.
    """
    order = _joint_order(goal.joint_names, limits.names)
    t, q, qd = _arrays(goal, order)
    measured = q[0] if measured is None else measured
    if t[0] > 0.0:
        t = np.concatenate([[0.0], t])
        q = np.vstack([measured, q])
        qd = np.vstack([np.zeros(len(measured)), qd])
    _refuse(
        np.abs(q[0] - measured),
        tolerances.start,
        limits,
        "starts {value:.4f} rad from the measured position; "
        "the limit is {limit:.4f}; plan from the newest joint_states",
    )
    _refuse(
        np.abs(qd[-1]),
        PATH_END_REST,
        limits,
        "ends with {value:.4f} rad/s; the limit is {limit:.4f}; end at rest",
    )
    if len(t) == 1:
        t, q, qd = np.array([0.0, 1e-3]), np.vstack([q, q]), np.vstack([qd, qd])
    position = CubicHermiteSpline(t, q, qd)
    velocity = position.derivative()
    _check_limits(t, q, velocity, limits, tolerances)
    return CheckedTrajectory(
        position,
        velocity,
        velocity.derivative(),
        float(t[-1]),
        joint_tolerances(
            goal.path_tolerance, limits.names, (tolerances.path, tolerances.greatest_path), "path_tolerance"
        ),
        joint_tolerances(
            goal.goal_tolerance, limits.names, (tolerances.goal, tolerances.greatest_goal), "goal_tolerance"
        ),
        goal_time_s(goal.goal_time_tolerance_s, tolerances),
    )


def _joint_order(given: tuple[str, ...], wanted: tuple[str, ...]) -> list[int]:
    unknown, missing = [n for n in given if n not in wanted], [n for n in wanted if n not in given]
    if unknown or missing or len(set(given)) != len(given):
        raise GoalRefused(
            ErrorCode.INVALID_JOINTS,
            f"joints {list(given)}: unknown {unknown}, missing {missing}; name each of {list(wanted)} once",
        )
    return [given.index(name) for name in wanted]


def _arrays(goal: TrajectoryGoal, order: list[int]) -> tuple[Array, Array, Array]:
    t, q, shape = goal.t_s, goal.q, (len(goal.t_s), len(order))
    if len(t) == 0 or q.shape != shape or (goal.qd is not None and goal.qd.shape != shape):
        velocities = None if goal.qd is None else goal.qd.shape
        raise GoalRefused(
            ErrorCode.INVALID_GOAL,
            f"positions are {q.shape}, velocities {velocities} for {len(t)} points; write {len(order)} in each point",
        )
    if not (
        np.isfinite(t).all() and np.isfinite(q).all() and (goal.qd is None or np.isfinite(goal.qd).all())
    ):
        raise GoalRefused(
            ErrorCode.INVALID_GOAL, "the trajectory holds nan or infinite numbers; send finite ones"
        )
    if t[0] < 0.0 or (np.diff(t) <= 0.0).any():
        at = int(np.argmax(np.diff(t) <= 0.0)) + 1 if t[0] >= 0.0 else 0
        raise GoalRefused(
            ErrorCode.INVALID_GOAL,
            f"time_from_start {t[at]:.6f} s of point {at} does not rise; make all times rise from 0",
        )
    if goal.qd is not None:
        return t, q[:, order], goal.qd[:, order]
    qd = np.zeros(shape)
    if len(t) > 2:
        qd[1:-1] = (q[2:] - q[:-2]) / (t[2:] - t[:-2])[:, None]
    return t, q[:, order], qd[:, order]


def _check_limits(
    t: Array, q: Array, velocity: CubicHermiteSpline, limits: JointLimits, tolerances: Tolerances
) -> None:
    slack = 1e-3
    for index in (
        int(np.argmax((limits.lower - q).max(axis=1))),
        int(np.argmax((q - limits.upper).max(axis=1))),
    ):
        beyond = np.maximum(limits.lower - q[index], q[index] - limits.upper)
        _refuse(
            beyond, slack, limits, "goes {value:.4f} rad beyond its position limit at point " + str(index)
        )
    fine = np.unique(np.concatenate([t[:-1] + part * np.diff(t) for part in (0.0, 0.25, 0.5, 0.75)]))
    speed = np.abs(velocity(fine)).max(axis=0)
    _refuse(
        speed - limits.velocity * tolerances.limit_excess,
        0.0,
        limits,
        "moves {value:.4f} rad/s faster than its velocity limit; slow the trajectory down",
    )


def _refuse(values: Array, limit: float, limits: JointLimits, text: str) -> None:
    worst = int(np.argmax(values))
    if values[worst] > limit:
        raise GoalRefused(
            ErrorCode.INVALID_GOAL,
            f"joint {limits.names[worst]} " + text.format(value=values[worst], limit=limit),
        )
