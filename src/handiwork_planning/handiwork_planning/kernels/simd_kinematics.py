"""Sixteen configurations side by side in float32: kinematics, and sphere tests, as vector code.

A lane is one configuration; a set of lanes is a number with one bit for each. Arrays are rows of lanes (see ``simd``):
row 12 b + i of ``frames`` is entry i of the pose of body b, row 3 s + i of ``centres`` is coordinate i of a ball s.
Functions take plain arrays, not tuples of them, and are inlined, so that no reference is counted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .arrays import DRIVER, PARENT, SLIDES, Ints
from .jit import inlined
from .simd import (
    SHORT_LANES,
    Wide,
    lanes_less,
    load,
    nearest,
    root,
    save,
    size,
    spread,
    where_less,
)

LANES = SHORT_LANES
Floats = NDArray[np.float32]
f4 = np.float32


@inlined
def sine_and_cosine(x: Wide) -> tuple[Wide, Wide]:
    """Return sine and cosine to float32 accuracy: Taylor's series of the half angle, then the double angle.

    Args:
        x: Angles, rad.
    """
    turns = nearest(x * f4(0.15915494309189535))
    h = ((x - turns * f4(6.28125)) - turns * f4(1.9353071795864769e-3)) * f4(0.5)
    z = h * h
    s = z * f4(-1.0 / 39916800.0) + f4(1.0 / 362880.0)
    s = z * s + f4(-1.0 / 5040.0)
    s = z * s + f4(1.0 / 120.0)
    s = z * s + f4(-1.0 / 6.0)
    s = (z * s + f4(1.0)) * h
    c = z * f4(1.0 / 479001600.0) + f4(-1.0 / 3628800.0)
    c = z * c + f4(1.0 / 40320.0)
    c = z * c + f4(-1.0 / 720.0)
    c = z * c + f4(1.0 / 24.0)
    c = z * c + f4(-0.5)
    c = z * c + f4(1.0)
    twice = s + s
    return twice * c, f4(1.0) - twice * s


@inlined
def joint_lanes(j: int, parent: int, at: Wide, chain: Floats, joints: Ints, frames: Floats) -> None:
    """Compute the world poses of the body that a joint moves.

    Args:
        j: The joint.
        parent: The body that carries it.
        at: Its positions, rad or m.
        chain: Zero frame of each joint in its parent body, (m, 12).
        joints: Type, parent and driver of each joint, (m, 3).
        frames: Poses, (12 (m + 1), LANES); those of body j + 1 are written.
    """
    here, there = 12 * parent, 12 * j + 12
    slides = joints[j, SLIDES] == 1
    s, c = sine_and_cosine(spread(f4(0.0)) if slides else at)
    for i in range(3):
        x, y, z = (
            load(frames, here + 3 * i),
            load(frames, here + 3 * i + 1),
            load(frames, here + 3 * i + 2),
        )
        u = x * chain[j, 0] + y * chain[j, 3] + z * chain[j, 6]
        v = x * chain[j, 1] + y * chain[j, 4] + z * chain[j, 7]
        w = x * chain[j, 2] + y * chain[j, 5] + z * chain[j, 8]
        t = x * chain[j, 9] + y * chain[j, 10] + z * chain[j, 11] + load(frames, here + 9 + i)
        save(frames, there + 3 * i, u * c + v * s)
        save(frames, there + 3 * i + 1, v * c - u * s)
        save(frames, there + 3 * i + 2, w)
        save(frames, there + 9 + i, t + w * at if slides else t)


@inlined
def forward_lanes(q: Floats, chain: Floats, joints: Ints, ratio: Floats, frames: Floats) -> None:
    """Compute the world poses of all bodies.

    Args:
        q: Configurations, (n, LANES), rad or m.
        chain: Zero frame of each joint in its parent body, (m, 12).
        joints: Type, parent and driver of each joint, (m, 3); see ``RobotArrays``.
        ratio: Move of each joint for each unit of its driver, (m,).
        frames: Written: poses, (12 (m + 1), LANES).
    """
    for i in range(12):
        save(frames, i, f4(1.0) if i == 0 or i == 4 or i == 8 else f4(0.0))
    if len(chain) == len(q):
        for j in range(len(chain)):
            joint_lanes(j, j, load(q, j), chain, joints, frames)
    else:
        for j in range(len(chain)):
            at = load(q, joints[j, DRIVER]) * ratio[j]
            joint_lanes(j, joints[j, PARENT], at, chain, joints, frames)


@inlined
def centre_lanes(b: int, i: int, balls: Floats, frames: Floats, centres: Floats) -> None:
    """Compute the world centre of a ball.

    Args:
        b: Index of the ball's body.
        i: Row of ``balls``.
        balls: Centres in the body frame and radii, (s, 4), m.
        frames: Body poses, (12 (m + 1), LANES).
        centres: Written: rows 3 i to 3 i + 2 of (3 s, LANES), m.
    """
    x, y, z = balls[i, 0], balls[i, 1], balls[i, 2]
    for j in range(3):
        row = 12 * b + 3 * j
        turned = load(frames, row) * x + load(frames, row + 1) * y + load(frames, row + 2) * z
        save(centres, 3 * i + j, turned + load(frames, 12 * b + 9 + j))


@inlined
def from_centre(centres: Floats, i: int, x0: float, y0: float, z0: float) -> tuple[Wide, Wide, Wide]:
    """Return the vector from a point to a centre, m.

    Args:
        centres: World centres, (3 s, LANES), m.
        i: Index of the centre.
        x0: Coordinate of the point in the world, m.
        y0: Coordinate of the point in the world, m.
        z0: Coordinate of the point in the world, m.
    """
    return load(centres, 3 * i) - x0, load(centres, 3 * i + 1) - y0, load(centres, 3 * i + 2) - z0


@inlined
def within(square: Wide, reach: float, slack: float, share: Floats) -> int:
    """Return the set of lanes in which a distance is less than ``reach`` plus the lane's share of ``slack``.

    Args:
        square: Squared distances, m^2.
        reach: Distance, m.
        slack: Further distance, m.
        share: Part of ``slack`` in each lane, (1, LANES).
    """
    wide = load(share, 0) * slack + reach
    return lanes_less(square, wide * wide)


@inlined
def near_point(
    centres: Floats, i: int, x0: float, y0: float, z0: float, reach: float, slack: float, share: Floats
) -> int:
    """Return the set of lanes in which a centre is ``within`` reach of a point.

    Args:
        centres: World centres, (3 s, LANES), m.
        i: Index of the centre.
        x0: Coordinate of the point in the world, m.
        y0: Coordinate of the point in the world, m.
        z0: Coordinate of the point in the world, m.
        reach: Distance, m.
        slack: Further distance, m.
        share: Part of ``slack`` in each lane, (1, LANES).
    """
    x, y, z = from_centre(centres, i, x0, y0, z0)
    return within(x * x + y * y + z * z, reach, slack, share)


@inlined
def square_between(centres: Floats, i: int, j: int) -> Wide:
    """Return the squared distance of two centres, m^2.

    Args:
        centres: World centres, (3 s, LANES), m.
        i: Index of one centre.
        j: Index of the other.
    """
    x = load(centres, 3 * i) - load(centres, 3 * j)
    y = load(centres, 3 * i + 1) - load(centres, 3 * j + 1)
    z = load(centres, 3 * i + 2) - load(centres, 3 * j + 2)
    return x * x + y * y + z * z


@inlined
def square_to_box(centres: Floats, i: int, pose: Floats, half: Floats, s: int) -> Wide:
    """Return the squared distance of a centre to a box, m^2; 0 inside.

    Args:
        centres: World centres, (3 s, LANES), m.
        i: Index of the centre.
        pose: world_T_shape, (m, 12).
        half: Half edges, (m, 3), m.
        s: Index of the shape.
    """
    x, y, z = from_centre(centres, i, pose[s, 9], pose[s, 10], pose[s, 11])
    u = size(x * pose[s, 0] + y * pose[s, 3] + z * pose[s, 6]) - half[s, 0]
    v = size(x * pose[s, 1] + y * pose[s, 4] + z * pose[s, 7]) - half[s, 1]
    w = size(x * pose[s, 2] + y * pose[s, 5] + z * pose[s, 8]) - half[s, 2]
    zero = f4(0.0)
    u, v, w = where_less(u, zero, zero, u), where_less(v, zero, zero, v), where_less(w, zero, zero, w)
    return u * u + v * v + w * w


@inlined
def square_to_cylinder(centres: Floats, i: int, pose: Floats, half: Floats, s: int) -> Wide:
    """Return the squared distance of a centre to a cylinder along z, m^2; 0 inside.

    Args:
        centres: World centres, (3 s, LANES), m.
        i: Index of the centre.
        pose: world_T_shape, (m, 12).
        half: Radius and half length first, (m, 3), m.
        s: Index of the shape.
    """
    x, y, z = from_centre(centres, i, pose[s, 9], pose[s, 10], pose[s, 11])
    u = x * pose[s, 0] + y * pose[s, 3] + z * pose[s, 6]
    v = x * pose[s, 1] + y * pose[s, 4] + z * pose[s, 7]
    w = size(x * pose[s, 2] + y * pose[s, 5] + z * pose[s, 8]) - half[s, 1]
    u = root(u * u + v * v) - half[s, 0]
    zero = f4(0.0)
    u, w = where_less(u, zero, zero, u), where_less(w, zero, zero, w)
    return u * u + w * w
