"""Inverse kinematics of many poses: one queue of starts for eight lanes.

Tries go around: the first of every pose, then the second of those that still miss solutions, and so on. A search can
stop after any number of iterations and continue later with the same result.
"""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.collision.batch_check import Checker
from handiwork_planning.collision.motion_check import touches
from handiwork_planning.kernels.arrays import Ints
from handiwork_planning.kernels.jit import kernel
from handiwork_planning.kernels.rng import uniform
from handiwork_planning.kernels.simd import LANES

from .search_state import OPEN, PLACE, TOTAL, TRY, Search
from .seeding import (
    WINDOWS,
    nearest_start,
)
from .simd_solver import (
    GAP,
    GOAL,
    JOINTS,
    OWN,
    PER_JOINT,
    STEP,
    TOLERANCE_M,
    TURN,
    WORST,
    advance,
    turn_rad,
)

ITERATIONS = 16
"""Iterations per start; if it has not arrived by then, another start is better."""
CLOSE_M, PATIENT = 0.01, 48
"""Starts that are this close [m] and [rad] by then get so many iterations: near singular places errors only halve."""
SAME_RAD = 0.1
"""Solutions of a pose that differ by less in every joint are one."""


@kernel
def is_known(q: Array, found: Array, p: int, count: int) -> bool:
    """Check whether ``q`` is one of the solutions of a pose.

    Args:
        q: Configuration, (n,), rad or m.
        found: Solutions, (p, most, n), rad or m.
        p: Index of the pose.
        count: Number of its solutions.
    """
    for i in range(count):
        gap = 0.0
        for j in range(len(q)):
            gap = max(gap, abs(q[j] - found[p, i, j]))
        if gap < SAME_RAD:
            return True
    return False


@kernel
def settle(
    s: Search,
    k: int,
    q: Array,
    c: Checker,
    hit: Ints,
) -> None:
    """Keep the result of a lane: an error, a touching configuration, or a solution.

    Args:
        s: The search.
        k: The lane.
        q: Scratch, (n,).
        c: Robot, world and margins.
        hit: Scratch, (2,).
    """
    p, w = s.lane_pose[k], s.w
    gap = np.sqrt(w[GAP, k])
    turn = turn_rad(w[TURN, k])
    if gap + 0.1 * turn < s.best[p, 0] + 0.1 * s.best[p, 1]:
        s.best[p, 0], s.best[p, 1] = gap, turn
    if not w[WORST, k] < TOLERANCE_M:
        return
    n, count = len(q), s.counts[p]
    for j in range(n):
        q[j] = w[JOINTS + PER_JOINT * int(s.links[j, OWN]), k]
    if is_known(q, s.found, p, count):
        return
    if touches(c, q, hit):
        s.hit[p, 0], s.hit[p, 1] = hit[0], hit[1]
        for j in range(n):
            s.touching[p, j] = q[j]
        return
    for j in range(n):
        s.found[p, count, j] = q[j]
    s.counts[p] += 1
    s.cursor[TOTAL] += 1
    if s.counts[p] == s.found.shape[1]:
        s.cursor[OPEN] -= 1


@kernel
def refill(s: Search, k: int, tries: int, scratch: Array) -> bool:
    """Give a lane the next start of the queue; return False, and leave the lane idle, if there is none.

    Args:
        s: The search.
        k: The lane.
        tries: Largest number of starts per pose.
        scratch: Scratch, (2, LANES).
    """
    cursor, count, order = s.cursor, s.counts, s.order
    s.lane_pose[k] = -1
    if cursor[OPEN] == 0:
        return False
    while True:
        if cursor[PLACE] == len(order):
            cursor[PLACE] = 0
            cursor[TRY] += 1
        if cursor[TRY] >= tries:
            return False
        p = order[cursor[PLACE]]
        cursor[PLACE] += 1
        if count[p] < s.found.shape[1]:
            break
    s.lane_pose[k], s.lane_age[k] = p, 0
    t, seeds, w, within = cursor[TRY], s.seeds, s.w, s.within
    row = -1
    if len(seeds) <= t < len(seeds) + WINDOWS:
        row = nearest_start(s.start_table, s.goals, p, t - len(seeds), scratch)
    for i in range(12):
        w[GOAL + i, k] = s.goals[p, i]
    for j in range(seeds.shape[1]):
        if t < len(seeds):
            x = seeds[t, j]
        elif row >= 0:
            x = s.start_q[row, j]
        else:
            x = within[0, j] + (within[1, j] - within[0, j]) * uniform(s.state)
        joint = JOINTS + PER_JOINT * int(s.links[j, OWN])
        w[joint, k], w[joint + STEP, k] = x, 0.0
    return True


@kernel
def goes_on(worst: float, age: int) -> bool:
    """Check whether a start is worth another iteration.

    Args:
        worst: Largest component of its error, m or rad.
        age: Number of its iterations.
    """
    if worst < TOLERANCE_M:
        return False
    return age < ITERATIONS or (age < PATIENT and worst < CLOSE_M)


@kernel
def work(
    s: Search,
    tries: int,
    enough: int,
    iterations: int,
    c: Checker,
) -> bool:
    """Continue the search for some iterations, and return whether it is done.

    Args:
        s: The search.
        tries: Largest number of starts per pose.
        enough: Number of solutions, of all poses together, that ends the search.
        iterations: Number of iterations.
        c: Robot, world and margins.
    """
    n = len(c.robot.lower)
    q, hit, scratch = (
        np.empty(n),
        np.zeros(2, dtype=np.int64),
        np.empty((2, LANES)),
    )
    pose, age, count, w, links, cursor = s.lane_pose, s.lane_age, s.counts, s.w, s.links, s.cursor
    most = s.found.shape[1]
    for _ in range(iterations):
        busy = False
        for k in range(LANES):
            if pose[k] >= 0 and count[pose[k]] < most:
                if goes_on(w[WORST, k], age[k]):
                    busy = True
                    continue
                settle(s, k, q, c, hit)
                if cursor[TOTAL] >= enough:
                    return True
            busy = refill(s, k, tries, scratch) or busy
        if not busy:
            return True
        advance(w, links)
        for k in range(LANES):
            age[k] += 1
    return False
