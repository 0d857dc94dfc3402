"""Every robot in the folder is sound: its spheres fit, and its ignored pairs are right over the whole joint range."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot, Spheres
from handiwork_core.robot_files.loader import load_robot
from robot_description.collision_pairs.many_poses import free_joints, many_link_poses
from robot_description.collision_pairs.pair_sampling import pair_gaps
from robot_description.solids.primitives import primitives, union_distance
from support.paths import ROBOTS

FOLDERS = sorted(path.parent for path in ROBOTS.glob("*/robot.yaml"))
SAMPLES = 300
NEAREST = 10
"""Number of samples at which the solids of a pair are compared."""


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
    touching = {pair for pair, value in gaps(robot, {}).items() if value < 0.001}
    assert touching <= robot.ignored_pairs


@pytest.fixture(scope="module")
def drawn(robot: Robot) -> dict[str, np.ndarray]:
    """Return random joint positions within the limits, by joint."""
    rng = np.random.default_rng(0)
    return {j.name: rng.uniform(j.lower, j.upper, SAMPLES) for j in free_joints(robot)}


@pytest.fixture(scope="module")
def drawn_gaps(robot: Robot, drawn: dict[str, np.ndarray]) -> dict[tuple[str, str], np.ndarray]:
    """Return the smallest distance between the spheres of each pair of links, m; a lower bound for distant pairs."""
    frames = many_link_poses(robot, drawn)
    return {
        (min(a.link, b.link), max(a.link, b.link)): pair_gaps(frames, a, b, SAMPLES)
        for a, b in itertools.combinations(robot.spheres, 2)
    }


def is_adjacent(robot: Robot, pair: tuple[str, str]) -> bool:
    """Check whether one joint connects the links, or one with only fixed joints beside it."""
    ups = {joint.child: joint for joint in robot.joints.values()}

    def anchor(link: str) -> str:
        while link in ups and ups[link].type is JointKind.FIXED:
            link = ups[link].parent
        return link

    parents = {link: anchor(ups[link].parent) if link in ups else "" for link in pair}
    a, b = pair
    return anchor(a) == anchor(b) or parents[a] == anchor(b) or parents[b] == anchor(a)


def is_over_one_link(robot: Robot, pair: tuple[str, str]) -> bool:
    """Check whether two moving joints separate the links."""
    ups = {joint.child: joint for joint in robot.joints.values()}
    links = {
        link: is_adjacent(robot, (pair[0], link)) and is_adjacent(robot, (link, pair[1])) for link in ups
    }
    return any(links.values())


def below(robot: Robot, link: str) -> set[str]:
    """Return the link and all links below it; the parts of a gripper meet when it closes."""
    found = {link}
    for joint in robot.joints.values():
        if joint.parent in found:
            found.add(joint.child)
    return found


def is_moved(robot: Robot, link: str) -> bool:
    """Check whether an arm moves the link; links that only a lift or a head moves are not planned for."""
    ups = {joint.child: joint for joint in robot.joints.values()}
    names = {name for arm in robot.arms.values() for name in arm.joint_names}
    while link in ups:
        if ups[link].name in names:
            return True
        link = ups[link].parent
    return False


@pytest.mark.slow
def test_the_solids_of_ignored_pairs_never_meet(
    robot: Robot, drawn: dict[str, np.ndarray], drawn_gaps: dict[tuple[str, str], np.ndarray]
) -> None:
    hands = [below(robot, arm.ee_link) for arm in robot.arms.values()]
    moved = {link for pair in robot.ignored_pairs for link in pair if is_moved(robot, link)}
    judged = [
        pair
        for pair in robot.ignored_pairs
        if not is_adjacent(robot, pair)
        and not any(set(pair) <= hand for hand in hands)
        and set(pair) & moved
        # Rough hulls on either side of a short link, such as in a shoulder, overlap at every configuration.
        and float((drawn_gaps.get(pair, np.ones(1)) < 0.0).mean()) < 0.9
    ]
    solids = {link: primitives(robot.urdf, link) for pair in judged for link in pair}
    points = {link: np.concatenate([item.grid(0.02) for item in shapes]) for link, shapes in solids.items()}
    assert judged
    for a, b in judged:
        nearest = np.argsort(drawn_gaps.get((a, b), np.full(SAMPLES, np.inf)))[:NEAREST]
        # Primitives are rough hulls of links, and rougher where links fit closely around a joint.
        limit = -0.01 if is_over_one_link(robot, (a, b)) else -0.002
        for draw in ({name: float(q[i]) for name, q in drawn.items()} for i in nearest):
            poses = link_poses(robot, draw)
            near = union_distance(solids[a], (poses[a].inverse() @ poses[b]).apply(points[b])).min()
            assert near > limit, f"{a} and {b} meet by {-near:.4f} m at {draw} and are ignored"


@pytest.mark.slow
def test_pairs_that_count_are_mostly_apart(
    robot: Robot, drawn_gaps: dict[tuple[str, str], np.ndarray]
) -> None:
    for pair in set(drawn_gaps) - robot.ignored_pairs:
        if not any(is_moved(robot, link) for link in pair):
            continue
        share = float((drawn_gaps[pair] < 0.0).mean())
        assert share < 0.5, f"{pair} touches in {share:.0%} of all configurations"


def test_finger_spheres_fit_the_pads() -> None:
    robot = load_robot(ROBOTS / "fr3")
    spheres = {s.link: s for s in robot.spheres}
    corners = np.array(list(itertools.product((-0.00875, 0.00875), (0.0, 0.01518), (0.036, 0.0545))))
    for link in robot.arm("").gripper.finger_links:
        found = spheres[link]
        assert (found.centers[:, 2] + found.radii).max() <= 0.0545 + 0.0041
        outside = np.linalg.norm(corners[:, None] - found.centers[None], axis=2) - found.radii
        assert outside.min(axis=1).max() < 0.002
