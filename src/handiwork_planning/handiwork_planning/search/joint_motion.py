"""A path between configurations: at once if both ends are clear, else after a test of what is wrong with them."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.robot.robot import ArmSpec
from handiwork_planning.scene.query import Query

from .carried_clearance import find_carrying
from .free_motion import CUTS, Path, find_if_clear
from .goal_configurations import joint_goals
from .requests import Deadline, checked_start


def find_joints(
    arm: ArmSpec,
    query: Query,
    start_q: Array,
    goals_q: Array,
    seed: int,
    deadline: Deadline,
    cuts: int = CUTS,
) -> tuple[Path, Query]:
    """Find a short path to any of several configurations.

    Ends beyond a limit by a little are moved to it, and an end may touch a little: see ``checked_start`` and
    ``Query.grazing_at``.

    Args:
        arm: The arm that moves.
        query: Robot, scene and margins.
        start_q: Start configuration, (n,), rad or m.
        goals_q: Configurations, (k, n), rad or m.
        seed: Seed of all random numbers.
        deadline: Limit of time, and the client's request to stop.
        cuts: Number of tries to shorten the path.

    Returns:
        The path, and the query with the margins that the request asks for.

    Raises:
        Failed: as ``checked_start``, ``joint_goals`` and ``find``.
    """
    # Copies, as Numba would compile the kernel once more for read-only arrays.
    start, goals, n = np.array(start_q, np.float64), np.array(goals_q, np.float64), len(query.robot.lower)
    if not query.carried.any() and start.shape == (n,) and goals.ndim == 2 and goals.shape[1] == n:
        # One call into compiled code: most requests need no more.
        path = find_if_clear(query, start, goals, seed, deadline, cuts)
        if path is not None:
            return path, query
    start, query = checked_start(arm, query, start_q)
    query = query.grazing_at(goals_q)
    good, owner = joint_goals(arm, query, goals_q)
    path = find_carrying(query, start, good, seed, deadline, cuts)
    return Path(path.points, int(owner[path.goal]), path.query), query
