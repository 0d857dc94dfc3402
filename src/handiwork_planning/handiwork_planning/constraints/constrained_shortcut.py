"""Shorten, smooth and even out a path of small steps that keeps held components."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.collision.batch_check import Checker
from handiwork_planning.collision.motion_check import edge_is_free
from handiwork_planning.kernels.arrays import RobotArrays
from handiwork_planning.kernels.jit import kernel
from handiwork_planning.kernels.rng import State, uniform

from .cbirrt import STEP_RAD, distance, step_to
from .pose_constraint import Hold, project

FLAT_RAD = 5.0e-4
"""Rows that would move less than this are not moved, rad."""


@kernel
def cut_held(
    path: Array,
    tries: int,
    hold: Hold,
    c: Checker,
    state: State,
) -> Array:
    """Replace pieces of a path between random rows by steps straight from one to the other, if shorter.

    Args:
        path: Configurations on the manifold, (k, n), rad or m.
        tries: Number of pieces that are tried.
        hold: The components that are held.
        c: Robot, world and margins.
        state: Random numbers; it is advanced.

    Returns:
        Configurations, (l, n), rad or m.
    """
    n = path.shape[1]
    frames, hit = np.empty((len(c.chain) + 1, 12)), np.zeros(2, dtype=np.int64)
    for _ in range(tries):
        k = len(path)
        if k < 3:
            break
        i, j = int(uniform(state) * k), int(uniform(state) * k)
        if i > j:
            i, j = j, i
        if j - i < 2:
            continue
        old = 0.0
        for m in range(i, j):
            old += distance(path[m], path[m + 1])
        direct = distance(path[i], path[j])
        if direct > 0.999 * old:
            continue
        most = int(1.5 * old / STEP_RAD) + 3
        fresh, count, new = np.empty((most, n)), 0, 0.0
        here = path[i].copy()
        there = 1
        while there == 1 and count < most and new < old:
            there = step_to(here, path[j], hold, c, frames, hit, fresh[count])
            new += distance(here, fresh[count])
            here[:] = fresh[count]
            count += 1
        if there == 2 and new < 0.999 * old:
            path = np.concatenate((path[: i + 1], fresh[:count], path[j + 1 :]))
    return path


@kernel
def relax(path: Array, hold: Hold, c: Checker) -> float:
    """Move every inner row of a path in place to the middle of its neighbours, if that is free.

    Args:
        path: Configurations on the manifold, (k, n), rad or m; changed.
        hold: The components that are held.
        c: Robot, world and margins.

    Returns:
        The longest move, rad.
    """
    n = path.shape[1]
    frames, hit = np.empty((len(c.chain) + 1, 12)), np.zeros(2, dtype=np.int64)
    q, farthest = np.empty(n), 0.0
    for i in range(1, len(path) - 1):
        for j in range(n):
            q[j] = 0.5 * (path[i - 1, j] + path[i + 1, j])
        if not project(q, hold, c.robot, frames):
            continue
        before, after = distance(path[i - 1], q), distance(q, path[i + 1])
        if distance(q, path[i]) < FLAT_RAD or max(before, after) > 1.2 * STEP_RAD:
            continue
        if not edge_is_free(c, path[i - 1], q, hit):
            continue
        if not edge_is_free(c, q, path[i + 1], hit):
            continue
        farthest = max(farthest, distance(q, path[i]))
        path[i] = q
    return farthest


@kernel
def evened(path: Array, spacing: float, hold: Hold, robot: RobotArrays) -> Array:
    """Return rows at even distances along a path, each projected; both ends are kept as they are.

    Args:
        path: Configurations on the manifold, (k, n), rad or m.
        spacing: Distance between rows, about, rad.
        hold: The components that are held.
        robot: The arm as a chain.

    Returns:
        Configurations, (l, n), rad or m.
    """
    k, n = path.shape
    lengths = np.zeros(k)
    for i in range(1, k):
        lengths[i] = lengths[i - 1] + distance(path[i - 1], path[i])
    count = max(2, int(np.ceil(lengths[k - 1] / spacing)) + 1)
    out, frames, row = np.empty((count, n)), np.empty((len(robot.chain) + 1, 12)), 0
    out[0], out[count - 1] = path[0], path[k - 1]
    for r in range(1, count - 1):
        place = lengths[k - 1] * r / (count - 1)
        while lengths[row + 1] < place:
            row += 1
        t = (place - lengths[row]) / max(lengths[row + 1] - lengths[row], 1.0e-12)
        for j in range(n):
            out[r, j] = path[row, j] + t * (path[row + 1, j] - path[row, j])
        if not project(out[r], hold, robot, frames):
            for j in range(n):
                out[r, j] = path[row, j] + t * (path[row + 1, j] - path[row, j])
    return out
