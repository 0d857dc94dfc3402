"""Follow a straight tool line, turning evenly, by small steps of inverse kinematics."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.ik.single import descend
from handiwork_planning.kernels.arrays import RobotArrays
from handiwork_planning.kernels.jit import kernel
from handiwork_planning.kernels.kinematics import compose, forward, pose_error

FOLLOWED, LOST, JUMPED, DEVIATED = 0, 1, 2, 3
JUMP_RAD = 0.35
"""Longest joint move of one step; more means another branch of solutions."""


@kernel
def along(start: Array, shift: Array, t: float, out: Array) -> None:
    """Pose ``out`` (12,) at share ``t`` of the way from ``start`` (12,) by ``shift`` (6,) [m, rad] in the world."""
    angle = np.sqrt(shift[3] ** 2 + shift[4] ** 2 + shift[5] ** 2)
    turn = np.zeros(12)
    s, c = np.sin(angle * t), np.cos(angle * t)
    x, y, z = 0.0, 0.0, 1.0
    if angle > 1e-12:
        x, y, z = shift[3] / angle, shift[4] / angle, shift[5] / angle
    v = 1.0 - c
    turn[0], turn[1], turn[2] = c + x * x * v, x * y * v - z * s, x * z * v + y * s
    turn[3], turn[4], turn[5] = y * x * v + z * s, c + y * y * v, y * z * v - x * s
    turn[6], turn[7], turn[8] = z * x * v - y * s, z * y * v + x * s, c + z * z * v
    compose(turn, start, out)
    for i in range(3):
        out[9 + i] = start[9 + i] + t * shift[i]


@kernel
def follow(
    q: Array,
    goal: Array,
    deviation_m: float,
    robot: RobotArrays,
    path: Array,
    error: Array,
) -> tuple[int, int]:
    """Track the line from the tool's pose at ``q`` (n,) to ``goal`` (12,); returns a state and how many rows are good.

    Collisions are not looked at here.

    ``path`` (k, n) is written: row 0 is ``q``, row k - 1 the goal. Between rows the joints move straight, and
    the middle of each step is within ``deviation_m`` of the line. ``error`` (6,) is the last gap to the line
    [m, rad].
    """
    n, steps = len(q), len(path) - 1
    frames, start, target, tool = np.empty((n + 1, 12)), np.empty(12), np.empty(12), np.empty(12)
    shift, middle = np.empty(6), np.empty(n)
    forward(q, robot.chain, robot.prismatic, frames)
    compose(frames[n], robot.tool, start)
    pose_error(goal, start, shift)
    path[0] = q
    for k in range(1, steps + 1):
        path[k] = path[k - 1]
        along(start, shift, k / steps, target)
        if not descend(path[k], target, robot, 20, error):
            return LOST, k
        jump = 0.0
        for j in range(n):
            jump = max(jump, abs(path[k, j] - path[k - 1, j]))
            middle[j] = 0.5 * (path[k, j] + path[k - 1, j])
        if jump > JUMP_RAD:
            return JUMPED, k
        along(start, shift, (k - 0.5) / steps, target)
        forward(middle, robot.chain, robot.prismatic, frames)
        compose(frames[n], robot.tool, tool)
        pose_error(target, tool, error)
        if np.sqrt(error[0] ** 2 + error[1] ** 2 + error[2] ** 2) > deviation_m:
            return DEVIATED, k
    return FOLLOWED, steps + 1
