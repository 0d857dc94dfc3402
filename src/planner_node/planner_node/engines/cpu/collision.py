"""Collision of one configuration, with an inflation that lets one test clear a whole piece of an edge."""

from __future__ import annotations

import numpy as np

from handiwork_core.geometry import Array

from .arrays import Ints, RobotArrays, SceneArrays
from .distances import to_shape
from .jit import kernel
from .kinematics import forward, place

HIT, NEAR, CLEAR = 0, 1, 2
"""A pair is below its margin; none is, but one might be within the inflation; none is even then."""


@kernel
def group_to_shape(
    robot: RobotArrays, scene: SceneArrays, frame: Array, g: int, s: int, floor: float, ceiling: float
) -> float:
    """Smallest signed distance [m] of group ``g`` to shape ``s``.

    Stops early below ``floor``; returns ``ceiling`` where the bounding spheres show that it is no smaller.
    """
    b, p = robot.bounds[g], scene.pose[s]
    x, y, z = place(frame, b[0], b[1], b[2])
    dx, dy, dz = x - p[9], y - p[10], z - p[11]
    limit = ceiling + b[3] + scene.bound[s]
    if limit <= 0.0 or dx * dx + dy * dy + dz * dz > limit * limit:
        return ceiling
    if to_shape(scene, s, x, y, z) - b[3] >= ceiling:
        return ceiling
    best = ceiling
    for i in range(robot.group_start[g], robot.group_start[g + 1]):
        c = robot.spheres[i]
        x, y, z = place(frame, c[0], c[1], c[2])
        dx, dy, dz = x - p[9], y - p[10], z - p[11]
        limit = best + c[3] + scene.bound[s]
        if limit > 0.0 and dx * dx + dy * dy + dz * dz < limit * limit:
            best = min(best, to_shape(scene, s, x, y, z) - c[3])
            if best < floor:
                return best
    return best


@kernel
def group_to_group(robot: RobotArrays, frames: Array, a: int, b: int, floor: float, ceiling: float) -> float:
    """Smallest signed distance [m] between the spheres of two groups, with ``floor`` and ``ceiling`` as above."""
    fa, fb = frames[robot.group_body[a]], frames[robot.group_body[b]]
    p, q = robot.bounds[a], robot.bounds[b]
    ax, ay, az = place(fa, p[0], p[1], p[2])
    bx, by, bz = place(fb, q[0], q[1], q[2])
    if np.sqrt((ax - bx) ** 2 + (ay - by) ** 2 + (az - bz) ** 2) - p[3] - q[3] >= ceiling:
        return ceiling
    best = ceiling
    for i in range(robot.group_start[a], robot.group_start[a + 1]):
        c = robot.spheres[i]
        ax, ay, az = place(fa, c[0], c[1], c[2])
        if np.sqrt((ax - bx) ** 2 + (ay - by) ** 2 + (az - bz) ** 2) - c[3] - q[3] >= best:
            continue
        for j in range(robot.group_start[b], robot.group_start[b + 1]):
            d = robot.spheres[j]
            x, y, z = place(fb, d[0], d[1], d[2])
            best = min(best, np.sqrt((ax - x) ** 2 + (ay - y) ** 2 + (az - z) ** 2) - c[3] - d[3])
            if best < floor:
                return best
    return best


@kernel
def motion_bound(robot: RobotArrays, move: Array, after: int, g: int) -> float:
    """How far any point of group ``g`` can move [m] relative to body ``after`` when joint j moves by ``move[j]`` >= 0."""
    total = 0.0
    for j in range(after, robot.group_body[g]):
        total += move[j] * robot.reach[g, j]
    return total


@kernel
def check(
    q: Array, move: Array, robot: RobotArrays, scene: SceneArrays, margins: Array, frames: Array, hit: Ints
) -> int:
    """HIT, NEAR or CLEAR for configuration ``q`` (n,) and any other within ``move`` (n,) of it, joint by joint.

    ``margins`` (g, m + g); ``frames`` (n + 1, 12) is scratch and left at ``q``; ``hit`` (2,) gets the pair: group and
    column of ``margins``. Tool groups go first, as they hit most.
    """
    forward(q, robot.chain, robot.prismatic, frames)
    state, shapes = CLEAR, len(scene.kind)
    for g in range(len(robot.group_body) - 1, -1, -1):
        frame = frames[robot.group_body[g]]
        slack = motion_bound(robot, move, 0, g) if state == CLEAR else 0.0
        for s in range(shapes):
            margin = margins[g, s]
            if margin > -1.0e8:
                d = group_to_shape(robot, scene, frame, g, s, margin, margin + slack)
                if d < margin:
                    hit[0], hit[1] = g, s
                    return HIT
                if d < margin + slack:
                    state, slack = NEAR, 0.0
    for k in range(len(robot.pairs)):
        a, b = robot.pairs[k, 0], robot.pairs[k, 1]
        margin = margins[a, shapes + b]
        if margin > -1.0e8:
            slack = motion_bound(robot, move, robot.group_body[a], b) if state == CLEAR else 0.0
            d = group_to_group(robot, frames, a, b, margin, margin + slack)
            if d < margin:
                hit[0], hit[1] = a, shapes + b
                return HIT
            if d < margin + slack:
                state = NEAR
    return state


@kernel
def all_distances(
    q: Array, robot: RobotArrays, scene: SceneArrays, margins: Array, frames: Array, out: Array
) -> None:
    """Exact signed distances [m] of every pair that is on, ``out`` (g, m + g); 1e9 elsewhere and beyond 1 m."""
    forward(q, robot.chain, robot.prismatic, frames)
    shapes = len(scene.kind)
    out[:] = 1.0e9
    for g in range(len(robot.group_body)):
        for s in range(shapes):
            if margins[g, s] > -1.0e8:
                d = group_to_shape(robot, scene, frames[robot.group_body[g]], g, s, -1.0e9, 1.0)
                if d < 1.0:
                    out[g, s] = d
    for k in range(len(robot.pairs)):
        a, b = robot.pairs[k, 0], robot.pairs[k, 1]
        if margins[a, shapes + b] > -1.0e8:
            d = group_to_group(robot, frames, a, b, -1.0e9, 1.0)
            if d < 1.0:
                out[a, shapes + b] = d
