"""Pose components of the EE that keep their start value: the difference at a configuration, and the way back.

The turn since the start is a rotation vector, so that holding two of its three components leaves turns about the third
axis free. Projection is Newton's method on the held components only (Berenson, Srinivasa, Kuffner, "Task space
regions", 2011); the rate of a rotation vector follows the inverse left Jacobian of SO(3) (Chirikjian 2012, 10.3).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.kernels.arrays import DRIVER, SLIDES, Ints, RobotArrays
from handiwork_planning.kernels.jit import kernel
from handiwork_planning.kernels.kinematics import pose_error, tool_pose

HOLD_M, HOLD_RAD = 0.002, 0.01
"""A held component may differ this much from its start value."""
CLOSE = 0.05
"""Projection ends when every component is within this share of the difference that it may have."""
ITERATIONS = 15
NEWTON_RAD = 0.4
"""Longest joint move of one Newton step."""


class Hold(NamedTuple):
    """The held components.

    Attributes:
        start: EE pose at the start, (12,).
        axes: Unit vectors of held components in the world, (k, 3).
        turns: 1 if the component is a turn, 0 if it is a translation, (k,).
    """

    start: Array
    axes: Array
    turns: Ints
    """(k,) 1 where the component is a turn, 0 where it is a translation."""


def hold_of(start: Array, base_R_world: Array, weights: tuple[float, ...]) -> Hold:
    """Return the held components for the kernels.

    Args:
        start: world_T_ee at the start, (12,).
        base_R_world: Rotation matrix, (3, 3); its rows are the axes of the base in the world.
        weights: Weights of (ang x, y, z, lin x, y, z) in axes of the base; those above zero are held.
    """
    held = [i for i in range(6) if weights[i] > 0.0]
    turns = np.array([1 if i < 3 else 0 for i in held], dtype=np.int64)
    return Hold(start, np.ascontiguousarray(base_R_world[[i % 3 for i in held]]), turns)


@kernel
def held_gap(tool: Array, hold: Hold, shift: Array, gap: Array) -> float:
    """Compute the difference of every held component at a tool pose.

    Args:
        tool: world_T_ee, (12,).
        hold: The components that are held.
        shift: Written: the whole way from the start to the tool in the world, (6,), m and rad.
        gap: Written: difference of each held component, (k,), m or rad.

    Returns:
        The largest difference as a share of the allowed one.
    """
    pose_error(tool, hold.start, shift)
    worst = 0.0
    for i in range(len(hold.turns)):
        turn = hold.turns[i] == 1
        first = 3 if turn else 0
        gap[i] = 0.0
        for c in range(3):
            gap[i] += hold.axes[i, c] * shift[first + c]
        worst = max(worst, abs(gap[i]) / (HOLD_RAD if turn else HOLD_M))
    return worst


@kernel
def held_share(q: Array, hold: Hold, robot: RobotArrays, frames: Array) -> float:
    """Return the largest difference of a held component at ``q`` as a share of the allowed one.

    Args:
        q: Configuration, (n,), rad or m.
        hold: The components that are held.
        robot: The arm as a chain.
        frames: Scratch, (m + 1, 12).
    """
    tool, shift, gap = np.empty(12), np.empty(6), np.empty(len(hold.turns))
    tool_pose(q, robot, frames, tool)
    return held_gap(tool, hold, shift, gap)


@kernel
def _vector_rate(axis: Array, shift: Array, out: Array) -> None:
    """Compute ``out`` (3,): its product with a turning rate is the rate of the rotation vector along ``axis``."""
    x, y, z = shift[3], shift[4], shift[5]
    angle = np.sqrt(x * x + y * y + z * z)
    share = 1.0 / 12.0
    if angle > 1.0e-3:
        share = 1.0 / (angle * angle) - (1.0 + np.cos(angle)) / (2.0 * angle * max(np.sin(angle), 1.0e-9))
    u, v, w = y * axis[2] - z * axis[1], z * axis[0] - x * axis[2], x * axis[1] - y * axis[0]
    out[0] = axis[0] + 0.5 * u + share * (y * w - z * v)
    out[1] = axis[1] + 0.5 * v + share * (z * u - x * w)
    out[2] = axis[2] + 0.5 * w + share * (x * v - y * u)


@kernel
def _rows(hold: Hold, robot: RobotArrays, frames: Array, tool: Array, shift: Array, jac: Array) -> None:
    """Compute ``jac`` (k, n): the rate of each held component per joint; ``frames`` are those of the configuration."""
    rate = np.empty(3)
    jac[:] = 0.0
    for i in range(len(hold.turns)):
        rate[:] = hold.axes[i]
        if hold.turns[i] == 1:
            _vector_rate(hold.axes[i], shift, rate)
        for j in range(robot.tool_body):
            u, v, w = frames[j + 1, 2], frames[j + 1, 5], frames[j + 1, 8]
            turn, slide = hold.turns[i] == 1, robot.joints[j, SLIDES] == 1
            if slide and turn:
                u, v, w = 0.0, 0.0, 0.0
            elif not slide and not turn:
                x, y, z = (
                    tool[9] - frames[j + 1, 9],
                    tool[10] - frames[j + 1, 10],
                    tool[11] - frames[j + 1, 11],
                )
                u, v, w = v * z - w * y, w * x - u * z, u * y - v * x
            k = robot.joints[j, DRIVER]
            jac[i, k] += robot.ratio[j] * (rate[0] * u + rate[1] * v + rate[2] * w)


@kernel
def _newton(jac: Array, gap: Array, step: Array) -> None:
    """Compute ``step`` (n,) = J^T (J J^T + damping)^-1 gap, by Cholesky's factors of the (k, k) matrix."""
    k, n = jac.shape
    a, b = np.empty((k, k)), np.empty(k)
    for i in range(k):
        for c in range(i + 1):
            s = 1.0e-6 if i == c else 0.0
            for j in range(n):
                s += jac[i, j] * jac[c, j]
            for m in range(c):
                s -= a[i, m] * a[c, m]
            a[i, c] = np.sqrt(max(s, 1.0e-12)) if i == c else s / a[c, c]
    for i in range(k):
        s = gap[i]
        for m in range(i):
            s -= a[i, m] * b[m]
        b[i] = s / a[i, i]
    for i in range(k - 1, -1, -1):
        s = b[i]
        for m in range(i + 1, k):
            s -= a[m, i] * b[m]
        b[i] = s / a[i, i]
    for j in range(n):
        step[j] = 0.0
        for i in range(k):
            step[j] += jac[i, j] * b[i]


