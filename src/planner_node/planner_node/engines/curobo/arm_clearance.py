"""Distance between two arms that move at the same time, by the spheres of their links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import BodyPair
from handiwork_core.robot.robot import Robot
from handiwork_planning.kernels.arrays import DRIVER, PARENT, SLIDES
from handiwork_planning.scene.query import Query

GAP_M = 0.005
"""Motions in which the arms come nearer to each other are refused. The benchmark's referee asks for the same gap."""
STEP_M = 0.004
"""No sphere moves farther from one sample to the next; that much is subtracted from the distance, m."""


@dataclass(frozen=True, slots=True, eq=False)
class MovingSpheres:
    """The spheres that an arm moves.

    Attributes:
        query: The reading of the scene for this arm.
        body: Index of the chain's body that carries each sphere, (s,).
        local: Centre and radius of each sphere in the frame of its body, (s, 4), m.
        owner: Index of each sphere's body name in ``names``, (s,).
        names: Names of the bodies.
    """

    query: Query
    body: Array
    local: Array
    owner: Array
    names: tuple[str, ...]

    @classmethod
    def of(cls, query: Query) -> MovingSpheres:
        """Return the spheres that the arm of ``query`` moves, with those of held objects.

        Args:
            query: The reading of the scene for the arm.
        """
        robot = query.robot
        count = np.diff(robot.group_start)
        body, owner = np.repeat(robot.group_body, count), np.repeat(np.arange(len(count)), count)
        moved = body > 0
        return cls(query, body[moved], robot.spheres[moved], owner[moved], query.bodies)

    def centres(self, q: Array) -> Array:
        """Return the centres of the spheres in the world.

        Args:
            q: Joint positions, (k, n), rad or m.

        Returns:
            Centres in the world, (k, s, 3), m.
        """
        turns, places = _bodies(self.query, q)
        turned = np.einsum("ksij,sj->ksi", turns[:, self.body], self.local[:, :3])
        return np.asarray(turned + places[:, self.body])


class Apart:
    """Measures the distance between two arms of a robot.

    Args:
        robot: The robot of both arms.
        queries: One reading of the scene for each arm, without the other arm.
    """

    def __init__(self, robot: Robot, queries: tuple[Query, Query]) -> None:
        a, b = (MovingSpheres.of(query) for query in queries)
        self._arms, self._ignored = (a, b), robot.ignored_pairs
        known = np.array([[self._is_ignored(m, n) for n in b.names] for m in a.names])
        self._asked = ~known[np.ix_(a.owner, b.owner)]
        self._reach = a.local[:, None, 3] + b.local[None, :, 3]

    def nearest(self, a_q: Array, b_q: Array) -> tuple[float, BodyPair]:
        """Return the smallest distance over all rows, with the pair of bodies that has it.

        Args:
            a_q: Joint positions of the first arm, (k, n), rad or m.
            b_q: Joint positions of the second arm in the same rows, (k, m), rad or m.

        Returns:
            Distance in m (negative: penetration), and the bodies of the first and of the second arm.
        """
        a, b = (arm.centres(q) for arm, q in zip(self._arms, (a_q, b_q), strict=True))
        best, place = np.inf, (0, 0)
        for here, there in zip(a, b, strict=True):
            gap = np.linalg.norm(here[:, None] - there[None], axis=2) - self._reach
            gap[~self._asked] = np.inf
            low = float(gap.min())
            if low < best:
                best, at = low, np.unravel_index(int(gap.argmin()), gap.shape)
                place = (int(at[0]), int(at[1]))
        names = [arm.names[arm.owner[i]] for arm, i in zip(self._arms, place, strict=True)]
        return best, BodyPair(*names)

    def on_the_way(self, a_q: Array, b_q: Array) -> tuple[float, BodyPair]:
        """Return the smallest distance on the straight joint paths from row to row.

        The paths are sampled so finely that no sphere moves farther than STEP_M between two samples. STEP_M is
        subtracted, so that nothing between samples is missed.

        Args:
            a_q: Joint positions of the first arm, (k, n), rad or m.
            b_q: Joint positions of the second arm in the same rows, (k, m), rad or m.

        Returns:
            A lower bound of the distance in m, and the bodies of the first and of the second arm.
        """
        a, b = (arm.centres(q) for arm, q in zip(self._arms, (a_q, b_q), strict=True))
        steps = [np.linalg.norm(np.diff(x, axis=0), axis=2).max(axis=1, initial=0.0) for x in (a, b)]
        parts = np.maximum(1, np.ceil(np.maximum(*steps) / STEP_M)).astype(np.int64)
        i = np.repeat(np.arange(len(parts)), parts)
        u = (np.arange(len(i)) - np.repeat(np.cumsum(parts) - parts, parts)) / parts[i]
        fine = [np.concatenate([q[i] + u[:, None] * (q[i + 1] - q[i]), q[-1:]]) for q in (a_q, b_q)]
        distance, pair = self.nearest(fine[0], fine[1])
        return distance - STEP_M, pair

    def _is_ignored(self, a: str, b: str) -> bool:
        one, other = sorted((a.partition("/")[2], b.partition("/")[2]))
        return (one, other) in self._ignored


def _bodies(query: Query, q: Array) -> tuple[Array, Array]:
    """Return rotations (k, m + 1, 3, 3) and positions (k, m + 1, 3) of the chain's bodies at ``q`` (k, n)."""
    robot, count = query.robot, len(q)
    turns, places = [np.broadcast_to(np.eye(3), (count, 3, 3))], [np.zeros((count, 3))]
    for j, row in enumerate(robot.chain):
        body, at = robot.joints[j, PARENT], robot.ratio[j] * q[:, robot.joints[j, DRIVER]]
        zero, shift = turns[body] @ row[:9].reshape(3, 3), turns[body] @ row[9:]
        place = places[body] + shift
        if robot.joints[j, SLIDES]:
            turns.append(zero)
            places.append(place + at[:, None] * zero[:, :, 2])
            continue
        c, s, turn = np.cos(at), np.sin(at), np.zeros((count, 3, 3))
        turn[:, 0, 0], turn[:, 0, 1], turn[:, 1, 0], turn[:, 1, 1], turn[:, 2, 2] = c, -s, s, c, 1.0
        turns.append(zero @ turn)
        places.append(place)
    return np.stack(turns, axis=1), np.stack(places, axis=1)
