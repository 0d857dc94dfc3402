"""Chooses a home for an arm: away from self-collision, from its limits and from singularities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.robot.followers import links_moved_by
from handiwork_core.robot.robot import Joint, Robot
from robot_description.collision_pairs.many_poses import free_joints, many_link_poses
from robot_description.collision_pairs.pair_sampling import Pair, pair_gaps

SAMPLES = 400
APART_M, ABOVE_M = 0.02, 0.02
"""Distances of a home from a collision with itself, and above the foot of the arm, m."""
FOOT_M = 0.15
"""An arm stands on its foot where nothing that it does not move is lower than this below its first joint's frame, m."""
STEP = 1e-4
WIDEST = np.pi
"""Limits of a turning joint beyond this do not shift its home, rad."""


def search_home(
    robot: Robot, ee_link: str, joints: Sequence[str], needless: frozenset[Pair], seed: int = 0
) -> tuple[float, ...] | None:
    """Choose a home among samples in the middle of the joint ranges.

    In the chosen sample the slowest direction of the EE is fastest (smallest singular value of the position Jacobian).

    Args:
        robot: The robot, with spheres.
        ee_link: Link of the EE.
        joints: Joints of the arm, (dof,).
        needless: Pairs of links that need no check.
        seed: Seed of the samples.

    Returns:
        Positions of ``joints``, (dof,), rad or m, with two decimals; None if every sample collides with itself.
    """
    rng = np.random.default_rng(seed)
    fixed = {joint.name: float(np.clip(0.0, joint.lower, joint.upper)) for joint in free_joints(robot)}
    q: dict[str, Array] = {name: np.full(SAMPLES, value) for name, value in fixed.items()}
    for name in joints:
        low, high = _middle(robot.joints[name])
        q[name] = rng.uniform(low, high, SAMPLES).round(2)
    frames = many_link_poses(robot, q)
    gaps = np.full(SAMPLES, np.inf)
    for i, a in enumerate(robot.spheres):
        for b in robot.spheres[i + 1 :]:
            if (min(a.link, b.link), max(a.link, b.link)) not in needless:
                gaps = np.minimum(gaps, pair_gaps(frames, a, b, SAMPLES))
    if gaps.max() < 0.0:
        return None
    # An arm that stands on its foot often stands on a table: samples below the foot are left out if others are left.
    pool = gaps >= 0.0
    moved = links_moved_by(robot.joints, joints[1:])
    foot = frames[robot.joints[joints[0]].parent][1][..., 2]
    still = _lowest(robot, frozenset(robot.links) - links_moved_by(robot.joints, joints), frames)
    above = pool & (_lowest(robot, moved, frames) - foot >= ABOVE_M)
    if above.any() and bool((foot - still <= FOOT_M).all()):
        pool = above
    can = pool & (gaps >= min(APART_M, float(gaps[pool].max())))
    good = np.where(can, _slowest(robot, ee_link, joints, q), -1.0)
    best = int(good.argmax())
    return tuple(float(q[name][best]) for name in joints)


def _lowest(robot: Robot, links: frozenset[str], frames: Mapping[str, tuple[Array, Array]]) -> Array:
    """Return the least height (n,) of the spheres of some links, m; infinite where they have none."""
    lowest: Array = np.full(SAMPLES, np.inf)
    for item in robot.spheres:
        if item.link in links and len(item.radii):
            turn, place = frames[item.link]
            heights = (item.centers @ turn[..., 2, :, None])[..., 0] + place[..., 2, None] - item.radii
            lowest = np.minimum(lowest, heights.min(axis=-1))
    return lowest


def _middle(joint: Joint) -> tuple[float, float]:
    """Return the middle 60 % of a range."""
    low, high = max(joint.lower, -WIDEST), min(joint.upper, WIDEST)
    if low > high:
        low, high = joint.lower, joint.upper
    return low + 0.2 * (high - low), high - 0.2 * (high - low)


def _slowest(robot: Robot, ee_link: str, joints: Sequence[str], q: dict[str, Array]) -> Array:
    """Return the smallest singular value (n,) of the Jacobian of the EE's position."""
    base = many_link_poses(robot, q, (ee_link,))[ee_link][1]
    columns = []
    for name in joints:
        ahead = many_link_poses(robot, {**q, name: q[name] + STEP}, (ee_link,))[ee_link][1]
        columns.append((ahead - base) / STEP)
    values = np.linalg.svd(np.stack(columns, axis=2), compute_uv=False)[:, -1]
    return np.asarray(values, dtype=np.float64)
