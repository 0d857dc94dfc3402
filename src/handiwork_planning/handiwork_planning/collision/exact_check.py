"""Exact distances of all pairs at one configuration."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.kernels.arrays import Ints, RobotArrays, SceneArrays
from handiwork_planning.kernels.jit import kernel
from handiwork_planning.kernels.kinematics import forward

from .pair_distance import pair_gap


@kernel
def pairs_on(robot: RobotArrays, scene: SceneArrays, margins: Array) -> Ints:
    """Return the pairs that count, tool groups first, as they hit most.

    Args:
        robot: The arm with its groups of spheres.
        scene: The shapes of the world.
        margins: Smallest allowed distances, (g, m + g), m; OFF for pairs that do not count.

    Returns:
        Group and column of each pair, (k, 2).
    """
    shapes, groups = len(scene.kind), len(robot.group_body)
    found = np.empty((groups * shapes + len(robot.pairs), 2), dtype=np.int64)
    count = 0
    for g in range(groups - 1, -1, -1):
        for s in range(shapes):
            if margins[g, s] > -1.0e8:
                found[count, 0], found[count, 1] = g, s
                count += 1
    for k in range(len(robot.pairs)):
        a, b = robot.pairs[k, 0], robot.pairs[k, 1]
        if margins[a, shapes + b] > -1.0e8:
            found[count, 0], found[count, 1] = a, shapes + b
            count += 1
    return found[:count]


@kernel
def all_distances(
    q: Array,
    ceiling: float,
    robot: RobotArrays,
    scene: SceneArrays,
    margins: Array,
    frames: Array,
    out: Array,
) -> None:
    """Compute the exact signed distances of all pairs that count.

    Args:
        q: Configuration, (n,), rad or m.
        ceiling: Larger distances are not computed, m.
        robot: The arm with its groups of spheres.
        scene: The shapes of the world.
        margins: Smallest allowed distances, (g, m + g), m; OFF for pairs that do not count.
        frames: Scratch, (m + 1, 12).
        out: Written: distances, (g, m + g), m; 1e9 if a pair is off or beyond ``ceiling``.
    """
    forward(q, robot.chain, robot.joints, robot.ratio, frames)
    out[:] = 1.0e9
    pairs = pairs_on(robot, scene, margins)
    for i in range(len(pairs)):
        g, column = pairs[i, 0], pairs[i, 1]
        d = pair_gap(robot, scene, frames, g, column, -1.0e9, ceiling)
        if d < ceiling:
            out[g, column] = d
