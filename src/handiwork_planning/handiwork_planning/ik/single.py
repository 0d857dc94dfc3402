"""Inverse kinematics from one start, for lines that are followed step by step. Many starts: see multi_start."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.kernels.arrays import RobotArrays
from handiwork_planning.kernels.jit import kernel
from handiwork_planning.kernels.simd import LANES

from .simd_solver import (
    ERROR,
    GOAL,
    JOINTS,
    OWN,
    PER_JOINT,
    TOLERANCE_M,
    TURN,
    WORST,
    advance,
    links_of,
    new_lanes,
    turn_rad,
)


@kernel
def descend(q: Array, goal: Array, robot: RobotArrays, iterations: int, error: Array) -> bool:
    """Move ``q`` in place towards a goal, within limits.

    All lanes do the same: one of eight costs less than the same sums done singly.

    Args:
        q: Configuration, (n,), rad or m; changed.
        goal: world_T_ee, (12,).
        robot: The arm as a chain.
        iterations: Largest number of steps.
        error: Written: the remaining error, (6,), m and rad.

    Returns:
        Whether the goal is reached.
    """
    n = len(q)
    links = links_of(robot)
    w = new_lanes(len(links) - 1)
    for k in range(LANES):
        for i in range(12):
            w[GOAL + i, k] = goal[i]
        for j in range(n):
            w[JOINTS + PER_JOINT * int(links[j, OWN]), k] = q[j]
    for _ in range(iterations + 1):
        advance(w, links)
        if w[WORST, 0] < TOLERANCE_M:
            break
    for j in range(n):
        q[j] = w[JOINTS + PER_JOINT * int(links[j, OWN]), 0]
    turn = np.sqrt(w[TURN, 0])
    scale = turn_rad(w[TURN, 0]) / turn if turn > 1.0e-9 else 1.0
    for i in range(3):
        error[i], error[3 + i] = w[ERROR + i, 0], w[ERROR + 3 + i, 0] * scale
    return bool(w[WORST, 0] < TOLERANCE_M)
