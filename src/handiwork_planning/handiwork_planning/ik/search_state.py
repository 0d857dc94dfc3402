"""The state of a search for configurations of many poses: queue of starts, lanes, and solutions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.kernels.arrays import Ints, RobotArrays
from handiwork_planning.kernels.jit import kernel
from handiwork_planning.kernels.rng import State
from handiwork_planning.kernels.simd import LANES

from .seeding import (
    new_table,
    ranges,
)
from .simd_solver import (
    links_of,
    new_lanes,
)

PLACE, TRY, TOTAL, OPEN = 0, 1, 2, 3


class Search(NamedTuple):
    """State of a search for p poses and n joints."""

    goals: Array
    """(p, 12)."""
    order: Ints
    """(p,) poses, most wanted first."""
    seeds: Array
    """(s, n) first starts of every pose."""
    start_q: Array
    """(k, n) further starts."""
    start_table: Array
    """Tool poses of ``start_q``, see ``seeding.new_table``."""
    within: Array
    """(2, n) range of random starts."""
    links: Array
    """(m + 1, 19) see ``simd_solver``, as for ``w``."""
    w: Array
    lane_pose: Ints
    """(LANES,) the pose that a lane works on; -1: none."""
    lane_age: Ints
    """(LANES,) iterations of the lane's start."""
    cursor: Ints
    """(4,) next place in ``order``, its try, solutions so far, poses that may get more."""
    found: Array
    """(p, most, n) distinct free solutions."""
    counts: Ints
    """(p,) number of solutions."""
    best: Array
    """(p, 2) smallest error met [m, rad]."""
    hit: Ints
    """(p, 2) the pair that removed the last solution; -1 if none did."""
    touching: Array
    """(p, n) the solution that it removed."""
    state: State


@kernel
def new_search(
    goals: Array, order: Ints, seeds: Array, most: int, robot: RobotArrays, state: State
) -> Search:
    """Return a search that has not started.

    Args:
        goals: world_T_ee of each pose, (p, 12).
        order: Poses, most wanted first, (p,).
        seeds: First starts of every pose, one or more, (s, n), rad or m.
        most: Largest number of solutions per pose.
        robot: The arm as a chain.
        state: Random numbers; it is advanced.
    """
    p, n = len(goals), len(robot.lower)
    links = links_of(robot)
    inside = np.empty_like(seeds)
    for i in range(len(seeds)):
        for j in range(n):
            inside[i, j] = min(robot.upper[j], max(robot.lower[j], seeds[i, j]))
    within = ranges(inside[0], robot, links)
    start_q, start_table = new_table(links, within, state)
    return Search(
        goals,
        order,
        inside,
        start_q,
        start_table,
        within,
        links,
        new_lanes(len(links) - 1),
        np.full(LANES, -1),
        np.zeros(LANES, dtype=np.int64),
        np.array([0, 0, 0, p]),
        np.empty((p, most, n)),
        np.zeros(p, dtype=np.int64),
        np.full((p, 2), np.inf),
        np.full((p, 2), -1),
        np.empty((p, n)),
        state,
    )
