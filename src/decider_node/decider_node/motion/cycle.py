"""Kernel: one cycle of the reactive controller."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.ik.single import descend
from handiwork_planning.kernels.arrays import DRIVER, SLIDES, Ints, RobotArrays, SceneArrays
from handiwork_planning.kernels.jit import kernel
from handiwork_planning.kernels.kinematics import pose_error, tool_pose

from .bounded_step import solve_bounded
from .collision_avoidance import add_point_rate, near_rows

MOST_ROWS = 24
BRAKE_SHARE = 0.8
"""Share of the limit of acceleration with which a joint brakes before its limit of position."""
TURN_WEIGHT = 0.09
"""Weight of a turn of the tool against a shift, m^2/rad^2."""


class Gains(NamedTuple):
    """The gains of the control law; see ``controller.Settings``."""

    pull: float
    linear_speed: float
    angular_speed: float
    linear_acceleration: float
    angular_acceleration: float
    reach: float
    nearing: float


class MotionState(NamedTuple):
    """The state of the arm's motion; a cycle writes ``goal`` and ``rate``."""

    q: Array
    """Start of the cycle, (n,): the commanded joints, drawn to the measured ones, rad or m."""
    velocity: Array
    """Limits, (n,), rad/s."""
    acceleration: Array
    """Limits, (n,), rad/s^2."""
    goal: Array
    """Configuration for the target, (n,), kept from cycle to cycle."""
    rate: Array
    """Commanded velocity, (n,), rad/s: of the last cycle, and then of this one."""


@kernel
def brought(error: float, gain: float, most: float, brake: float) -> float:
    """Return the speed towards a target at which the motion can still stop in time.

    Args:
        error: Distance to the target.
        gain: Speed per distance near the target, 1/s.
        most: Largest speed.
        brake: Deceleration; from v it stops within v^2 / (2 brake).
    """
    return min(min(gain * error, most), np.sqrt(2.0 * brake * error))


@kernel
def stoppable(room: float, brake: float, dt: float) -> float:
    """Return the speed from which a joint comes to rest within a room when it brakes after the present cycle only.

    Args:
        room: Distance from the limit, rad or m; beyond the limit the answer is 0.
        brake: Deceleration, rad/s^2 or m/s^2.
        dt: Time of the cycle, s.
    """
    most = brake * dt
    return np.sqrt(most**2 + 2.0 * brake * max(room, 0.0)) - most


@kernel
def tool_rate(robot: RobotArrays, frames: Array, tool: Array, jacobian: Array) -> None:
    """Write the Jacobian of the EE link in world.

    Args:
        robot: The robot.
        frames: Poses of the links, rotation by rows and origin, (m + 1, 12).
        tool: Pose of the EE link, (12,).
        jacobian: Output, linear then angular velocity per joint velocity, (6, n).
    """
    p, axis, body = tool[9:12], np.zeros(3), robot.tool_body
    jacobian[:] = 0.0
    for k in range(3):
        axis[:] = 0.0
        axis[k] = 1.0
        add_point_rate(jacobian[k], 1.0, axis, p, body, robot.joints, robot.ratio, frames)
    for j in range(body):
        if robot.joints[j, SLIDES] == 0:
            for k in range(3):
                jacobian[3 + k, robot.joints[j, DRIVER]] += robot.ratio[j] * frames[j + 1, 3 * k + 2]


@kernel
def joint_bounds(m: MotionState, robot: RobotArrays, dt: float, low: Array, high: Array) -> None:
    """Write the velocities from which the next cycles can still keep all limits.

    A joint goes on with its velocity for the whole cycle before it can brake, so a longer cycle leaves less of its
    room for braking.

    Args:
        m: The motion.
        robot: Has the position limits.
        dt: Time of a cycle, s.
        low: Output, lower bounds, (n,), rad/s or m/s.
        high: Output, upper bounds, (n,), rad/s or m/s.
    """
    for j in range(len(m.q)):
        a, brake = m.acceleration[j], BRAKE_SHARE * m.acceleration[j]
        least, most = m.rate[j] - a * dt, m.rate[j] + a * dt
        up = stoppable(robot.upper[j] - m.q[j], brake, dt)
        down = stoppable(m.q[j] - robot.lower[j], brake, dt)
        high[j] = max(min(min(most, m.velocity[j]), up), least)
        low[j] = min(max(max(least, -m.velocity[j]), -down), high[j])


