"""A short free path in one kernel: straight to a goal, else by two trees, then shortened."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.collision.batch_check import Checker
from handiwork_planning.collision.motion_check import all_clear, edge_is_free
from handiwork_planning.kernels.borrowed_ref import borrowed
from handiwork_planning.kernels.jit import inlined, kernel
from handiwork_planning.kernels.rng import State
from handiwork_planning.kernels.simd_kinematics import LANES

from .rrt_connect import (
    Trees,
    grow,
    grown_path,
    plant,
)
from .shortcut import shorten

NOT_YET, FULL, UNSURE = -1, -2, -3
DIRECT = 8
"""The number of nearest goals to which the straight way is tried."""


@kernel
def search(c: Checker, trees: Trees, iterations: int, cuts: int, state: State) -> tuple[int, Array]:
    """Continue a search for some iterations.

    Args:
        c: Robot, world and margins.
        trees: Search state.
        iterations: Number of samples.
        cuts: Number of tries to shorten the path; 0 leaves it as the trees met.
        state: Random numbers; it is advanced.

    Returns:
        The goal that is reached, NOT_YET, or FULL trees; and the path (k, n) to it.
    """
    c, trees, state = borrowed(c), borrowed(trees), borrowed(state)
    met = grow(trees, iterations, c, state)
    if met <= 0:
        return (FULL if met < 0 else NOT_YET), np.empty((2, trees.nodes.shape[2]))
    path, goal = grown_path(trees)
    if cuts > 0:
        path = shorten(c, path, cuts, state)
    return goal, path


@inlined
def all_inside(c: Checker, rows: Array) -> bool:
    """Check whether every number is within the joint limits.

    Args:
        c: The robot.
        rows: Configurations, (k, n), rad or m.
    """
    for i in range(len(rows)):
        for j in range(rows.shape[1]):
            if not c.robot.lower[j] <= rows[i, j] <= c.robot.upper[j]:
                return False
    return True


@kernel
def begin(
    c: Checker, start: Array, goals: Array, room: int, iterations: int, cuts: int, seed: int, look: bool
) -> tuple[int, Array, Trees, State]:
    """Try the straight ways from ``start`` to the nearest goals, then ``search``.

    Args:
        c: Robot, world and margins.
        start: Start configuration, (n,), rad or m.
        goals: Configurations, (k, n), rad or m.
        room: Space for so many nodes per tree.
        iterations: Number of samples.
        cuts: Number of tries to shorten the path; 0 leaves it as the trees met.
        seed: Seed of all random numbers.
        look: Test start and goals first.

    Returns:
        As ``search``, then the trees and random numbers to continue with. With ``look`` UNSURE if one of start and
        goals is outside the limits or below a margin, or if there is no goal or LANES goals or more.
    """
    shared = borrowed(c)
    trees, state = plant(start, goals, c.margins.shape, room), np.full(1, seed, dtype=np.uint64)
    way: Array = np.empty(len(goals))
    for i in range(len(goals)):
        way[i] = np.sum((goals[i] - start) ** 2)
    path: Array = np.empty((2, len(start)))
    hit = np.zeros(2, dtype=np.int64)
    path[0] = start
    if look:
        few = 0 < len(goals) < LANES and all_inside(shared, path[:1]) and all_inside(shared, goals)
        if not (few and all_clear(shared, start, goals)):
            return UNSURE, path, trees, state
    for _ in range(min(DIRECT, len(goals))):
        i = int(np.argmin(way))
        way[i], path[1] = np.inf, goals[i]
        if edge_is_free(shared, path[0], path[1], hit):
            return i, path, trees, state
    goal, path = search(c, trees, iterations, cuts, state)
    return goal, path, trees, state
