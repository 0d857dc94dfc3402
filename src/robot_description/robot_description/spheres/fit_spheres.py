"""Fits collision spheres that cover a link's collision primitives, and prints them as ``spheres.yaml`` wants them.

``python -m robot_description.spheres.fit_spheres robots/fr3 fr3_hand fr3_link7 --protrusion 0.012`` (or no link: all)

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
from scipy.sparse import csr_array, vstack
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from handiwork_core.model.geometry import Array
from handiwork_core.robot.robot import JointType, Robot
from handiwork_core.robot_files.loader import load_robot
from robot_description.collision_pairs.home_room import (
    Limit,
    floor_of,
    lowest_m,
    rooms_at_home,
    spheres_as_room,
)
from robot_description.solids.primitives import Solid, primitives, union_distance

from .set_cover import Choice

COVER_M = 0.001
"""How far a surface point may lie outside every sphere."""

LEAST_M = 0.001
"""Smaller spheres are none."""

FINEST_M, STEPS = 0.004, 24
"""Samples on small links are this far apart; there are about so many along the longest side of others."""

LEVELS = 5
"""Centres are tried on grids, each twice as wide as the one before and deeper in the solids."""

DEEPEST = 6.0
"""MotionSteps of its grid that a centre lies below the surface at most."""

KEY = np.array([1, 1 << 20, 1 << 40])
"""Makes one number of the cell that a point lies in."""

ROUNDS = 30
"""How often a part of the spheres is chosen anew."""

AT_ONCE = 20_000
"""Points whose distances to all spheres are held at a time."""

MOST_HELD = 5_000_000
"""Distances between centres and points held at a time."""

PASSES = 3
"""How often all is chosen anew at most to cover what the samples before had missed, too."""

HEAD = """# Collision spheres in each link's frame [m]: center x y z, radius.
# Made by `python -m robot_description.spheres.fit_spheres` from the primitives of the description."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """How far spheres may stick out of the solids, and the solids out of the spheres [m]."""

    protrusion_m: float
    cover_m: float


FINGER, HAND = Allowance(0.004, 0.002), Allowance(0.0098, 0.002)
"""Of what the last joint of an arm carries, whose corners come nearest to things."""
ARM, BODY = Allowance(0.0098, 0.0045), Allowance(0.0098, 0.0098)


def fit(
    solids: Sequence[Solid],
    allowance: Allowance,
    step_m: float,
    rooms: Sequence[Limit] = (),
    rounds: int = ROUNDS,
) -> tuple[Array, Array]:
    """Centers (k, 3) and radii (k,) [m] that cover the surface of the union as far as ``allowance`` says.

    No sphere sticks out further than it says, or into ``rooms``; ``step_m`` is the spacing of samples. More ``rounds``
    find a few spheres less.
    """
    fine = surface_of(solids, 0.3 * step_m)
    surface = fine[np.unique((fine / (0.8 * step_m)).round().astype(np.int64) @ KEY, return_index=True)[1]]
    centers, radii = _tried(solids, allowance.protrusion_m, step_m, fine, rooms)
    reach, chosen = radii + allowance.cover_m, list[int]()
    for _ in range(min(PASSES, rounds)):
        chosen = Choice(_held(centers, reach, surface)).best(rounds, seed=0)
        missed = fine[gaps(fine, centers[chosen], radii[chosen]) > allowance.cover_m]
        surface = np.unique(np.concatenate([surface, missed]), axis=0)
    # The little that is missed still is covered beside what is chosen.
    if len(missed):
        chosen += Choice(_held(centers, reach, missed)).best(0, seed=0)
    return centers[chosen], radii[chosen]


