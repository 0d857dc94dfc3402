"""Inverse kinematics of one or many poses for the rest of the engine: arrays in, distinct free solutions out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.planning import ShouldStop
from handiwork_core.model.geometry import Array, Pose, PoseArray
from handiwork_planning.kernels.arrays import Ints
from handiwork_planning.kernels.rng import State
from handiwork_planning.scene.query import Query

from . import multi_start
from .search_state import new_search

FIRST_ITERATIONS, CHUNK_S = 200, 0.006
"""Iterations before the first poll of ``should_stop``, and the time between later ones, about [s]."""


@dataclass(frozen=True, slots=True, eq=False)
class Solutions:
    """Solutions of p poses; k solutions of n joints, by pose."""

    q: Array
    """(k, n) free configurations."""
    owner: Ints
    """(k,) the pose that each reaches."""
    errors: Array
    """(p, 2) smallest error met [m, rad]."""
    hit: Ints
    """(p, 2) group and column that removed the last solution; -1 if none did."""
    touching: Array
    """(p, n) the solution that it removed, if there is one."""
    complete: bool
    """False: the search was stopped before."""


@dataclass(frozen=True, slots=True, eq=False)
class IkFound:
    """Solutions of one pose.

    Attributes:
        q: Free configurations, (k, n), rad or m.
        errors: Smallest error met, m and rad.
        hit: The last pair that removed a solution, (2,); -1 if none did.
    """

    q: Array
    errors: tuple[float, float]
    hit: Ints


def flat_poses(poses: Sequence[Pose]) -> Array:
    """Return poses as transforms, (p, 12), see kernels/arrays.py.

    Args:
        poses: The poses.
    """
    rows = PoseArray.of(poses)
    out = np.empty((len(rows), 12))
    w, x, y, z = rows.wxyz.T
    out[:, 0], out[:, 4], out[:, 8] = (
        1 - 2 * (y * y + z * z),
        1 - 2 * (x * x + z * z),
        1 - 2 * (x * x + y * y),
    )
    out[:, 1], out[:, 3] = 2 * (x * y - w * z), 2 * (x * y + w * z)
    out[:, 2], out[:, 6] = 2 * (x * z + w * y), 2 * (x * z - w * y)
    out[:, 5], out[:, 7] = 2 * (y * z - w * x), 2 * (y * z + w * x)
    out[:, 9:] = rows.translations_m
    return out


class PoseSearch:
    """A search that can be continued after it stopped.

    Deterministic: the number of stops changes nothing.
    """

    def __init__(
        self, query: Query, goals: Array, seeds: Array, state: State, most: int, order: Ints | None = None
    ) -> None:
        """Prepare the search.

        Args:
            query: Robot, scene and margins.
            goals: world_T_ee of each pose, (p, 12).
            seeds: First starts, (s, n) or (n,), rad or m.
            state: Random numbers; it is advanced.
            most: Largest number of solutions per pose.
            order: Poses, most wanted first, (p,); None for the order of ``goals``.
        """
        self._query = query
        if order is None:
            order = np.arange(len(goals))
        seeds = np.ascontiguousarray(np.atleast_2d(seeds), dtype=np.float64)
        self._search = new_search(goals, order, seeds, most, query.robot, state)

    def run(self, tries: int, enough: int, should_stop: ShouldStop) -> Solutions:
        """Continue until there are ``enough`` solutions or each pose had ``tries`` starts.

        Args:
            tries: Largest number of starts per pose.
            enough: Number of solutions, of all poses together.
            should_stop: Polled during the search.

        Returns:
            All solutions so far.
        """
        search, query = self._search, self._query
        iterations, complete = FIRST_ITERATIONS, True
        while True:
            before = time.monotonic()
            if multi_start.work(search, tries, enough, iterations, query.checker):
                break
            if should_stop():
                complete = False
                break
            spent = time.monotonic() - before
            iterations = max(20, min(2 * iterations, int(iterations * CHUNK_S / max(spent, 1e-6))))
        kept = np.arange(search.found.shape[1]) < search.counts[:, None]
        return Solutions(
            search.found[kept], np.nonzero(kept)[0], search.best, search.hit, search.touching, complete
        )


def solve_pose(query: Query, pose: Pose, seeds: Array, state: State, tries: int, most: int) -> IkFound:
    """Find free configurations for one EE pose.

    Args:
        query: Robot, scene and margins.
        pose: world_T_ee.
        seeds: First starts, (s, n), rad or m.
        state: Random numbers; it is advanced.
        tries: Largest number of starts.
        most: Largest number of solutions.
    """
    found = PoseSearch(query, flat_poses([pose]), seeds, state, most).run(tries, most, lambda: False)
    return IkFound(found.q, (float(found.errors[0, 0]), float(found.errors[0, 1])), found.hit[0])
