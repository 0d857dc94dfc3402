"""Continuous test of a straight joint motion by bisection with motion bounds (Schwarzer, Saha, Latombe 2005)."""

from __future__ import annotations

import numpy as np

from handiwork_core.geometry import Array

from .arrays import Ints, RobotArrays, SceneArrays
from .collision import CLEAR, HIT, check
from .jit import kernel

FINEST_M = 0.003
"""A piece is not split once no sphere centre travels further than this along it, and no joint further than FINEST_RAD.
Between two tests, then, nothing gets deeper by more than half of it."""
FINEST_RAD = 0.01


@kernel
def edge_is_free(
    a: Array, b: Array, robot: RobotArrays, scene: SceneArrays, margins: Array, frames: Array, hit: Ints
) -> bool:
    """Is the straight motion from ``a`` (n,) to ``b`` (n,) free? ``b`` itself is tested, ``a`` is taken as tested.

    A piece is free when its middle is CLEAR for the joint moves of half the piece: then no point of it can touch. Pieces
    that are merely NEAR are halved down to FINEST_M and FINEST_RAD. Middles of large pieces come first, so that blocked edges
    end early.
    """
    n = len(a)
    q, move = np.empty(n), np.zeros(n)
    if check(b, move, robot, scene, margins, frames, hit) == HIT:
        return False
    widest, farthest = 0.0, 0.0
    for j in range(n):
        widest = max(widest, abs(b[j] - a[j]))
    for g in range(len(robot.group_body)):
        total = 0.0
        for j in range(robot.group_body[g]):
            total += abs(b[j] - a[j]) * robot.reach[g, j]
        farthest = max(farthest, total)
    pieces = max(farthest / FINEST_M, widest / FINEST_RAD)
    levels = 0
    while pieces > 1.0 and levels < 20:
        pieces *= 0.5
        levels += 1
    # Breadth first: all pieces of one size before the next; a cleared piece has no halves.
    todo = np.zeros(64, dtype=np.int64)
    count, width = 1, 1.0
    for level in range(levels + 1):
        following = np.empty(2 * count, dtype=np.int64)
        fresh = 0
        for j in range(n):
            move[j] = 0.5 * width * abs(b[j] - a[j])
        for i in range(count):
            middle = (todo[i] + 0.5) * width
            for j in range(n):
                q[j] = a[j] + middle * (b[j] - a[j])
            state = check(q, move, robot, scene, margins, frames, hit)
            if state == HIT:
                return False
            if state != CLEAR and level < levels:
                following[fresh] = 2 * todo[i]
                following[fresh + 1] = 2 * todo[i] + 1
                fresh += 2
        if fresh == 0:
            return True
        todo, count, width = following, fresh, 0.5 * width
    return True


@kernel
def first_blocked(
    path: Array, robot: RobotArrays, scene: SceneArrays, margins: Array, frames: Array, hit: Ints
) -> int:
    """Index of the first row of ``path`` (k, n) that cannot be reached straight from the row before; -1: all can."""
    for i in range(1, len(path)):
        if not edge_is_free(path[i - 1], path[i], robot, scene, margins, frames, hit):
            return i
    return -1
