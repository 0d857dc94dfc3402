"""Fits collision spheres that cover a link's collision primitives, and prints them as ``spheres.yaml`` wants them.

``python -m robot_description.fit_spheres robots/fr3 --protrusion 0.012 fr3_hand fr3_link7`` (no link: all of them)

Greedy set cover: surface points of the union of primitives must lie in spheres, spheres may stick out of the union by a
stated length at most. Own method.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from handiwork_core.geometry import Array
from handiwork_core.robot import JointType, Robot
from handiwork_core.robot_loader import load_robot

from .home_room import Room, rooms_at_home, spheres_as_room
from .solids import Solid, primitives, union_distance

COVER_M = 0.001
"""How far a surface point may lie outside every sphere."""

LEAST_M = 0.001
"""Smaller spheres are none."""

COARSEST = 24
"""Samples along the longest side of a large link."""

HEAD = """# Collision spheres in each link's frame [m]: center x y z, radius.
# Made by `python -m robot_description.fit_spheres` from the primitives of the description."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """How far spheres may stick out of the solids, and the solids out of the spheres [m]."""

    protrusion_m: float
    cover_m: float


FINGER, ARM, BODY = Allowance(0.006, 0.005), Allowance(0.015, 0.008), Allowance(0.03, 0.009)


def fit(
    solids: Sequence[Solid],
    protrusion_m: float,
    step_m: float,
    cover_m: float = COVER_M,
    rooms: tuple[Room, ...] = (),
) -> tuple[Array, Array]:
    """Centers (k, 3) and radii (k,) [m] that cover the surface of the union, up to ``cover_m`` of it.

    No sphere sticks out by more than ``protrusion_m``, or into ``rooms``; ``step_m`` is the spacing of samples.
    """
    grid = np.concatenate([solid.grid(step_m) for solid in solids])
    depth = -union_distance(solids, grid)
    surface = grid[depth <= 1e-6]
    centers = grid[np.unique((grid / (0.5 * step_m)).round(), axis=0, return_index=True)[1]]
    radii = _within(rooms, centers, -union_distance(solids, centers) + protrusion_m)
    centers, radii = centers[radii > LEAST_M], radii[radii > LEAST_M]
    covers: NDArray[np.bool_] = cdist(centers, surface) <= radii[:, None] + cover_m
    left, counts = np.ones(len(surface), dtype=np.bool_), covers.sum(axis=1)
    chosen = []
    while left.any():
        best = int(counts.argmax())
        if counts[best] == 0:
            break  # the rooms leave no sphere for the rest; ``worst_gap`` tells how far it lies outside
        chosen.append(best)
        new = covers[best] & left
        counts -= covers[:, new].sum(axis=1)
        left &= ~new
    return centers[chosen], radii[chosen]


def worst_gap(solids: Sequence[Solid], centers: Array, radii: Array, step_m: float) -> float:
    """Largest distance of a surface point from the nearest sphere [m]; negative is covered."""
    grid = np.concatenate([solid.grid(step_m) for solid in solids])
    surface = grid[union_distance(solids, grid) >= -1e-6]
    gaps = cdist(surface, centers) - radii
    return float(gaps.min(axis=1).max())


def fit_link(
    solids: Sequence[Solid], allowance: Allowance, step_m: float, rooms: tuple[Room, ...] = ()
) -> tuple[Array, Array]:
    """As ``fit``, with samples as far apart as the solids' size allows, and gaps between the samples closed."""
    points = np.concatenate([solid.grid(1.0) for solid in solids])
    step = max(step_m, float(np.ptp(points, axis=0).max()) / COARSEST)
    centers, radii = fit(solids, allowance.protrusion_m, step, allowance.cover_m, rooms)
    # What the coarse samples missed is closed by growing all spheres alike.
    grow = max(0.0, worst_gap(solids, centers, radii, 0.5 * step) - allowance.cover_m)
    return centers, _within(rooms, centers, radii + grow)


def _within(rooms: tuple[Room, ...], centers: Array, radii: Array) -> Array:
    for room in rooms:
        radii = np.minimum(radii, room.limit(centers))
    return radii


def fit_robot(robot: Robot, step_m: float) -> dict[str, tuple[Array, Array]]:
    """Spheres of all links with solids, as by ``fit_link``; what is apart at home has spheres that are apart."""
    rooms = rooms_at_home(robot)
    found: dict[str, tuple[Array, Array]] = {}
    for link, near in rooms.items():
        kept = [
            spheres_as_room(robot, link, other, *found[other]) if other in found else room
            for other, room in near.items()
        ]
        allowance = allowance_of(robot, link)
        found[link] = fit_link(primitives(robot.urdf, link), allowance, step_m, tuple(kept))
    return found


def allowance_of(robot: Robot, link: str) -> Allowance:
    """Tight for parts of a gripper, which reach beside and below what it holds; loose for what no arm moves."""
    moved = {name for arm in robot.arms.values() for name in arm.joint_names}
    fingers = {name for arm in robot.arms.values() if arm.gripper for name in arm.gripper.finger_links}
    above = {joint.child: joint for joint in robot.joints.values()}
    parts = link in fingers
    while link in above:
        if above[link].name in moved:
            return FINGER if parts else ARM
        parts |= above[link].type is not JointType.FIXED
        link = above[link].parent
    return BODY


def lines_of(link: str, centers: Array, radii: Array) -> list[str]:
    """A link's spheres as lines of ``spheres.yaml``."""
    rows = zip(centers.round(4).tolist(), radii.tolist(), strict=True)
    return [f"  {link}:", *(f"  - {{center: {c}, radius: {np.ceil(r * 1e4) / 1e4:.4f}}}" for c, r in rows)]


def main() -> None:
    """Print the spheres of the named links, or of all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("robot_dir", type=Path)
    parser.add_argument("links", nargs="*")
    text = "of a sphere beyond a named link [m]"
    parser.add_argument("--protrusion", type=float, default=0.012, help=text)
    parser.add_argument("--step", type=float, default=0.012, help="spacing of samples [m]")
    args = parser.parse_args()
    robot = load_robot(args.robot_dir)
    if not args.links:
        fitted = fit_robot(robot, args.step)
        sys.stdout.write(f"{HEAD}\nlinks:\n")
    else:
        allowance = Allowance(args.protrusion, COVER_M)
        fitted = {link: fit_link(primitives(robot.urdf, link), allowance, args.step) for link in args.links}
    for link, (centers, radii) in fitted.items():
        sys.stdout.write("\n".join(lines_of(link, centers, radii)) + "\n")


if __name__ == "__main__":
    main()
