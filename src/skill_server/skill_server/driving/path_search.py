"""Finds a way of a mobile base around obstacles: a straight one, or by two growing trees (RRT-Connect).

J. Kuffner and S. LaValle, "RRT-Connect: An efficient approach to single-query path planning", ICRA 2000.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.planning import ShouldStop
from handiwork_core.model.geometry import Array
from skill_server.motions.base_steering import Steering, at_once, positions_on_way

IsClear = Callable[[Array], Array]
"""Returns for each position of the base (n, 3), m and rad, True where the robot keeps clear of all obstacles, (n,)."""
METRES_PER_RADIAN = 0.5
"""A turn by a radian counts as so many metres of driving in the length of a way."""
REACH_M = 0.5
"""The length of one branch of a tree, at most."""
BRANCHES = 300
"""The most branches before there counts as no way."""
SHORTCUTS = 60
MARGIN_M, MARGIN_RAD = 2.5, np.pi / 2.0
"""Ways are sampled between begin and goal, and so far beyond them on each side."""


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """The range of the base's joints.

    Attributes:
        lower: Least x, y [m] and yaw [rad], (3,).
        upper: Greatest x, y [m] and yaw [rad], (3,).
    """

    lower: Array
    upper: Array


def length_of(way: Array) -> float:
    """Return the length of a straight way, whose turns count as metres, too.

    Args:
        way: Change of x, y [m] and yaw [rad], (3,).
    """
    return float(np.hypot(way[0], way[1])) + METRES_PER_RADIAN * abs(float(way[2]))


def find_path(
    start: Array,
    goal: Array,
    is_clear: IsClear,
    limits: Limits,
    rng: np.random.Generator,
    should_stop: ShouldStop,
    *,
    goes_around: bool = True,
    steering: Steering = at_once,
) -> tuple[Array, ...]:
    """Find a way of straight parts from one position of a base to another.

    Args:
        start: x, y [m] and yaw [rad], (3,).
        goal: x, y [m] and yaw [rad], (3,).
        is_clear: Judges positions.
        limits: Range of the joints.
        rng: Source of the random choices.
        should_stop: True ends the search.
        goes_around: False: only the straight way counts.
        steering: How the base drives along a part.

    Returns:
        The ends of the parts, in order, the goal the last; empty where no way was found.
    """
    search = _Search(is_clear, limits, rng, should_stop, steering)
    if search.is_free(start, goal):
        return (goal,)
    if not goes_around or not bool(is_clear(goal[None, :])[0]):
        return ()
    points = search.grow(start, goal)
    return () if points is None else tuple(search.shortened(points)[1:])


class _Tree:
    """Positions that are joined to the first one by clear ways."""

    def __init__(self, root: Array) -> None:
        self.points, self._parents = [root], [-1]

    def nearest(self, point: Array) -> int:
        ways = np.asarray(self.points) - point
        return int(np.argmin(np.hypot(ways[:, 0], ways[:, 1]) + METRES_PER_RADIAN * np.abs(ways[:, 2])))

    def add(self, point: Array, parent: int) -> None:
        self.points.append(point)
        self._parents.append(parent)

    def back(self) -> list[Array]:
        """Return the way from the newest point back to the first one."""
        made, i = list[Array](), len(self.points) - 1
        while i >= 0:
            made.append(self.points[i])
            i = self._parents[i]
        return made


@dataclass(frozen=True, slots=True)
class _Search:
    is_clear: IsClear
    limits: Limits
    rng: np.random.Generator
    should_stop: ShouldStop
    steering: Steering

    def is_free(self, start: Array, goal: Array) -> bool:
        return bool(self.is_clear(positions_on_way(self.steering, start, goal)).all())

    def grow(self, start: Array, goal: Array) -> list[Array] | None:
        """Grow a tree from each end until they meet, and return the way; None where they do not."""
        low = np.maximum(np.minimum(start, goal) - (MARGIN_M, MARGIN_M, MARGIN_RAD), self.limits.lower)
        high = np.minimum(np.maximum(start, goal) + (MARGIN_M, MARGIN_M, MARGIN_RAD), self.limits.upper)
        grown, other = _Tree(start), _Tree(goal)
        for _ in range(BRANCHES):
            if self.should_stop():
                return None
            if self._extend(grown, self.rng.uniform(low, high)):
                new = grown.points[-1]
                while self._extend(other, new):
                    if np.array_equal(other.points[-1], new):
                        ends = (grown, other) if np.array_equal(grown.points[0], start) else (other, grown)
                        return [*reversed(ends[0].back()), *ends[1].back()[1:]]
            grown, other = other, grown
        return None

    def _extend(self, tree: _Tree, point: Array) -> bool:
        """Add the point, or one on the way to it that is near enough; False where that way is not clear."""
        index = tree.nearest(point)
        near = tree.points[index]
        length = length_of(point - near)
        new = point if length <= REACH_M else near + (point - near) * (REACH_M / length)
        if not self.is_free(near, new):
            return False
        tree.add(new, index)
        return True

    def shortened(self, points: Sequence[Array]) -> list[Array]:
        """Leave out the points between two that have a clear straight way."""
        kept = list(points)
        for _ in range(SHORTCUTS):
            if len(kept) <= 2 or self.should_stop():
                break
            i, j = np.sort(self.rng.choice(len(kept), 2, replace=False))
            if j - i > 1 and self.is_free(kept[i], kept[j]):
                kept[i + 1 : j] = []
        return kept
