"""Whether links meet in truth where their spheres do: spheres stick out, and links of one wrist lie close."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.robot.robot import Robot
from robot_description.solids.primitives import Solid, union_distance

from .many_poses import free_joints, many_link_poses
from .pair_sampling import Pair

SAMPLES = 400
MET_M = -0.002
"""Shapes of neighbours over one link come as near as a rounding of the facts."""


def shapes_meet(
    robot: Robot, pair: Pair, solids: Mapping[str, tuple[Solid, ...]], points: Mapping[str, Array], seed: int
) -> bool:
    """Whether the shapes of two links run into each other at any of the samples."""
    rng = np.random.default_rng(seed)
    q = {j.name: rng.uniform(j.lower, j.upper, SAMPLES) for j in free_joints(robot)}
    a, b = pair
    frames = many_link_poses(robot, q, pair)
    (turn_a, place_a), (turn_b, place_b) = frames[a], frames[b]
    for i in range(SAMPLES):
        root = points[b] @ turn_b[i].T + place_b[i]
        if float(union_distance(solids[a], (root - place_a[i]) @ turn_a[i]).min()) < MET_M:
            return True
    return False
