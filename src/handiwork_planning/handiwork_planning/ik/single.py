"""Inverse kinematics from one start: what follows a line step by step needs. Many starts: see ik_search."""

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
    """Move ``q`` (n,) in place towards ``goal`` (12,) within limits; ``error`` (6,) is what is left.

    All lanes do the same: one of eight costs less than the same sums done singly.
    """
    n = len(q)
    links, w = links_of(robot), new_lanes(n)
    for k in range(LANES):
        for i in range(12):
            w[GOAL + i, k] = goal[i]
        for j in range(n):
            w[JOINTS + PER_JOINT * j, k] = q[j]
    for _ in range(iterations + 1):
        advance(w, links)
        if w[WORST, 0] < TOLERANCE_M:
            break
    for j in range(n):
        q[j] = w[JOINTS + PER_JOINT * j, 0]
    turn = np.sqrt(w[TURN, 0])
    scale = turn_rad(w[TURN, 0]) / turn if turn > 1.0e-9 else 1.0
    for i in range(3):
        error[i], error[3 + i] = w[ERROR + i, 0], w[ERROR + 3 + i, 0] * scale
    return bool(w[WORST, 0] < TOLERANCE_M)
