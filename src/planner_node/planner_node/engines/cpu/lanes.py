"""Sixteen configurations side by side in float32: kinematics, and sphere tests, as vector code.

A lane is one configuration. Arrays end in the lane, so that inner loops of constant length run over neighbours.
Tests count lanes instead of looking for a smallest value: sums become vector instructions, minima do not. Functions
take plain arrays, not tuples of them, and are inlined, so that no reference is counted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .arrays import Ints
from .jit import inlined

LANES = 16
Floats = NDArray[np.float32]
f4 = np.float32
BIT = (2.0 ** np.arange(LANES)).astype(np.float32)
"""Sets of lanes are sums of these: a float32 holds 24 bits exactly, and float sums become vector instructions."""


@inlined
def sine_and_cosine(x: float) -> tuple[float, float]:
    """Of an angle [rad] to float32 accuracy: Taylor's series of the half angle, then the double angle."""
    turns = np.rint(x * f4(0.15915494309189535))
    h = f4(0.5) * ((x - turns * f4(6.28125)) - turns * f4(1.9353071795864769e-3))
    z = h * h
    s = f4(-1.0 / 39916800.0)
    s = f4(1.0 / 362880.0) + z * s
    s = f4(-1.0 / 5040.0) + z * s
    s = f4(1.0 / 120.0) + z * s
    s = f4(-1.0 / 6.0) + z * s
    s = h * (f4(1.0) + z * s)
    c = f4(1.0 / 479001600.0)
    c = f4(-1.0 / 3628800.0) + z * c
    c = f4(1.0 / 40320.0) + z * c
    c = f4(-1.0 / 720.0) + z * c
    c = f4(1.0 / 24.0) + z * c
    c = f4(-0.5) + z * c
    c = f4(1.0) + z * c
    return f4(2.0) * s * c, f4(1.0) - f4(2.0) * s * s


@inlined
def forward_lanes(q: Floats, chain: Floats, prismatic: Ints, frames: Floats, turn: Floats) -> None:
    """World poses of all bodies: ``q`` (n, LANES) to ``frames`` (n + 1, 12, LANES); ``turn`` (2, LANES) is scratch.

    Each inner loop writes two rows only: with more, the compiler gives up proving that they do not overlap.
    """
    for i in range(12):
        one = f4(1.0) if i == 0 or i == 4 or i == 8 else f4(0.0)
        for k in range(LANES):
            frames[0, i, k] = one
    for j in range(len(chain)):
        here, there = frames[j], frames[j + 1]
        c0, c1, c2, c3, c4 = chain[j, 0], chain[j, 1], chain[j, 2], chain[j, 3], chain[j, 4]
        c5, c6, c7, c8 = chain[j, 5], chain[j, 6], chain[j, 7], chain[j, 8]
        tx, ty, tz = chain[j, 9], chain[j, 10], chain[j, 11]
        if prismatic[j] == 0:
            for k in range(LANES):
                turn[0, k], turn[1, k] = sine_and_cosine(q[j, k])
        else:
            for k in range(LANES):
                turn[0, k], turn[1, k] = f4(0.0), f4(1.0)
        for i in range(3):
            a, b, d, t = 3 * i, 3 * i + 1, 3 * i + 2, 9 + i
            for k in range(LANES):
                x, y, z = here[a, k], here[b, k], here[d, k]
                u, v = x * c0 + y * c3 + z * c6, x * c1 + y * c4 + z * c7
                there[a, k], there[b, k] = u * turn[1, k] + v * turn[0, k], v * turn[1, k] - u * turn[0, k]
            for k in range(LANES):
                x, y, z = here[a, k], here[b, k], here[d, k]
                there[d, k] = x * c2 + y * c5 + z * c8
                there[t, k] = x * tx + y * ty + z * tz + here[t, k]
            if prismatic[j] == 1:
                for k in range(LANES):
                    there[t, k] += there[d, k] * q[j, k]


@inlined
def centre_lanes(b: int, g: int, bounds: Floats, frames: Floats, out: Floats) -> None:
    """World centres ``out`` (g, 3, LANES) of the bounding sphere of group ``g`` of body ``b``."""
    x, y, z = bounds[g, 0], bounds[g, 1], bounds[g, 2]
    for i in range(3):
        for k in range(LANES):
            out[g, i, k] = (
                frames[b, 3 * i, k] * x
                + frames[b, 3 * i + 1, k] * y
                + frames[b, 3 * i + 2, k] * z
                + frames[b, 9 + i, k]
            )


@inlined
def ball_near_point(
    centres: Floats, slack: Floats, g: int, row: int, x0: float, y0: float, z0: float, reach: float
) -> bool:
    """Is centre ``g`` in any lane within ``reach`` plus ``slack`` of a point?"""
    near = f4(0.0)
    for k in range(LANES):
        x, y, z = centres[g, 0, k] - x0, centres[g, 1, k] - y0, centres[g, 2, k] - z0
        r = reach + slack[row, k]
        near += f4(1.0) if x * x + y * y + z * z < r * r else f4(0.0)
    return bool(near > f4(0.0))


@inlined
def balls_near(centres: Floats, slack: Floats, g: int, h: int, row: int, reach: float) -> bool:
    """Are centres ``g`` and ``h`` in any lane within ``reach`` plus ``slack`` of each other?"""
    near = f4(0.0)
    for k in range(LANES):
        x = centres[g, 0, k] - centres[h, 0, k]
        y = centres[g, 1, k] - centres[h, 1, k]
        z = centres[g, 2, k] - centres[h, 2, k]
        r = reach + slack[row, k]
        near += f4(1.0) if x * x + y * y + z * z < r * r else f4(0.0)
    return bool(near > f4(0.0))


