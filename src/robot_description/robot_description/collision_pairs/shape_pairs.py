"""A check whether links whose spheres touch really collide: spheres stick out, and links of one wrist are close."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.robot.robot import Robot
from robot_description.solids.primitives import Solid, union_distance

from .many_poses import free_joints, many_link_poses
from .pair_sampling import Pair

SAMPLES = 400
ROUND_M = 0.01
"""Points reach at least as far as the shapes less this, m."""
MET_M = -0.002
"""Largest overlap that counts as rounding, m: shapes of links on both sides of one link may nearly touch."""


def shapes_meet(
    robot: Robot, pair: Pair, solids: Mapping[str, tuple[Solid, ...]], points: Mapping[str, Array], seed: int
) -> bool:
    """Check whether the shapes of two links collide at any of the samples.

    Args:
        robot: The robot.
        pair: Names of the links.
        solids: Solids by link, in its frame.
        points: Points on and in the solids by link, in its frame, (n, 3), m.
        seed: Seed of the samples.

    Returns:
        True if they do.
    """
    rng = np.random.default_rng(seed)
    q = {j.name: rng.uniform(j.lower, j.upper, SAMPLES) for j in free_joints(robot)}
    a, b = pair
    frames = many_link_poses(robot, q, pair)
    (turn_a, place_a), (turn_b, place_b) = frames[a], frames[b]
    low, high = points[a].min(axis=0) - ROUND_M, points[a].max(axis=0) + ROUND_M
    for i in range(SAMPLES):
        in_a = (points[b] @ turn_b[i].T + place_b[i] - place_a[i]) @ turn_a[i]
        near = in_a[((in_a >= low) & (in_a <= high)).all(axis=1)]  # no other point is inside
        if len(near) and float(union_distance(solids[a], near).min()) < MET_M:
            return True
    return False
