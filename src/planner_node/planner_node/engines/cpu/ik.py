"""Inverse kinematics by damped least squares within joint limits, from several seeds.

Damping follows the error (Sugihara 2011); joints that stand at a limit and are pushed outwards are frozen for
that step.
"""

from __future__ import annotations

import numpy as np

from handiwork_core.geometry import Array

from .arrays import Ints, RobotArrays, SceneArrays
from .collision import pairs_on, touches
from .jit import kernel
from .kinematics import compose, forward, pose_error
from .rng import State, uniform

TOLERANCE_M = 1.0e-5
"""A solution is this close [m] and [rad]."""
STEP_RAD = 0.7
"""Longest joint step of one iteration."""

ITERATIONS = 20
"""Per start; what has not arrived by then (FR3: 0.3 % of what ever does) is better started elsewhere."""


@kernel
def jacobian_and_error(
    q: Array, goal: Array, robot: RobotArrays, frames: Array, jac: Array, error: Array
) -> None:
    """Writes ``jac`` (6, n), world axes, at the EE origin, and ``error`` (6,) [m, rad] towards ``goal`` (12,)."""
    n = len(q)
    forward(q, robot.chain, robot.prismatic, frames)
    tool = np.empty(12)
    compose(frames[n], robot.tool, tool)
    pose_error(goal, tool, error)
    prismatic = robot.prismatic
    for j in range(n):
        zx, zy, zz = frames[j + 1, 2], frames[j + 1, 5], frames[j + 1, 8]
        if prismatic[j] == 1:
            jac[0, j], jac[1, j], jac[2, j] = zx, zy, zz
            jac[3, j] = jac[4, j] = jac[5, j] = 0.0
            continue
        x, y, z = tool[9] - frames[j + 1, 9], tool[10] - frames[j + 1, 10], tool[11] - frames[j + 1, 11]
        jac[0, j], jac[1, j], jac[2, j] = zy * z - zz * y, zz * x - zx * z, zx * y - zy * x
        jac[3, j], jac[4, j], jac[5, j] = zx, zy, zz


@kernel
def damped_step(jac: Array, error: Array, damping: float, step: Array) -> None:
    """``step`` (n,) = J^T (J J^T + damping)^-1 error, by Cholesky's factors."""
    a, b = np.empty((6, 6)), np.empty(6)
    n = jac.shape[1]
    for i in range(6):
        for k in range(i + 1):
            s = damping if i == k else 0.0
            for j in range(n):
                s += jac[i, j] * jac[k, j]
            for m in range(k):
                s -= a[i, m] * a[k, m]
            a[i, k] = np.sqrt(max(s, 1.0e-14)) if i == k else s / a[k, k]
    for i in range(6):
        s = error[i]
        for m in range(i):
            s -= a[i, m] * b[m]
        b[i] = s / a[i, i]
    for i in range(5, -1, -1):
        s = b[i]
        for m in range(i + 1, 6):
            s -= a[m, i] * b[m]
        b[i] = s / a[i, i]
    for j in range(n):
        step[j] = 0.0
        for i in range(6):
            step[j] += jac[i, j] * b[i]


@kernel
def descend(q: Array, goal: Array, robot: RobotArrays, iterations: int, frames: Array, error: Array) -> bool:
    """Move ``q`` (n,) in place towards ``goal`` (12,) within limits; ``error`` (6,) is what is left."""
    n = len(q)
    jac, step, lower, upper = np.empty((6, n)), np.empty(n), robot.lower, robot.upper
    for _ in range(iterations):
        jacobian_and_error(q, goal, robot, frames, jac, error)
        square, worst = 0.0, 0.0
        for i in range(6):
            square += error[i] * error[i]
            worst = max(worst, abs(error[i]))
        if worst < TOLERANCE_M:
            return True
        for j in range(n):
            pull = 0.0
            for i in range(6):
                pull += jac[i, j] * error[i]
            if (q[j] <= lower[j] and pull < 0.0) or (q[j] >= upper[j] and pull > 0.0):
                for i in range(6):
                    jac[i, j] = 0.0
        damped_step(jac, error, 1.0e-7 + 0.01 * square, step)
        largest = STEP_RAD
        for j in range(n):
            largest = max(largest, abs(step[j]))
        for j in range(n):
            q[j] = min(upper[j], max(lower[j], q[j] + step[j] * (STEP_RAD / largest)))
    jacobian_and_error(q, goal, robot, frames, jac, error)
    for i in range(6):  # noqa: SIM110 - Numba compiles no generator
        if abs(error[i]) > TOLERANCE_M:
            return False
    return True


@kernel
def is_known(q: Array, found: Array, count: int) -> bool:
    """Is ``q`` (n,) within 0.1 rad, joint by joint, of one of the first ``count`` rows of ``found``?"""
    for i in range(count):
        gap = 0.0
        for j in range(len(q)):
            gap = max(gap, abs(q[j] - found[i, j]))
        if gap < 0.1:
            return True
    return False


@kernel
def solve(
    goal: Array,
    seeds: Array,
    tries: int,
    robot: RobotArrays,
    scene: SceneArrays,
    margins: Array,
    state: State,
    found: Array,
    best: Array,
    hit: Ints,
) -> int:
    """Distinct free solutions for ``goal`` (12,), at most as many as ``found`` (k, n) has rows; returns their number.

    The first tries start from ``seeds`` (s, n), the others at random. ``best`` (2,) gets the smallest error
    met [m, rad]; ``hit`` (2,) the pair that removed the last solution, [-1, -1] where none did.
    """
    n, count, smallest = len(robot.lower), 0, 1.0e9
    frames, q, error = np.empty((n + 1, 12)), np.empty(n), np.empty(6)
    pairs = pairs_on(robot, scene, margins)
    hit[0], hit[1] = -1, -1
    for t in range(tries):
        for j in range(n):
            low, high = robot.lower[j], robot.upper[j]
            q[j] = min(high, max(low, seeds[t, j])) if t < len(seeds) else low + (high - low) * uniform(state)
        reached = descend(q, goal, robot, ITERATIONS, frames, error)
        gap = np.sqrt(error[0] ** 2 + error[1] ** 2 + error[2] ** 2)
        turn = np.sqrt(error[3] ** 2 + error[4] ** 2 + error[5] ** 2)
        if gap + 0.1 * turn < smallest:
            smallest = gap + 0.1 * turn
            best[0], best[1] = gap, turn
        if not reached or is_known(q, found, count):
            continue
        if touches(q, pairs, robot, scene, margins, frames, hit):
            continue
        found[count] = q
        count += 1
        if count == len(found):
            break
    return count
