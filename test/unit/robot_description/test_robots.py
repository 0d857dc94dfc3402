"""Every robot in the folder is sound: its spheres fit, and its ignored pairs are right over the whole joint range."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from handiwork_core.kinematics import link_poses
from handiwork_core.robot import JointType, Robot, Spheres
from handiwork_core.robot_loader import load_robot

ROBOTS = Path(__file__).resolve().parents[3] / "src" / "robot_description" / "robots"
FOLDERS = sorted(path.parent for path in ROBOTS.glob("*/robot.yaml"))
SAMPLES = 200


@pytest.fixture(scope="module", params=FOLDERS, ids=lambda path: path.name)
def robot(request: pytest.FixtureRequest) -> Robot:
    return load_robot(request.param)


def gaps(robot: Robot, positions: dict[str, float]) -> dict[tuple[str, str], float]:
    """Smallest distance between the spheres of each pair of links [m]."""
    poses = link_poses(robot, positions)
    return {
        (min(a.link, b.link), max(a.link, b.link)): gap(
            poses[a.link].apply(a.centers), poses[b.link].apply(b.centers), a, b
        )
        for a, b in itertools.combinations(robot.spheres, 2)
    }


def gap(root_a: np.ndarray, root_b: np.ndarray, a: Spheres, b: Spheres) -> float:
    distance = np.linalg.norm(root_a[:, None] - root_b[None], axis=2)
    return float((distance - a.radii[:, None] - b.radii[None]).min())


def test_home_is_free_of_collision(robot: Robot) -> None:
    touching = {pair for pair, value in gaps(robot, {}).items() if value < 0.01}
    assert touching <= robot.ignored_pairs


def test_ignored_pairs_always_or_never_touch(robot: Robot) -> None:
    rng = np.random.default_rng(0)
    movers = [j for j in robot.joints.values() if j.type is not JointType.FIXED and j.mimic is None]
    draws = [{j.name: float(rng.uniform(j.lower, j.upper)) for j in movers} for _ in range(SAMPLES)]
    all_gaps = [gaps(robot, draw) for draw in draws]
    fingers = {link for arm in robot.arms.values() if arm.gripper for link in arm.gripper.finger_links}
    for pair in all_gaps[0]:
        share = float(np.mean([values[pair] < 0.0 for values in all_gaps]))
        if pair in robot.ignored_pairs:
            assert share in (0.0, 1.0) or set(pair) <= fingers, f"{pair} can touch and is ignored"
        else:
            assert share < 0.2, f"{pair} touches in {share:.0%} of all configurations"


def test_finger_spheres_fit_the_pads() -> None:
    robot = load_robot(ROBOTS / "fr3")
    spheres = {s.link: s for s in robot.spheres}
    corners = np.array(list(itertools.product((-0.00875, 0.00875), (0.0, 0.01518), (0.036, 0.0545))))
    for link in robot.arm("").gripper.finger_links:
        found = spheres[link]
        assert (found.centers[:, 2] + found.radii).max() <= 0.0545 + 0.0041
        outside = np.linalg.norm(corners[:, None] - found.centers[None], axis=2) - found.radii
        assert outside.min(axis=1).max() < 0.002


def test_root_spheres_stay_above_the_floor_that_it_stands_on() -> None:
    robot = load_robot(ROBOTS / "fr3")
    base = next(s for s in robot.spheres if s.link == robot.root_link)
    assert (base.centers[:, 2] - base.radii).min() > 0.0