@kernel
def follow(
    m: MotionState,
    target: Array,
    target_rate: Array,
    seed: Array,
    dt: float,
    gains: Gains,
    robot: RobotArrays,
    scene: SceneArrays,
    margins: Array,
    pairs: Ints,
    report: Array,
) -> None:
    """Write the next velocities into ``m.rate``.

    Args:
        m: The motion.
        target: Pose to aim at in world, rotation by rows and origin, (12,).
        target_rate: Velocity of the target, linear then angular, (6,), m/s and rad/s.
        seed: Configuration to search the goal from, (n,), rad or m.
        dt: Time of a cycle, s.
        gains: Gains of the law.
        robot: The robot.
        scene: The obstacles.
        margins: Smallest distances of ``near_rows``, m.
        pairs: Pairs of ``near_rows``, (k, 2).
        report: Output, (4,): distance, m, and angle, rad, to the target, smallest distance beyond a margin, m, and
            1 when the target was found reachable, else 0.
    """
    n = len(m.q)
    frames, tool, error = np.empty((len(robot.chain) + 1, 12)), np.empty(12), np.empty(6)
    tool_pose(m.q, robot, frames, tool)
    pose_error(target, tool, error)
    reachable = _goal(m, target, seed, robot)
    linear = np.sqrt(error[0] ** 2 + error[1] ** 2 + error[2] ** 2)
    angular = np.sqrt(error[3] ** 2 + error[4] ** 2 + error[5] ** 2)
    wanted = target_rate.copy()
    speed = brought(linear, gains.pull, gains.linear_speed, gains.linear_acceleration)
    turning = brought(angular, gains.pull, gains.angular_speed, gains.angular_acceleration)
    for k in range(3):
        wanted[k] += error[k] * speed / max(linear, 1.0e-9)
        wanted[3 + k] += error[3 + k] * turning / max(angular, 1.0e-9)
    # From afar the arm goes by its joints to a configuration that was found; near the target the tool goes straight.
    far = min(max(2.0 * max(linear / 0.4, angular / 0.8) - 1.0, 0.0), 1.0) if reachable else 0.0
    jacobian = np.empty((6, n))
    tool_rate(robot, frames, tool, jacobian)
    h, g = np.zeros((n, n)), np.zeros(n)
    _cost(m, jacobian, wanted, far, reachable, gains, h, g)
    low, high = np.empty(n), np.empty(n)
    joint_bounds(m, robot, dt, low, high)
    rows, bounds, scratch = np.zeros((MOST_ROWS, n)), np.zeros(MOST_ROWS), np.empty((3, 3))
    count, nearest = near_rows(
        pairs, margins, gains.reach, gains.nearing, robot, scene, frames, rows, bounds, scratch
    )
    solve_bounded(h, g, low, high, rows, bounds, count, m.rate)
    report[0], report[1], report[2], report[3] = linear, angular, nearest, 1.0 if reachable else 0.0


@kernel
def _goal(m: MotionState, target: Array, seed: Array, robot: RobotArrays) -> bool:
    """Keep ``m.goal`` at the target: search from its last value, else from ``seed``."""
    left, trial = np.empty(6), m.goal.copy()
    if not descend(trial, target, robot, 10, left):
        trial[:] = seed
        if not descend(trial, target, robot, 40, left):
            return False
    m.goal[:] = trial
    return True


@kernel
def _cost(
    m: MotionState,
    jacobian: Array,
    wanted: Array,
    far: float,
    reachable: bool,
    gains: Gains,
    h: Array,
    g: Array,
) -> None:
    n = len(m.q)
    share = 1.0e9
    for j in range(n):
        e = abs(m.goal[j] - m.q[j])
        if e > 1.0e-9:
            share = min(share, brought(e, gains.pull, m.velocity[j], 0.7 * m.acceleration[j]) / e)
    damping = 1.0e-4 if reachable else 0.01  # an unreachable target is near a singularity
    task, posture = (1.0 - far) + 0.01 * far, (far + 0.002 if reachable else 0.0)
    for i in range(n):
        for j in range(n):
            for k in range(6):
                w = task if k < 3 else task * TURN_WEIGHT
                h[i, j] += w * jacobian[k, i] * jacobian[k, j]
        for k in range(6):
            g[i] += (task if k < 3 else task * TURN_WEIGHT) * jacobian[k, i] * wanted[k]
        h[i, i] += posture + damping
        g[i] += posture * (m.goal[i] - m.q[i]) * share + damping * m.rate[i]