@kernel
def project(q: Array, hold: Hold, robot: RobotArrays, frames: Array) -> bool:
    """Move ``q`` in place to a nearby configuration within limits whose held components are at their start.

    Args:
        q: Configuration, (n,), rad or m; changed.
        hold: The components that are held.
        robot: The arm as a chain.
        frames: Scratch, (m + 1, 12).

    Returns:
        Whether such a configuration was found.
    """
    n, k = len(q), len(hold.turns)
    tool, shift, gap = np.empty(12), np.empty(6), np.empty(k)
    jac, step = np.empty((k, n)), np.empty(n)
    for _ in range(ITERATIONS):
        tool_pose(q, robot, frames, tool)
        if held_gap(tool, hold, shift, gap) <= CLOSE:
            return True
        _rows(hold, robot, frames, tool, shift, jac)
        for j in range(n):
            push = 0.0
            for i in range(k):
                push -= jac[i, j] * gap[i]
            if (q[j] <= robot.lower[j] and push < 0.0) or (q[j] >= robot.upper[j] and push > 0.0):
                for i in range(k):
                    jac[i, j] = 0.0
        _newton(jac, gap, step)
        largest = NEWTON_RAD
        for j in range(n):
            largest = max(largest, abs(step[j]))
        for j in range(n):
            q[j] = min(robot.upper[j], max(robot.lower[j], q[j] - step[j] * (NEWTON_RAD / largest)))
    return False