def _held(centers: Array, reach: Array, points: Array) -> csr_array:
    """One where a point (m,) lies within reach (n,) of a center (n, 3)."""
    rows = max(1, MOST_HELD // len(points))
    parts = [
        csr_array((cdist(centers[i : i + rows], points) <= reach[i : i + rows, None]).astype(np.int32))
        for i in range(0, len(centers), rows)
    ]
    return csr_array(vstack(parts)) if parts else csr_array((0, len(points)), dtype=np.int32)


def surface_of(solids: Sequence[Solid], step_m: float) -> Array:
    """Points (n, 3) on the surface of the union, about ``step_m`` apart."""
    grid = np.concatenate([solid.surface(step_m) for solid in solids])
    points: Array = grid[union_distance(solids, grid) >= -1e-6]
    return points


def gaps(points: Array, centers: Array, radii: Array) -> Array:
    """How far points (n, 3) lie outside the nearest sphere (n,) [m]; negative inside."""
    parts = [
        (cdist(points[i : i + AT_ONCE], centers) - radii).min(axis=1) for i in range(0, len(points), AT_ONCE)
    ]
    return np.concatenate(parts)


def _tried(
    solids: Sequence[Solid], protrusion_m: float, step_m: float, fine: Array, rooms: Sequence[Limit]
) -> tuple[Array, Array]:
    """Centers and greatest radii of all spheres that may be chosen; ``fine`` (n, 3) lie on the surface."""
    tree, blur = cKDTree(fine), 0.22 * step_m
    found = []
    for level in range(LEVELS):
        step = 0.75 * step_m * 2.0**level
        grid = np.concatenate([solid.grid(step) for solid in solids])
        bound = -union_distance(solids, grid)
        grid = grid[bound < DEEPEST * step]
        grid = grid[np.unique((grid / (0.7 * step)).round().astype(np.int64) @ KEY, return_index=True)[1]]
        bound = -union_distance(solids, grid)
        # Where solids overlap, their own distances say too little; the samples are a little further than the surface.
        away = np.asarray(tree.query(grid)[0], dtype=np.float64)
        depth = np.where(bound > 0.0, np.maximum(bound, np.sqrt(np.maximum(away**2 - blur**2, 0.0))), bound)
        inside = (depth >= (step if level else -LEAST_M)) & (depth < DEEPEST * step)
        found.append(np.column_stack([grid, depth])[inside])
    both = np.concatenate(found)
    radii = _within(rooms, both[:, :3], both[:, 3] + protrusion_m)
    kept = radii > LEAST_M
    return both[kept, :3], radii[kept]


def worst_gap(solids: Sequence[Solid], centers: Array, radii: Array, step_m: float) -> float:
    """Largest distance of a surface point from the nearest sphere [m]; negative is covered."""
    return float(gaps(surface_of(solids, step_m), centers, radii).max())


def fit_link(
    solids: Sequence[Solid],
    allowance: Allowance,
    step_m: float,
    rooms: Sequence[Limit] = (),
    rounds: int = ROUNDS,
) -> tuple[Array, Array]:
    """As ``fit``, with samples ``step_m`` apart, closer on small links."""
    points = np.concatenate([solid.grid(1.0) for solid in solids])
    step = float(np.clip(float(np.ptp(points, axis=0).max()) / STEPS, FINEST_M, max(step_m, FINEST_M)))
    return fit(solids, allowance, step, rooms, rounds)


def _within(rooms: Sequence[Limit], centers: Array, radii: Array) -> Array:
    for room in rooms:
        radii = np.minimum(radii, room.limit(centers))
    return radii


def fit_robot(robot: Robot, step_m: float) -> dict[str, tuple[Array, Array]]:
    """Spheres of all links with solids, as by ``fit_link``; what is apart at home has spheres that are apart."""
    rooms, low = rooms_at_home(robot), lowest_m(robot)
    found: dict[str, tuple[Array, Array]] = {}
    for link, near in rooms.items():
        kept: list[Limit] = [
            spheres_as_room(robot, link, other, *found[other]) if other in found else room
            for other, room in near.items()
        ]
        allowance = allowance_of(robot, link)
        if allowance is BODY:
            kept.append(floor_of(robot, link, low))
        found[link] = fit_link(primitives(robot.urdf, link), allowance, step_m, kept)
    return found


def allowance_of(robot: Robot, link: str) -> Allowance:
    """Tight for hands and parts of a gripper, which reach beside and below things; loose for what no arm moves."""
    last = {arm.joint_names[-1] for arm in robot.arms.values()}
    moved = {name for arm in robot.arms.values() for name in arm.joint_names}
    fingers = {name for arm in robot.arms.values() if arm.gripper for name in arm.gripper.finger_links}
    above = {joint.child: joint for joint in robot.joints.values()}
    parts = link in fingers
    while link in above:
        if above[link].name in moved:
            return FINGER if parts else HAND if above[link].name in last else ARM
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
