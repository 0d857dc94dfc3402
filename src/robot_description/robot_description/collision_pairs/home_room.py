"""The free space between the links of a robot at home, which is often folded closely."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from robot_description.solids.primitives import Primitive, primitives, union_distance

from .pair_sampling import neighbours

NEAR_M = 0.05
"""Links further apart than this do not restrict each other, m."""

SAMPLE_M = 0.008

SPHERE_GAP_M = 0.002
"""Gap between spheres of two links at home, m."""


class Limit(Protocol):
    """A bound on the size of a link's spheres."""

    def limit(self, points: Array) -> Array:
        """Return the greatest radii of spheres.

        Args:
            points: Centres in the link's frame, (n, 3), m.

        Returns:
            Radii, (n,), m; a negative one leaves no room for a sphere.
        """


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """Solids of another link in this link's frame at home; this link's spheres stay ``keep_m`` away from them."""

    solids: tuple[Primitive, ...]
    keep_m: float

    def limit(self, points: Array) -> Array:
        """Return the greatest radii of spheres.

        Args:
            points: Centres in the link's frame, (n, 3), m.

        Returns:
            Radii, (n,), m.
        """
        return union_distance(self.solids, points) - self.keep_m


@dataclass(frozen=True, slots=True, eq=False)
class Floor:
    """The plane on which a robot stands, in a link's frame: spheres above it stay above it."""

    up: Array
    lowest_m: float

    def limit(self, points: Array) -> Array:
        """Return the greatest radii of spheres.

        Args:
            points: Centres in the link's frame, (n, 3), m.

        Returns:
            Radii, (n,), m.
        """
        return np.asarray(points @ self.up - self.lowest_m)


def lowest_m(robot: Robot) -> float:
    """Return the height of the lowest point of all solids at home.

    Args:
        robot: The robot.

    Returns:
        Height in the root link's frame, m.
    """
    poses = link_poses(robot, {})
    solids = [(link, solid) for link in robot.links for solid in primitives(robot.urdf, link)]
    return min(float(poses[link].apply(solid.surface(SAMPLE_M))[:, 2].min()) for link, solid in solids)


def floor_of(robot: Robot, link: str, height_m: float) -> Floor:
    """Return a level plane in a link's frame at home.

    Args:
        robot: The robot.
        link: Name of the link.
        height_m: Height of the plane in the root link's frame, m.
    """
    root_T_link = link_poses(robot, {})[link]
    return Floor(root_T_link.rotation.matrix()[2], height_m - float(root_T_link.translation_m[2]))


def rooms_at_home(robot: Robot) -> dict[str, dict[str, Room]]:
    """Return for every link the links that are near at home without touching, each of which keeps half of the gap.

    Args:
        robot: The robot.

    Returns:
        Free space by link and other link.
    """
    poses, close = link_poses(robot, {}), neighbours(robot)
    solids = {link: found for link in robot.links if (found := primitives(robot.urdf, link))}
    points = {link: np.concatenate([item.grid(SAMPLE_M) for item in found]) for link, found in solids.items()}
    rooms: dict[str, dict[str, Room]] = {link: {} for link in solids}
    for a, b in itertools.combinations(solids, 2):
        if (min(a, b), max(a, b)) in close:
            continue
        a_T_b = poses[a].inverse() @ poses[b]
        gap = float(union_distance(solids[a], a_T_b.apply(points[b])).min())
        if 0.0 < gap < NEAR_M:
            rooms[a][b] = Room(tuple(item.moved(a_T_b) for item in solids[b]), 0.5 * gap)
            rooms[b][a] = Room(tuple(item.moved(a_T_b.inverse()) for item in solids[a]), 0.5 * gap)
    return rooms


def spheres_as_room(robot: Robot, link: str, other: str, centers: Array, radii: Array) -> Room:
    """Return the spheres of another link as solids in a link's frame at home.

    Args:
        robot: The robot.
        link: Name of the link.
        other: Name of the other link.
        centers: Centres of the other link's spheres in its frame, (k, 3), m.
        radii: Their radii, (k,), m.
    """
    poses = link_poses(robot, {})
    placed = (poses[link].inverse() @ poses[other]).apply(centers)
    balls = (Primitive(Pose.of(place), np.array([r])) for place, r in zip(placed, radii, strict=True))
    return Room(tuple(balls), SPHERE_GAP_M)
