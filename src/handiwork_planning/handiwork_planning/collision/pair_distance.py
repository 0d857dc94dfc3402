"""Distances between parts of the robot and the world, with bounds that end most computations early."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.distance.shapes import to_local
from handiwork_planning.kernels.arrays import RobotArrays, SceneArrays
from handiwork_planning.kernels.jit import kernel
from handiwork_planning.kernels.kinematics import place


@kernel
def relative(a: Array, b: Array, out: Array) -> None:
    """Compute the transform a^-1 b.

    Args:
        a: Transform, (12,).
        b: Transform, (12,).
        out: Written: the pose of b's frame in a's, (12,).
    """
    x, y, z = b[9] - a[9], b[10] - a[10], b[11] - a[11]
    for i in range(3):
        for j in range(3):
            out[3 * i + j] = a[i] * b[j] + a[3 + i] * b[3 + j] + a[6 + i] * b[6 + j]
        out[9 + i] = a[i] * x + a[3 + i] * y + a[6 + i] * z


@kernel
def group_to_shape(
    robot: RobotArrays, scene: SceneArrays, frame: Array, g: int, s: int, floor: float, ceiling: float
) -> float:
    """Return the smallest signed distance of a group to a shape, m.

    Args:
        robot: The arm with its groups of spheres.
        scene: The shapes of the world.
        frame: World pose of the group's body, (12,).
        g: Index of the group.
        s: Index of the shape.
        floor: The search stops at the first distance below this, m.
        ceiling: Returned if no sphere is nearer, m.
    """
    b, p = robot.bounds[g], scene.pose[s]
    x, y, z = place(frame, b[0], b[1], b[2])
    dx, dy, dz = x - p[9], y - p[10], z - p[11]
    limit = ceiling + b[3] + scene.bound[s]
    if limit <= 0.0 or dx * dx + dy * dy + dz * dz > limit * limit:
        return ceiling
    local = np.empty(12)
    relative(p, frame, local)
    x, y, z = place(local, b[0], b[1], b[2])
    if to_local(scene, s, x, y, z) - b[3] >= ceiling:
        return ceiling
    best, spheres, bound = ceiling, robot.spheres, scene.bound[s]
    for i in range(robot.group_start[g], robot.group_start[g + 1]):
        x, y, z = place(local, spheres[i, 0], spheres[i, 1], spheres[i, 2])
        radius = spheres[i, 3]
        limit = best + radius + bound
        if limit > 0.0 and x * x + y * y + z * z < limit * limit:
            best = min(best, to_local(scene, s, x, y, z) - radius)
            if best < floor:
                return best
    return best


@kernel
def group_to_group(robot: RobotArrays, frames: Array, a: int, b: int, floor: float, ceiling: float) -> float:
    """Return the smallest signed distance between the spheres of two groups, m.

    Args:
        robot: The arm with its groups of spheres.
        frames: World poses of the bodies, (m + 1, 12).
        a: Index of the first group.
        b: Index of the second group.
        floor: The search stops at the first distance below this, m.
        ceiling: Returned if no two spheres are nearer, m.
    """
    fa, fb = frames[robot.group_body[a]], frames[robot.group_body[b]]
    p, q = robot.bounds[a], robot.bounds[b]
    ax, ay, az = place(fa, p[0], p[1], p[2])
    bx, by, bz = place(fb, q[0], q[1], q[2])
    limit = ceiling + p[3] + q[3]
    if limit <= 0.0 or (ax - bx) ** 2 + (ay - by) ** 2 + (az - bz) ** 2 >= limit * limit:
        return ceiling
    local = np.empty(12)
    relative(fb, fa, local)
    best, spheres, start, stop = ceiling, robot.spheres, robot.group_start[b], robot.group_start[b + 1]
    qx, qy, qz, around = q[0], q[1], q[2], q[3]
    for i in range(robot.group_start[a], robot.group_start[a + 1]):
        x, y, z = place(local, spheres[i, 0], spheres[i, 1], spheres[i, 2])
        radius = spheres[i, 3]
        limit = best + radius + around
        if limit <= 0.0 or (x - qx) ** 2 + (y - qy) ** 2 + (z - qz) ** 2 >= limit * limit:
            continue
        for j in range(start, stop):
            dx, dy, dz = x - spheres[j, 0], y - spheres[j, 1], z - spheres[j, 2]
            limit, square = best + radius + spheres[j, 3], dx * dx + dy * dy + dz * dz
            if limit > 0.0 and square < limit * limit:
                best = np.sqrt(square) - radius - spheres[j, 3]
                if best < floor:
                    return best
    return best


@kernel
def pair_gap(
    robot: RobotArrays, scene: SceneArrays, frames: Array, g: int, column: int, floor: float, ceiling: float
) -> float:
    """Return the smallest signed distance of a group to a column of the margins, m.

    Args:
        robot: The arm with its groups of spheres.
        scene: The shapes of the world.
        frames: World poses of the bodies, (m + 1, 12).
        g: Index of the group.
        column: Index of a shape of the world; the number of shapes and more for another group.
        floor: The search stops at the first distance below this, m.
        ceiling: Returned if nothing is nearer, m.
    """
    shapes = len(scene.kind)
    if column < shapes:
        return group_to_shape(robot, scene, frames[robot.group_body[g]], g, column, floor, ceiling)
    return group_to_group(robot, frames, g, column - shapes, floor, ceiling)