@inlined
def near_box(
    f: Floats,
    b: int,
    x0: float,
    y0: float,
    z0: float,
    pose: Floats,
    size: Floats,
    s: int,
    radius: float,
    slack: Floats,
    row: int,
) -> tuple[np.float32, np.float32]:
    """Sets of lanes in which a point of body ``b`` is within ``radius`` of a box, and within ``radius`` plus slack.

    ``f`` (n + 1, 12, LANES) are body poses, ``pose`` (m, 12) and ``size`` (m, 3) world_T_shape and half edges.
    """
    tx, ty, tz = pose[s, 9], pose[s, 10], pose[s, 11]
    r0, r1, r2, r3, r4 = pose[s, 0], pose[s, 1], pose[s, 2], pose[s, 3], pose[s, 4]
    r5, r6, r7, r8 = pose[s, 5], pose[s, 6], pose[s, 7], pose[s, 8]
    ha, hb, hc = size[s, 0], size[s, 1], size[s, 2]
    hits, nears, square, zero, half = f4(0.0), f4(0.0), radius * radius, f4(0.0), f4(0.5)
    for k in range(LANES):
        x = f[b, 0, k] * x0 + f[b, 1, k] * y0 + f[b, 2, k] * z0 + f[b, 9, k] - tx
        y = f[b, 3, k] * x0 + f[b, 4, k] * y0 + f[b, 5, k] * z0 + f[b, 10, k] - ty
        z = f[b, 6, k] * x0 + f[b, 7, k] * y0 + f[b, 8, k] * z0 + f[b, 11, k] - tz
        u = abs(r0 * x + r3 * y + r6 * z) - ha
        v = abs(r1 * x + r4 * y + r7 * z) - hb
        w = abs(r2 * x + r5 * y + r8 * z) - hc
        u, v, w = half * (u + abs(u)), half * (v + abs(v)), half * (w + abs(w))
        gap, wide = u * u + v * v + w * w, radius + slack[row, k]
        hits += BIT[k] if gap < square else zero
        nears += BIT[k] if gap < wide * wide else zero
    return hits, nears


@inlined
def near_cylinder(
    f: Floats,
    b: int,
    x0: float,
    y0: float,
    z0: float,
    pose: Floats,
    size: Floats,
    s: int,
    radius: float,
    slack: Floats,
    row: int,
) -> tuple[np.float32, np.float32]:
    """The same for a cylinder along z; ``size`` (m, 3) starts with radius and half length."""
    tx, ty, tz = pose[s, 9], pose[s, 10], pose[s, 11]
    r0, r1, r2, r3, r4 = pose[s, 0], pose[s, 1], pose[s, 2], pose[s, 3], pose[s, 4]
    r5, r6, r7, r8 = pose[s, 5], pose[s, 6], pose[s, 7], pose[s, 8]
    ha, hb = size[s, 0], size[s, 1]
    hits, nears, square, zero, half = f4(0.0), f4(0.0), radius * radius, f4(0.0), f4(0.5)
    for k in range(LANES):
        x = f[b, 0, k] * x0 + f[b, 1, k] * y0 + f[b, 2, k] * z0 + f[b, 9, k] - tx
        y = f[b, 3, k] * x0 + f[b, 4, k] * y0 + f[b, 5, k] * z0 + f[b, 10, k] - ty
        z = f[b, 6, k] * x0 + f[b, 7, k] * y0 + f[b, 8, k] * z0 + f[b, 11, k] - tz
        u, v = r0 * x + r3 * y + r6 * z, r1 * x + r4 * y + r7 * z
        u, w = np.sqrt(u * u + v * v) - ha, abs(r2 * x + r5 * y + r8 * z) - hb
        u, w = half * (u + abs(u)), half * (w + abs(w))
        gap, wide = u * u + w * w, radius + slack[row, k]
        hits += BIT[k] if gap < square else zero
        nears += BIT[k] if gap < wide * wide else zero
    return hits, nears


@inlined
def near_ball(
    f: Floats, a: int, balls: Floats, i: int, b: int, j: int, radius: float, slack: Floats, row: int
) -> tuple[np.float32, np.float32]:
    """The same for ball ``i`` of body ``a`` and ball ``j`` of body ``b``, rows of ``balls`` (s, 4)."""
    px, py, pz, qx, qy, qz = balls[i, 0], balls[i, 1], balls[i, 2], balls[j, 0], balls[j, 1], balls[j, 2]
    hits, nears, square, zero = f4(0.0), f4(0.0), radius * radius, f4(0.0)
    for k in range(LANES):
        x = f[a, 0, k] * px + f[a, 1, k] * py + f[a, 2, k] * pz + f[a, 9, k]
        y = f[a, 3, k] * px + f[a, 4, k] * py + f[a, 5, k] * pz + f[a, 10, k]
        z = f[a, 6, k] * px + f[a, 7, k] * py + f[a, 8, k] * pz + f[a, 11, k]
        x -= f[b, 0, k] * qx + f[b, 1, k] * qy + f[b, 2, k] * qz + f[b, 9, k]
        y -= f[b, 3, k] * qx + f[b, 4, k] * qy + f[b, 5, k] * qz + f[b, 10, k]
        z -= f[b, 6, k] * qx + f[b, 7, k] * qy + f[b, 8, k] * qz + f[b, 11, k]
        gap, wide = x * x + y * y + z * z, radius + slack[row, k]
        hits += BIT[k] if gap < square else zero
        nears += BIT[k] if gap < wide * wide else zero
    return hits, nears
