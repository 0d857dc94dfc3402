"""Spheres of every robot at random points: how far they stick out of the primitives, and leave them uncovered."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from support.paths import ROBOTS

PROTRUSION_M = 0.010
MOVED_GAP_M, STILL_GAP_M = 0.006, 0.012
"""Largest gaps beside the spheres: of links that an arm or a gripper moves, and of links that do not move."""
COARSE_PROTRUSION_M, COARSE_MOVED_GAP_M, COARSE_STILL_GAP_M = 0.0205, 0.009, 0.016
"""The same of the coarse spheres; those that do not move stick out by COARSE_STILL_M."""
COARSE_STILL_M = 0.0405
POINTS = 6000
Solid = tuple[Callable[[Array], Array], Array]
"""Distance function of points (n, 3) in the link's frame (0 inside), and points on the surface."""


def ball(rng: np.random.Generator, count: int) -> Array:
    drawn = rng.normal(size=(count, 3))
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))


def numbers(element: ET.Element | None, key: str) -> list[float]:
    return [float(v) for v in (element.get(key, "0 0 0") if element is not None else "0 0 0").split()]


def solid(collision: ET.Element, rng: np.random.Generator) -> Solid:
    """Return a solid made from the definitions alone; points lie on faces, and half of them on edges."""
    origin, shape = collision.find("origin"), next(iter(collision.find("geometry") or ()))
    place = Pose.of(numbers(origin, "xyz"), Rotation.from_rpy(*numbers(origin, "rpy")))
    edge = rng.random(POINTS) < 0.5
    if shape.tag == "sphere":
        radius = float(shape.attrib["radius"])
        points, outside = radius * ball(rng, POINTS), lambda p: np.linalg.norm(p, axis=1) - radius
    elif shape.tag == "box":
        half = 0.5 * np.array(numbers(shape, "size"))
        points, row = rng.uniform(-1.0, 1.0, (POINTS, 3)), np.arange(POINTS)
        first = rng.integers(3, size=POINTS)
        second = (first + rng.integers(1, 3, size=POINTS)) % 3
        points[row, first] = np.sign(points[row, first])
        points[row[edge], second[edge]] = np.sign(points[row[edge], second[edge]])
        points = points * half
        outside = lambda p: np.linalg.norm(np.maximum(np.abs(p) - half, 0.0), axis=1)  # noqa: E731
    else:
        radius, high = float(shape.attrib["radius"]), 0.5 * float(shape.attrib["length"])
        turn, coat = rng.uniform(0.0, 2.0 * np.pi, POINTS), rng.random(POINTS) < 0.5
        away = np.where(edge | coat, radius, radius * np.sqrt(rng.random(POINTS)))
        up = np.where(coat & ~edge, rng.uniform(-high, high, POINTS), rng.choice([-high, high], POINTS))
        points = np.column_stack([away * np.cos(turn), away * np.sin(turn), up])
        outside = lambda p: np.hypot(  # noqa: E731
            np.maximum(np.hypot(p[:, 0], p[:, 1]) - radius, 0.0), np.maximum(np.abs(p[:, 2]) - high, 0.0)
        )
    return (lambda p: np.maximum(outside(place.inverse().apply(p)), 0.0)), place.apply(points)


def outside_all(solids: list[Solid], points: Array) -> Array:
    return np.min([distance(points) for distance, _ in solids], axis=0)


def on_the_outside(solids: list[Solid]) -> Array:
    """Return points of each solid's surface that lie in no other solid: just beyond them is free space."""
    kept = []
    for i, (_, points) in enumerate(solids):
        others = solids[:i] + solids[i + 1 :]
        free = outside_all(others, points) > 0.0 if others else np.ones(len(points), dtype=bool)
        kept.append(points[free])
    return np.concatenate(kept)


def moved_links(robot: Robot) -> set[str]:
    tops = {arm.joint_names[0] for arm in robot.arms.values()}
    found: set[str] = set()
    for joint in robot.joints.values():
        if joint.name in tops or joint.parent in found:
            found.add(joint.child)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "folder", sorted(p.parent for p in ROBOTS.glob("*/robot.yaml")), ids=lambda p: p.name
)
def test_spheres_cover_the_primitives_and_stick_out_little(folder: Path) -> None:
    robot, rng = load_robot(folder), np.random.default_rng(7)
    root, moved = ET.fromstring(robot.urdf), moved_links(robot)
    around, faults = ball(rng, 250), []
    found = {item.link: item for item in robot.spheres}
    for link in root.findall("link[collision]"):
        name = link.attrib["name"]
        solids = [solid(item, rng) for item in link.findall("collision")]
        spheres = found[name]
        skins = (spheres.centers[:, None] + spheres.radii[:, None, None] * around).reshape(-1, 3)
        out = float(outside_all(solids, skins).max())
        gap = uncovered_m(on_the_outside(solids), spheres.centers, spheres.radii)
        if out > PROTRUSION_M or gap > (MOVED_GAP_M if name in moved else STILL_GAP_M):
            faults.append(
                f"{name}: spheres stick out by {1e3 * out:.1f} mm, leave {1e3 * gap:.1f} mm uncovered"
            )
    assert not faults, faults


@pytest.mark.parametrize("name", ["fr3", "ur10_suction"])
def test_coarse_spheres_cover_the_primitives(name: str) -> None:
    robot, rng = load_robot(ROBOTS / name), np.random.default_rng(7)
    root, moved = ET.fromstring(robot.urdf), moved_links(robot)
    around, faults = ball(rng, 250), []
    for item in robot.coarse_spheres:
        parts = root.findall(f"link[@name='{item.link}']/collision")
        solids = [solid(part, rng) for part in parts]
        skins = (item.centers[:, None] + item.radii[:, None, None] * around).reshape(-1, 3)
        out = float(outside_all(solids, skins).max())
        gap = uncovered_m(on_the_outside(solids), item.centers, item.radii)
        most, bare = (
            (COARSE_PROTRUSION_M, COARSE_MOVED_GAP_M)
            if item.link in moved
            else (COARSE_STILL_M, COARSE_STILL_GAP_M)
        )
        if out > most or gap > bare:
            faults.append(f"{item.link}: {1e3 * out:.1f} mm out, {1e3 * gap:.1f} mm uncovered")
    assert not faults, faults


def uncovered_m(points: Array, centers: Array, radii: Array) -> float:
    """Return the largest distance of a point from the nearest sphere; only few spheres are near enough to matter."""
    largest = float(radii.max())
    bare = np.full(len(points), np.inf)
    for i, near in enumerate(cKDTree(centers).query_ball_point(points, largest + 0.02)):
        if near:
            bare[i] = (np.linalg.norm(centers[near] - points[i], axis=1) - radii[near]).min()
    return float(bare.max())


@pytest.mark.parametrize("name", ["fr3", "fr3_robotiq", "ur10_suction"])
def test_spheres_of_a_robot_that_stands_on_a_table_stay_above_it(name: str) -> None:
    robot = load_robot(ROBOTS / name)
    poses, moved = link_poses(robot, {}), moved_links(robot)
    for item in robot.spheres:
        if item.link not in moved:
            assert (poses[item.link].apply(item.centers)[:, 2] - item.radii).min() > -2e-4
