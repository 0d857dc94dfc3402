"""Fits collision spheres to the primitives of a robot's links, and prints them in the form of ``spheres.yaml``.

``python -m robot_description.spheres.fit_spheres robots/fr3 fr3_hand fr3_link7 --protrusion 0.012`` (or no link: all);
``--coarse`` fits the few, large spheres of ``coarse_spheres.yaml``
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.followers import followers_of
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from robot_description.collision_pairs.home_room import (
    Limit,
    floor_of,
    lowest_m,
    rooms_at_home,
    spheres_as_room,
)
from robot_description.solids.primitives import primitives

from .link_spheres import COVER_M, ROUNDS, Allowance, fit_link

HEAD = """# Collision spheres in each link's frame [m]: center x y z, radius.
# Made by `python -m robot_description.spheres.fit_spheres` from the primitives of the description."""

COARSE_HEAD = """# Few, large collision spheres in each link's frame [m], for the optimiser of a GPU alone.
# Made by `python -m robot_description.spheres.fit_spheres --coarse` from the primitives of the description."""

FINGER, HAND = Allowance(0.004, 0.002), Allowance(0.0098, 0.002)
"""Allowances of the links that the last joint of an arm carries: their corners come nearest to objects."""
ARM, BODY = Allowance(0.0098, 0.0045), Allowance(0.0098, 0.0098)
COARSE, COARSE_BODY = Allowance(0.02, 0.006, np.inf), Allowance(0.04, 0.012, np.inf)
"""Allowances for an optimiser whose time goes with the number of spheres, and whose motions are checked: of links that
an arm moves, and of the others, which only those meet."""
COARSE_ROUNDS = 10


def fit_robot(robot: Robot, step_m: float, *, is_coarse: bool = False) -> dict[str, tuple[Array, Array]]:
    """Fit spheres of all links with solids by ``fit_link``; links that are apart at home have spheres that are apart.

    Args:
        robot: The robot.
        step_m: Largest distance of samples, m.
        is_coarse: Whether a few, large spheres are fitted, for an optimiser whose motions are checked.

    Returns:
        Centres, (k, 3), and radii, (k,), m, by link.
    """
    rooms, low = rooms_at_home(robot), lowest_m(robot)
    found: dict[str, tuple[Array, Array]] = {}
    for link, near in rooms.items():
        kept: list[Limit] = [
            spheres_as_room(robot, link, other, *found[other]) if other in found else room
            for other, room in near.items()
        ]
        allowance, rounds = allowance_of(robot, link), ROUNDS
        if is_coarse:
            allowance, rounds = COARSE_BODY if allowance is BODY else COARSE, COARSE_ROUNDS
        elif allowance is BODY:
            kept.append(floor_of(robot, link, low))
        found[link] = fit_link(primitives(robot.urdf, link), allowance, step_m, kept, rounds)
    return found


def allowance_of(robot: Robot, link: str) -> Allowance:
    """Return the allowance of a link.

    It is tight for hands and parts of a gripper, which reach beside and below objects, and loose for links that no arm
    moves.

    Args:
        robot: The robot.
        link: Name of the link.
    """
    last = {arm.joint_names[-1] for arm in robot.arms.values()}
    moved = {name for arm in robot.arms.values() for name in arm.joint_names}
    moved |= {each.name for name in moved for each in followers_of(robot.joints, name)}
    fingers = {name for arm in robot.arms.values() if arm.gripper for name in arm.gripper.finger_links}
    above = {joint.child: joint for joint in robot.joints.values()}
    parts = link in fingers
    while link in above:
        if above[link].name in moved:
            return FINGER if parts else HAND if above[link].name in last else ARM
        parts |= above[link].type is not JointKind.FIXED
        link = above[link].parent
    return BODY


def lines_of(link: str, centers: Array, radii: Array) -> list[str]:
    """Return a link's spheres as lines of ``spheres.yaml``.

    Args:
        link: Name of the link.
        centers: Centres, (k, 3), m.
        radii: Radii, (k,), m; rounded up to 0.1 mm.
    """
    rows = zip(centers.round(4).tolist(), radii.tolist(), strict=True)
    return [f"  {link}:", *(f"  - {{center: {c}, radius: {np.ceil(r * 1e4) / 1e4:.4f}}}" for c, r in rows)]


def main() -> None:
    """Print the spheres of the named links, or of all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("robot_dir", type=Path)
    parser.add_argument("links", nargs="*")
    text = "largest protrusion of a sphere beyond a named link [m]"
    parser.add_argument("--protrusion", type=float, default=0.012, help=text)
    parser.add_argument("--coarse", action="store_true", help="few, large spheres for a GPU, of all links")
    parser.add_argument("--step", type=float, default=0.012, help="spacing of samples [m]")
    args = parser.parse_args()
    robot = load_robot(args.robot_dir)
    if args.coarse and args.links:
        parser.error("--coarse fits all links; leave out their names")
    if not args.links:
        fitted = fit_robot(robot, args.step, is_coarse=args.coarse)
        sys.stdout.write(f"{COARSE_HEAD if args.coarse else HEAD}\nlinks:\n")
    else:
        allowance = Allowance(args.protrusion, COVER_M)
        fitted = {link: fit_link(primitives(robot.urdf, link), allowance, args.step) for link in args.links}
    for link, (centers, radii) in fitted.items():
        sys.stdout.write("\n".join(lines_of(link, centers, radii)) + "\n")


if __name__ == "__main__":
    main()
