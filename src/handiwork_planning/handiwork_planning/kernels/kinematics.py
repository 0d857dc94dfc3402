"""Forward kinematics of an arm."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array

from .arrays import DRIVER, PARENT, SLIDES, Ints, RobotArrays
from .jit import kernel


@kernel
def compose(a: Array, b: Array, out: Array) -> None:
    """Compute the transform a b.

    Args:
        a: Transform, (12,).
        b: Transform, (12,).
        out: Written: the product, (12,); it must be neither ``a`` nor ``b``.
    """
    for i in range(3):
        x, y, z = a[3 * i], a[3 * i + 1], a[3 * i + 2]
        for j in range(3):
            out[3 * i + j] = x * b[j] + y * b[3 + j] + z * b[6 + j]
        out[9 + i] = x * b[9] + y * b[10] + z * b[11] + a[9 + i]


@kernel
def forward(q: Array, chain: Array, joints: Ints, ratio: Array, frames: Array) -> None:
    """Compute the poses of all bodies in the world.

    Args:
        q: Configuration, (n,), rad or m.
        chain: Zero frame of each joint in its parent body, (m, 12).
        joints: Type, parent and driver of each joint, (m, 3); see ``RobotArrays``.
        ratio: Move of each joint for each unit of its driver, (m,).
        frames: Written: poses, (m + 1, 12); body 0 is the world.
    """
    frames[0, :] = 0.0
    frames[0, 0] = 1.0
    frames[0, 4] = 1.0
    frames[0, 8] = 1.0
    for j in range(len(chain)):
        # Indices instead of row views: Numba counts references to views, which costs more than the sums.
        turning, b, at = joints[j, SLIDES] == 0, joints[j, PARENT], ratio[j] * q[joints[j, DRIVER]]
        s, c = (np.sin(at), np.cos(at)) if turning else (0.0, 1.0)
        slide = 0.0 if turning else at
        for i in range(3):
            x, y, z = frames[b, 3 * i], frames[b, 3 * i + 1], frames[b, 3 * i + 2]
            u = x * chain[j, 0] + y * chain[j, 3] + z * chain[j, 6]
            v = x * chain[j, 1] + y * chain[j, 4] + z * chain[j, 7]
            w = x * chain[j, 2] + y * chain[j, 5] + z * chain[j, 8]
            frames[j + 1, 3 * i] = u * c + v * s
            frames[j + 1, 3 * i + 1] = v * c - u * s
            frames[j + 1, 3 * i + 2] = w
            frames[j + 1, 9 + i] = (
                x * chain[j, 9] + y * chain[j, 10] + z * chain[j, 11] + frames[b, 9 + i] + w * slide
            )


@kernel
def place(frame: Array, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a point of a body in the world, m.

    Args:
        frame: World pose of the body, (12,).
        x: Coordinate in the body frame, m.
        y: Coordinate in the body frame, m.
        z: Coordinate in the body frame, m.
    """
    return (
        frame[0] * x + frame[1] * y + frame[2] * z + frame[9],
        frame[3] * x + frame[4] * y + frame[5] * z + frame[10],
        frame[6] * x + frame[7] * y + frame[8] * z + frame[11],
    )


@kernel
def pose_error(target: Array, actual: Array, error: Array) -> None:
    """Compute the translation and rotation vector, in the world, that bring ``actual`` to ``target``.

    The rotation vector is the logarithm of R_target R_actual^T; near pi its axis comes from the symmetric part.

    Args:
        target: Transform, (12,).
        actual: Transform, (12,).
        error: Written: translation [m] and rotation vector [rad], (6,).
    """
    trace = 0.0
    for i in range(9):
        trace += target[i] * actual[i]
    d = np.empty(9)
    for i in range(3):
        error[i] = target[9 + i] - actual[9 + i]
        for j in range(3):
            d[3 * i + j] = (
                target[3 * i] * actual[3 * j]
                + target[3 * i + 1] * actual[3 * j + 1]
                + target[3 * i + 2] * actual[3 * j + 2]
            )
    vx, vy, vz = d[7] - d[5], d[2] - d[6], d[3] - d[1]
    sine = 0.5 * np.sqrt(vx * vx + vy * vy + vz * vz)
    cosine = 0.5 * (trace - 1.0)
    angle = np.arctan2(sine, cosine)
    if sine > 1e-6 or cosine > 0.0:
        scale = 0.5 if sine < 1e-9 else 0.5 * angle / sine
        error[3], error[4], error[5] = vx * scale, vy * scale, vz * scale
        return
    k = 0
    for i in range(1, 3):
        if d[4 * i] > d[4 * k]:
            k = i
    pivot = np.sqrt(max(0.0, 0.5 * (d[4 * k] + 1.0)))
    for i in range(3):
        axis = pivot if i == k else 0.25 * (d[3 * i + k] + d[3 * k + i]) / pivot
        error[3 + i] = axis * angle


@kernel
def tool_pose(q: Array, robot: RobotArrays, frames: Array, out: Array) -> None:
    """Compute the poses of all bodies and of the EE link in the world.

    Args:
        q: Configuration, (n,), rad or m.
        robot: The arm as a chain.
        frames: Written: poses of the bodies, (m + 1, 12).
        out: Written: pose of the EE link, (12,).
    """
    forward(q, robot.chain, robot.joints, robot.ratio, frames)
    compose(frames[robot.tool_body], robot.tool, out)


@kernel
def tool_poses(path: Array, robot: RobotArrays, out: Array) -> None:
    """Compute the world poses of the EE link.

    Args:
        path: Configurations, (k, n), rad or m.
        robot: The arm as a chain.
        out: Written: poses, (k, 12).
    """
    frames = np.empty((len(robot.chain) + 1, 12))
    for i in range(len(path)):
        tool_pose(path[i], robot, frames, out[i])
