"""Collision of one configuration, with an inflation that lets one test clear a whole piece of a motion."""

from __future__ import annotations

import numpy as np

from handiwork_core.geometry import Array

from .arrays import Ints, RobotArrays, SceneArrays
from .gaps import ball_centres, far_apart, motion_bound, pair_gap
from .jit import kernel
from .kinematics import forward

FINEST_M, FINEST_BARE_M = 0.0015, 0.0005
"""A pair is taken as clear of a piece on which it cannot come closer than this to the distance at the piece's middle:
the first where its margin is larger than that, so that it never touches; the second where there is no such margin."""

COARSE_M = 0.05
"""Where a pair may come closer by more than this, bounding spheres decide, and halves of the piece look closer."""


@kernel
def pairs_on(robot: RobotArrays, scene: SceneArrays, margins: Array) -> Ints:
    """(k, 2) group and column of ``margins`` (g, m + g) of pairs that count; tool groups first, as they hit most."""
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
def touches(
    q: Array, pairs: Ints, robot: RobotArrays, scene: SceneArrays, margins: Array, frames: Array, hit: Ints
) -> bool:
    """Is any of ``pairs`` (k, 2) below its margin at ``q`` (n,)? Leaves ``frames`` at ``q``; ``hit`` (2,): the pair."""
    forward(q, robot.chain, robot.prismatic, frames)
    bounds, pose, bound = robot.bounds, scene.pose, scene.bound
    centres = np.empty((len(bounds), 3))
    ball_centres(robot, frames, centres)
    for i in range(len(pairs)):
        g, column = pairs[i, 0], pairs[i, 1]
        margin = margins[g, column]
        if far_apart(centres, bounds, pose, bound, g, column, margin):
            continue
        if pair_gap(robot, scene, frames, g, column, margin, margin) < margin:
            hit[0], hit[1] = g, column
            return True
    return False


@kernel
def screen(
    q: Array,
    move: Array,
    pairs: Ints,
    robot: RobotArrays,
    scene: SceneArrays,
    margins: Array,
    frames: Array,
    near: Ints,
    hit: Ints,
) -> int:
    """How many of ``pairs`` (k, 2) might be below their margin within ``move`` (n,) of ``q`` (n,), joint by joint.

    They are written to ``near`` (k or more, 2). -1 and ``hit`` (2,) when a pair is below its margin at ``q`` itself.
    """
    forward(q, robot.chain, robot.prismatic, frames)
    count, shapes, reach, body = 0, len(scene.kind), robot.reach, robot.group_body
    bounds, pose, bound = robot.bounds, scene.pose, scene.bound
    centres = np.empty((len(bounds), 3))
    ball_centres(robot, frames, centres)
    for i in range(len(pairs)):
        g, column = pairs[i, 0], pairs[i, 1]
        margin = margins[g, column]
        if column < shapes:
            slack = motion_bound(reach, body, move, 0, g)
        else:
            slack = motion_bound(reach, body, move, body[g], column - shapes)
        finest = FINEST_M if margin > FINEST_M else FINEST_BARE_M
        if slack <= finest:
            slack = 0.0
        if far_apart(centres, bounds, pose, bound, g, column, margin + slack):
            continue
        coarse = slack > COARSE_M
        d = margin
        if not (coarse and far_apart(centres, bounds, pose, bound, g, column, margin)):
            d = pair_gap(robot, scene, frames, g, column, margin, margin if coarse else margin + slack)
        if d < margin:
            hit[0], hit[1] = g, column
            return -1
        if coarse or d < margin + slack:
            near[count, 0], near[count, 1] = g, column
            count += 1
    return count


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
    """Exact signed distances [m] of pairs that are on, ``out`` (g, m + g); 1e9 elsewhere and beyond ``ceiling`` [m]."""
    forward(q, robot.chain, robot.prismatic, frames)
    out[:] = 1.0e9
    pairs = pairs_on(robot, scene, margins)
    for i in range(len(pairs)):
        g, column = pairs[i, 0], pairs[i, 1]
        d = pair_gap(robot, scene, frames, g, column, -1.0e9, ceiling)
        if d < ceiling:
            out[g, column] = d
