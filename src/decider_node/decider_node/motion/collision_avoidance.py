"""Kernels: limits of the joint velocities by bodies that come near each other."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.collision.pair_distance import pair_gap
from handiwork_planning.distance.shapes import to_shape
from handiwork_planning.kernels.arrays import DRIVER, PARENT, SLIDES, Ints, RobotArrays, SceneArrays
from handiwork_planning.kernels.jit import kernel
from handiwork_planning.kernels.kinematics import place

GRADIENT_STEP_M = 1.0e-5


@kernel
def add_point_rate(
    row: Array, scale: float, n: Array, p: Array, body: int, joints: Ints, ratio: Array, frames: Array
) -> None:
    """Add the velocity of a body's point along a direction, per joint velocity.

    Args:
        row: Output that is added to, (dof,).
        scale: Factor of the velocity.
        n: Direction in world, (3,).
        p: The point in world, (3,), m.
        body: The body.
        joints: Type, parent and driver of each joint, (m, 3); see ``RobotArrays``.
        ratio: Move of each joint for each unit of its driver, (m,).
        frames: Poses of the links, rotation by rows and origin, (m + 1, 12).
    """
    while body > 0:
        f, j = frames[body], joints[body - 1, DRIVER]
        zx, zy, zz, share = f[2], f[5], f[8], scale * ratio[body - 1]
        if joints[body - 1, SLIDES] == 1:
            row[j] += share * (n[0] * zx + n[1] * zy + n[2] * zz)
        else:
            x, y, z = p[0] - f[9], p[1] - f[10], p[2] - f[11]
            row[j] += share * (n[0] * (zy * z - zz * y) + n[1] * (zz * x - zx * z) + n[2] * (zx * y - zy * x))
        body = joints[body - 1, PARENT]


@kernel
def shape_row(
    robot: RobotArrays, scene: SceneArrays, frames: Array, g: int, s: int, row: Array, scratch: Array
) -> None:
    """Write the rate of the distance of a group of spheres to a shape, at the sphere that is nearest.

    Args:
        robot: The robot.
        scene: The shapes.
        frames: Poses of the links, (m + 1, 12).
        g: The group.
        s: The shape.
        row: Output, per joint velocity, (dof,).
        scratch: Space for three vectors, (3, 3).
    """
    n, p = scratch[0], scratch[1]
    frame = frames[robot.group_body[g]]
    best, nearest = 1.0e9, robot.group_start[g]
    for i in range(robot.group_start[g], robot.group_start[g + 1]):
        b = robot.spheres[i]
        x, y, z = place(frame, b[0], b[1], b[2])
        d = to_shape(scene, s, x, y, z) - b[3]
        if d < best:
            best, nearest = d, i
    b = robot.spheres[nearest]
    p[0], p[1], p[2] = place(frame, b[0], b[1], b[2])
    h, length = GRADIENT_STEP_M, 0.0
    for k in range(3):
        x, y, z = p[0], p[1], p[2]
        dx, dy, dz = (h if k == 0 else 0.0), (h if k == 1 else 0.0), (h if k == 2 else 0.0)
        n[k] = to_shape(scene, s, x + dx, y + dy, z + dz) - to_shape(scene, s, x - dx, y - dy, z - dz)
        length += n[k] * n[k]
    length = np.sqrt(length)
    row[:] = 0.0
    if length > 0.0:
        add_point_rate(row, 1.0 / length, n, p, robot.group_body[g], robot.joints, robot.ratio, frames)


@kernel
def group_row(robot: RobotArrays, frames: Array, a: int, b: int, row: Array, scratch: Array) -> None:
    """Write the rate of the distance between two groups of spheres, at the spheres that are nearest.

    Args:
        robot: The robot.
        frames: Poses of the links, (m + 1, 12).
        a: A group.
        b: The other group.
        row: Output, per joint velocity, (dof,).
        scratch: Space for three vectors, (3, 3).
    """
    n, p, q = scratch[0], scratch[1], scratch[2]
    fa, fb = frames[robot.group_body[a]], frames[robot.group_body[b]]
    best = 1.0e9
    for i in range(robot.group_start[a], robot.group_start[a + 1]):
        s = robot.spheres[i]
        ax, ay, az = place(fa, s[0], s[1], s[2])
        for j in range(robot.group_start[b], robot.group_start[b + 1]):
            t = robot.spheres[j]
            bx, by, bz = place(fb, t[0], t[1], t[2])
            d = np.sqrt((bx - ax) ** 2 + (by - ay) ** 2 + (bz - az) ** 2) - s[3] - t[3]
            if d < best:
                best = d
                p[0], p[1], p[2] = ax, ay, az
                q[0], q[1], q[2] = bx, by, bz
    row[:] = 0.0
    length = np.sqrt((q[0] - p[0]) ** 2 + (q[1] - p[1]) ** 2 + (q[2] - p[2]) ** 2)
    if length > 1.0e-9:
        for k in range(3):
            n[k] = (q[k] - p[k]) / length
        add_point_rate(row, 1.0, n, q, robot.group_body[b], robot.joints, robot.ratio, frames)
        add_point_rate(row, -1.0, n, p, robot.group_body[a], robot.joints, robot.ratio, frames)


@kernel
def near_rows(
    pairs: Ints,
    margins: Array,
    reach: float,
    gain: float,
    robot: RobotArrays,
    scene: SceneArrays,
    frames: Array,
    rows: Array,
    bounds: Array,
    scratch: Array,
) -> tuple[int, float]:
    """Write constraints ``rows qd <= bounds`` for pairs that are within ``reach`` beyond their margin.

    A pair at its margin may not come nearer; a pair ``d`` beyond it may do so with ``gain d`` at most.

    Args:
        pairs: Group and column of each pair, (k, 2); the columns are the shapes, then the groups.
        margins: Smallest distance by group and column, m.
        reach: Distance beyond the margin from which a pair counts, m.
        gain: Speed per distance, 1/s.
        robot: The robot.
        scene: The shapes.
        frames: Poses of the links, (m + 1, 12).
        rows: Output, (most, dof).
        bounds: Output, (most,), m/s.
        scratch: Space for three vectors, (3, 3).

    Returns:
        The number of rows, and the smallest distance beyond a margin, m; 1e9 without a near pair. With more pairs
            than rows the nearest count.
    """
    shapes, count, smallest = len(scene.kind), 0, 1.0e9
    for k in range(len(pairs)):
        g, column = pairs[k, 0], pairs[k, 1]
        margin = margins[g, column]
        d = pair_gap(robot, scene, frames, g, column, -1.0e9, reach + margin) - margin
        if d >= reach:
            continue
        smallest = min(smallest, d)
        at = count
        if count == len(rows):
            at = int(np.argmax(bounds))
            if gain * d >= bounds[at]:
                continue
        else:
            count += 1
        if column < shapes:
            shape_row(robot, scene, frames, g, column, rows[at], scratch)
        else:
            group_row(robot, frames, g, column - shapes, rows[at], scratch)
        for j in range(rows.shape[1]):
            rows[at, j] = -rows[at, j]
        bounds[at] = max(gain * d, -0.1)
    return count, smallest
