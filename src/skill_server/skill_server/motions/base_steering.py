"""The straight motions by which a base drives from one position to another: at once, or as two wheels allow."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.robot.robot import BaseKind, Robot

STEP_M, STEP_RAD = 0.02, 0.02
"""A way is checked at least this often."""
STAYS_M = 0.005
"""A differential base that is nearer than this to its goal turns there and does not drive: it cannot move sideways."""
TURNS_RAD = 0.002
"""A differential base that looks this near along its way begins to drive without a turn."""

Steering = Callable[[Array, Array], tuple[Array, ...]]
"""Returns the ends of the straight motions from one position of a base to another, (3,) each, m and rad."""


def steering_of(robot: Robot) -> Steering:
    """Return how the base of a robot drives.

    A holonomic base moves and turns at once. A differential one turns, drives straight ahead or back, whichever turns
    less in all, and turns again.

    Args:
        robot: Robot with a base.
    """
    assert robot.base is not None
    if robot.base.kind is BaseKind.HOLONOMIC:
        return at_once
    yaw = robot.joints[robot.base.joint_names[2]]
    low, high = yaw.lower, yaw.upper
    return lambda start, goal: turned_ahead(start, goal, low, high)


def at_once(start: Array, goal: Array) -> tuple[Array, ...]:
    """Return the one motion of a base that moves in any direction.

    Args:
        start: x, y [m] and yaw [rad], (3,).
        goal: x, y [m] and yaw [rad], (3,).
    """
    del start
    return (goal,)


def turned_ahead(start: Array, goal: Array, lower: float, upper: float) -> tuple[Array, ...]:
    """Return the ends of the motions of a base that moves along its heading alone: a turn, a drive, and a turn.

    Args:
        start: x, y [m] and yaw [rad], (3,).
        goal: x, y [m] and yaw [rad], (3,).
        lower: Least yaw, rad.
        upper: Greatest yaw, rad.
    """
    x, y = (goal - start)[:2].tolist()
    if math.hypot(x, y) < STAYS_M:
        return (np.array([*start[:2], goal[2]]),)
    ahead = math.atan2(y, x)
    headings = [
        near + math.remainder(angle - near, 2.0 * math.pi)
        for angle in (ahead, ahead + math.pi)
        for near in (float(start[2]), float(goal[2]))
    ]
    # One of ahead and back lies within the range: from the start they are on different sides.
    allowed = [heading for heading in headings if lower <= heading <= upper]
    heading = min(allowed, key=lambda one: abs(one - start[2]) + abs(goal[2] - one))
    turn, drive = np.array([*start[:2], heading]), np.array([*goal[:2], heading])
    ends = [] if abs(heading - start[2]) < TURNS_RAD else [turn]
    if abs(goal[2] - heading) < TURNS_RAD:
        return (*ends, goal)
    return (*ends, drive, goal)


def positions_between(start: Array, goal: Array) -> Array:
    """Return positions on a straight way that are near enough to each other for a check.

    Args:
        start: x, y [m] and yaw [rad], (3,).
        goal: x, y [m] and yaw [rad], (3,).

    Returns:
        The positions with both ends, (n, 3).
    """
    way = goal - start
    looks = int(np.ceil(max(float(np.hypot(way[0], way[1])) / STEP_M, abs(float(way[2])) / STEP_RAD)))
    return np.asarray(start + np.linspace(0.0, 1.0, looks + 2)[:, None] * way)


def positions_on_way(steering: Steering, start: Array, goal: Array) -> Array:
    """Return positions on the way of a base from one position to another, near enough to each other for a check.

    Args:
        steering: How the base drives.
        start: x, y [m] and yaw [rad], (3,).
        goal: x, y [m] and yaw [rad], (3,).

    Returns:
        The positions with both ends, (n, 3).
    """
    ends = (start, *steering(start, goal))
    return np.concatenate([positions_between(*part) for part in pairwise(ends)])
