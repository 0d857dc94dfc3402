"""The allowed collision matrix: which pairs of bodies may touch."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from handiwork_core.model.outcome import BodyPair
from handiwork_core.robot.robot import Robot
from handiwork_core.voxels.voxel_map import UNMODELLED

Pair = tuple[str, str]
OCTOMAP = "<octomap>"
"""The name of all that an octomap occupies, for clients of MoveIt."""


def pair_of(a: str, b: str) -> Pair:
    """Return two names in order.

    Args:
        a: One name.
        b: The other name.
    """
    return (a, b) if a < b else (b, a)


@dataclass(frozen=True)
class AllowedCollisions:
    """The matrix as clients of MoveIt see it: links by their name, objects by theirs.

    Attributes:
        names: Rows of the matrix, in order.
        allowed: The pairs that may touch; all other pairs of ``names`` may not.
        defaults: For a body in no row: may it touch everything?
    """

    names: tuple[str, ...] = ()
    allowed: frozenset[Pair] = frozenset()
    defaults: Mapping[str, bool] = field(default_factory=dict)

    @classmethod
    def of_robot(cls, robot: Robot) -> AllowedCollisions:
        """Return the matrix of a robot alone: pairs that are neighbours or never in reach may touch.

        Args:
            robot: The robot.
        """
        return cls(robot.links, frozenset(pair_of(*pair) for pair in robot.ignored_pairs))

    def rows(self) -> list[list[bool]]:
        """Return the matrix, symmetric, one row for each name."""
        return [[pair_of(a, b) in self.allowed for b in self.names] for a in self.names]

    def exceptions(self, robot: Robot, objects: Collection[str]) -> frozenset[BodyPair]:
        """Return the pairs that may touch in addition to those of the robot, for a request of the planner.

        Args:
            robot: The robot.
            objects: Names of the objects that exist; entries of others have no effect. All unmodelled obstacles are
                OCTOMAP to clients.
        """
        links, known = frozenset(robot.links), frozenset(robot.links) | frozenset(objects) | {OCTOMAP}
        names = {OCTOMAP: UNMODELLED, **{link: f"{robot.name}/{link}" for link in links}}
        ignored = {pair_of(*pair) for pair in robot.ignored_pairs}
        pairs = {pair for pair in self.allowed if pair not in ignored and set(pair) <= known}
        for name, may_touch in self.defaults.items():
            if may_touch and name in known:
                listed = {pair_of(name, other) for other in self.names} if name in self.names else set()
                pairs |= {pair_of(name, other) for other in known if other != name} - listed - ignored
        return frozenset(
            BodyPair(*(names.get(body, body) for body in pair))
            for pair in pairs
            if pair[0] != pair[1] and set(pair) & links
        )

    def refused_checks(self, robot: Robot) -> tuple[Pair, ...]:
        """Return the pairs of links that a client wants to be checked, and that the robot's description leaves out.

        Args:
            robot: The robot.
        """
        rows = set(self.names)
        pairs = {pair_of(*pair) for pair in robot.ignored_pairs}
        return tuple(sorted(pair for pair in pairs if set(pair) <= rows and pair not in self.allowed))
