"""Follow a straight tool line, turning evenly, by small steps of inverse kinematics."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.ik.single import descend
from handiwork_planning.kernels.arrays import RobotArrays
from handiwork_planning.kernels.jit import kernel
from handiwork_planning.kernels.kinematics import compose, pose_error, tool_pose

FOLLOWED, LOST, JUMPED, DEVIATED = 0, 1, 2, 3
JUMP_RAD = 0.35
"""Longest joint move of one step; more means another branch of solutions."""


@kernel
def along(start: Array, shift: Array, t: float, out: Array) -> None:
    """Compute the pose at a share of the way from a start.

    Args:
        start: Transform, (12,).
        shift: The whole way in the world: translation [m] and rotation vector [rad], (6,).
        t: Share of the way, 0 to 1.
        out: Written: the pose, (12,).
    """
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
    """Track the line from the tool's pose at ``q`` to ``goal``; collisions are not tested.

    Args:
        q: Start configuration, (n,), rad or m.
        goal: world_T_ee, (12,).
        deviation_m: Largest distance of the tool from the line at the middle of each step, m.
        robot: The arm as a chain.
        path: Written: (k, n); row 0 is ``q``, row k - 1 the goal; between rows the joints move straight.
        error: Written: the last difference from the line, (6,), m and rad.

    Returns:
        FOLLOWED, LOST, JUMPED or DEVIATED, and the number of rows that are good.
    """
    n, steps = len(q), len(path) - 1
    frames, start = np.empty((len(robot.chain) + 1, 12)), np.empty(12)
    target, tool = np.empty(12), np.empty(12)
    shift, middle = np.empty(6), np.empty(n)
    tool_pose(q, robot, frames, start)
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
        tool_pose(middle, robot, frames, tool)
        pose_error(target, tool, error)
        if np.sqrt(error[0] ** 2 + error[1] ** 2 + error[2] ** 2) > deviation_m:
            return DEVIATED, k
    return FOLLOWED, steps + 1
