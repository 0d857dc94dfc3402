"""Poses of a robot's frames and speeds of its tools, compiled; independent of the planner's kinematics."""

from __future__ import annotations

import math

from handiwork_core.model.geometry import Array

from .jit import compiled
from .kernel_arrays import Body, Scratch, Tree


@compiled
def forward(tree: Tree, q: Array, rotation: Array, translation: Array) -> None:
    """Compute the poses of all frames in the root link's frame.

    Args:
        tree: The robot, with k moving joints.
        q: Joint positions, (n,), rad or m.
        rotation: Filled with the rotations of the frames, (k + 1, 3, 3).
        translation: Filled with the origins of the frames, (k + 1, 3), m.
    """
    for a in range(3):
        translation[0, a] = 0.0
        for b in range(3):
            rotation[0, a, b] = 1.0 if a == b else 0.0
    for k in range(len(tree.parent)):
        p, source = tree.parent[k], tree.source[k]
        at = tree.offset[k] + (tree.multiplier[k] * q[source] if source >= 0 else 0.0)
        x, y, z = tree.axis[k, 0], tree.axis[k, 1], tree.axis[k, 2]
        sine, rest = 0.0, 0.0
        if tree.is_prismatic[k] == 0:
            sine, rest = math.sin(at), 1.0 - math.cos(at)
        for a in range(3):
            r0 = r1 = r2 = 0.0
            shift = translation[p, a]
            for b in range(3):
                up = rotation[p, a, b]
                r0 += up * tree.rotation[k, b, 0]
                r1 += up * tree.rotation[k, b, 1]
                r2 += up * tree.rotation[k, b, 2]
                shift += up * tree.translation[k, b]
            if tree.is_prismatic[k] == 1:
                shift += (r0 * x + r1 * y + r2 * z) * at
            translation[k + 1, a] = shift
            # Rodrigues: R (I + sin K + (1 - cos) K K), row by row; K K = a a' - I.
            along = r0 * x + r1 * y + r2 * z
            rotation[k + 1, a, 0] = r0 + sine * (r1 * z - r2 * y) + rest * (along * x - r0)
            rotation[k + 1, a, 1] = r1 + sine * (r2 * x - r0 * z) + rest * (along * y - r1)
            rotation[k + 1, a, 2] = r2 + sine * (r0 * y - r1 * x) + rest * (along * z - r2)


@compiled
def tool_speed(tree: Tree, body: Body, rate: Array, scratch: Scratch) -> tuple[float, int]:
    """Return the speed of the fastest tool centre point.

    Args:
        tree: The robot.
        body: Its tool centre points.
        rate: Joint velocities, (n,), rad/s or m/s.
        scratch: Poses of all frames, by ``forward``.

    Returns:
        Speed, m/s, and number of the tool.
    """
    rotation, translation = scratch.rotation, scratch.translation
    linear, angular = scratch.linear, scratch.angular
    for a in range(3):
        linear[0, a] = angular[0, a] = 0.0
    for k in range(len(tree.parent)):
        p, f, source = tree.parent[k], k + 1, tree.source[k]
        v = tree.multiplier[k] * rate[source] if source >= 0 else 0.0
        dx = translation[f, 0] - translation[p, 0]
        dy = translation[f, 1] - translation[p, 1]
        dz = translation[f, 2] - translation[p, 2]
        wx, wy, wz = angular[p, 0], angular[p, 1], angular[p, 2]
        linear[f, 0] = linear[p, 0] + wy * dz - wz * dy
        linear[f, 1] = linear[p, 1] + wz * dx - wx * dz
        linear[f, 2] = linear[p, 2] + wx * dy - wy * dx
        for a in range(3):
            turned = 0.0
            for b in range(3):
                turned += rotation[f, a, b] * tree.axis[k, b]
            angular[f, a] = angular[p, a]
            if tree.is_prismatic[k] == 1:
                linear[f, a] += turned * v
            else:
                angular[f, a] += turned * v
    fastest, which = 0.0, 0
    for t in range(len(body.tool_frame)):
        f = body.tool_frame[t]
        x = y = z = 0.0
        for b in range(3):
            x += rotation[f, 0, b] * body.tool_point[t, b]
            y += rotation[f, 1, b] * body.tool_point[t, b]
            z += rotation[f, 2, b] * body.tool_point[t, b]
        wx, wy, wz = angular[f, 0], angular[f, 1], angular[f, 2]
        vx = linear[f, 0] + wy * z - wz * y
        vy = linear[f, 1] + wz * x - wx * z
        vz = linear[f, 2] + wx * y - wy * x
        speed = math.sqrt(vx * vx + vy * vy + vz * vz)
        if speed > fastest:
            fastest, which = speed, t
    return fastest, which


@compiled
def fastest_tool(
    tree: Tree,
    body: Body,
    position: Array,
    rate: Array,
    scratch: Scratch,
) -> float:
    """Return the greatest tool speed among joint states.

    Args:
        tree: The robot.
        body: Its tool centre points.
        position: Joint positions, (r, n), rad or m.
        rate: Joint velocities, (r, n), rad/s or m/s.
        scratch: Overwritten.

    Returns:
        Speed, m/s; see ``tool_speed``.
    """
    fastest = 0.0
    for row in range(len(position)):
        forward(tree, position[row], scratch.rotation, scratch.translation)
        speed, _tool = tool_speed(tree, body, rate[row], scratch)
        fastest = max(fastest, speed)
    return fastest
