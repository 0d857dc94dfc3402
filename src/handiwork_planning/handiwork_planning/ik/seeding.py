"""The starts of descents: seeds, then the nearest of a table of random configurations, then random ones."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.kernels.arrays import RobotArrays
from handiwork_planning.kernels.jit import kernel
from handiwork_planning.kernels.rng import State, uniform
from handiwork_planning.kernels.simd import (
    LANES,
    load,
    save,
    spread,
    where_less,
)

from .simd_solver import (
    JOINTS,
    OWN,
    PER_JOINT,
    SLIDES,
    TOOL,
    forward_wide,
    new_lanes,
)

WINDOW, WINDOWS = 8, 8
"""Each try after the seeds takes the best of the next WINDOW blocks of LANES configurations, WINDOWS times."""
PER_BLOCK = 13
"""Rows of the table for LANES configurations: their tool poses (12), then the squared length of the translation."""
PER_TURN = 0.2
"""Squared metres that count as much as the squared Frobenius norm of a rotation error."""


@kernel
def ranges(seed: Array, robot: RobotArrays, links: Array) -> Array:
    """Return the lowest and highest random position of each joint, (2, n), rad or m.

    The range is that of the limits; a turning joint has at most one turn around ``seed``.

    Args:
        seed: Configuration, (n,), rad or m.
        robot: The arm as a chain.
        links: Rows of ``simd_solver.links_of``, (m + 1, 19).
    """
    n = len(seed)
    out = np.empty((2, n))
    for j in range(n):
        low, high = robot.lower[j], robot.upper[j]
        if links[int(links[j, OWN]), SLIDES] == 0.0 and high - low > 2.0 * np.pi:
            low = min(max(low, seed[j] - np.pi), high - 2.0 * np.pi)
            high = low + 2.0 * np.pi
        out[0, j], out[1, j] = low, high
    return out


@kernel
def new_table(links: Array, within: Array, state: State) -> tuple[Array, Array]:
    """Return random configurations and their tool poses.

    Args:
        links: Rows of ``simd_solver.links_of``, (m + 1, 19).
        within: Lowest and highest position of each joint, (2, n), rad or m.
        state: Random numbers; it is advanced.

    Returns:
        Configurations (k, n), and the table of tool poses (PER_BLOCK k / LANES, LANES).
    """
    n, blocks, w = within.shape[1], WINDOW * WINDOWS, new_lanes(len(links) - 1)
    q, table = np.empty((blocks * LANES, n)), np.empty((blocks * PER_BLOCK, LANES))
    for b in range(blocks):
        for k in range(LANES):
            for j in range(n):
                x = within[0, j] + (within[1, j] - within[0, j]) * uniform(state)
                q[b * LANES + k, j] = w[JOINTS + PER_JOINT * int(links[j, OWN]), k] = x
        forward_wide(w, links)
        square = spread(0.0)
        for i in range(12):
            x = load(w, TOOL + i)
            save(table, b * PER_BLOCK + i, x)
            if i >= 9:
                square = square + x * x
        save(table, b * PER_BLOCK + 12, square)
    return q, table


@kernel
def nearest_start(table: Array, goals: Array, i: int, window: int, scratch: Array) -> int:
    """Return the index of the configuration in a window whose tool is nearest to a goal.

    The measure is |translation|^2 + PER_TURN |rotation|^2, of which only the terms that differ between configurations
    are summed up.

    Args:
        table: Tool poses, see ``new_table``.
        goals: world_T_ee, (p, 12).
        i: Row of ``goals``.
        window: Index of the window, below WINDOWS.
        scratch: Scratch, (2, LANES).
    """
    best, where = spread(1.0e9), spread(0.0)
    for b in range(window * WINDOW, (window + 1) * WINDOW):
        row = b * PER_BLOCK
        turn = spread(0.0)
        for m in range(9):
            turn = turn + goals[i, m] * load(table, row + m)
        move = load(table, row + 12)
        for m in range(9, 12):
            move = move - (2.0 * goals[i, m]) * load(table, row + m)
        far = move - (2.0 * PER_TURN) * turn
        where = where_less(far, best, float(b), where)
        best = where_less(far, best, far, best)
    save(scratch, 0, best)
    save(scratch, 1, where)
    k = 0
    for m in range(1, LANES):
        if scratch[0, m] < scratch[0, k]:
            k = m
    return int(scratch[1, k]) * LANES + k
