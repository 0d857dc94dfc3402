"""The fastest way along a path of pieces within limits of velocity and acceleration.

x is the square of the speed along the path, s' ^ 2, and linear in s on each piece, so that s'' is constant there. All
limits hold exactly, not on a grid only: on a piece the acceleration of a joint is linear in s, so its ends decide.
Reachability analysis (Pham, Pham, "A new approach to time-optimal path parameterization based on reachability
analysis", 2018): backward, the fastest x from which a stop is possible; then forward as fast as allowed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.kernels.arrays import Ints
from handiwork_planning.kernels.jit import kernel

from .blending import Pieces


class Laws(NamedTuple):
    """l stretches of time with constant acceleration along the path."""

    start: Array
    """(l + 1,) start of each [s], and the end."""
    piece: Ints
    """(l,) the piece of each."""
    along: Array
    """(l, 3) place u on the piece [s], speed and acceleration along the path."""


@kernel
def _top(p: int, pieces: Pieces, velocity: Array, acceleration: Array) -> float:
    """Return the greatest x on piece ``p``: no joint above its velocity at either end, nor between.

    No joint is above its acceleration at that speed either: faster is possible while the speed changes, but may end in
    near rest.
    """
    worst = 1.0e-24
    for j in range(len(velocity)):
        a = pieces.slope[p, j]
        b = a + pieces.bend[p, j] * pieces.length[p]
        fastest = max(abs(a), abs(b)) / velocity[j]
        worst = max(worst, max(fastest * fastest, abs(pieces.bend[p, j]) / acceleration[j]))
    return 1.0 / worst


@kernel
def _range(
    p: int, known: float, at_start: bool, pieces: Pieces, acceleration: Array
) -> tuple[float, float, float]:
    """Return bounds of x at one end of piece ``p`` for a ``known`` x at the other, and d(upper) / d(known)."""
    low, high, rise = -1.0e30, 1.0e30, 0.0
    span = 2.0 * pieces.length[p]
    for j in range(len(acceleration)):
        c, g = pieces.bend[p, j], pieces.slope[p, j] / span
        h = g + 0.5 * c
        limit = acceleration[j]
        for end in range(2):
            # At the start: c x0 + g (x1 - x0); at the end: c x1 + h (x1 - x0); each within +-limit.
            a0, a1 = (c - g, g) if end == 0 else (-h, c + h)
            mine, other = (a1, a0) if at_start else (a0, a1)
            if abs(mine) < 1.0e-12:
                if abs(other * known) > limit * (1.0 + 1.0e-9):
                    return 1.0, 0.0, -1.0
                continue
            slope, reach = -other / mine, limit / abs(mine)
            middle = slope * known
            low = max(low, middle - reach)
            if middle + reach < high:
                high, rise = middle + reach, slope
    return low, high, rise


@kernel
def _back(p: int, after: float, pieces: Pieces, acceleration: Array) -> float:
    """Return the greatest x at the start of piece ``p`` from which some x in 0..``after`` at its end can be reached."""
    low, high, rise = _range(p, after, False, pieces, acceleration)
    if low <= high and rise >= 0.0:
        return high
    best, left, right = 0.0, 0.0, after
    if low <= high:
        best = high
    for _ in range(24):
        y = 0.5 * (left + right)
        low, high, rise = _range(p, y, False, pieces, acceleration)
        if low <= high:
            best = max(best, high)
        if low <= high and rise >= 0.0:
            left = y
        else:
            right = y
    return best


@kernel
def pace(pieces: Pieces, velocity: Array, acceleration: Array) -> Array:
    """Return the squared speed x at the ends of all pieces; within straight pieces it rises, holds and falls between.

    Args:
        pieces: The path, p pieces.
        velocity: Joint limits, (n,), rad/s or m/s.
        acceleration: Joint limits, (n,), rad/s^2 or m/s^2.

    Returns:
        x, (p + 1,); it has no unit, as the path's parameter is a time.
    """
    count = len(pieces.length)
    x, top = np.zeros(count + 1), np.empty(count)
    for p in range(count):
        top[p] = _top(p, pieces, velocity, acceleration)
    for p in range(count - 1, 0, -1):
        if pieces.rest[p] == 1:
            continue
        x[p] = min(top[p], top[p - 1], _back(p, x[p + 1], pieces, acceleration))
    for p in range(count):
        _, high, _ = _range(p, x[p], True, pieces, acceleration)
        x[p + 1] = max(0.0, min(x[p + 1], high))
    return x


@kernel
def laws(pieces: Pieces, velocity: Array, acceleration: Array, pause_s: float) -> Laws:
    """Return the motion in time.

    Args:
        pieces: The path.
        velocity: Joint limits, (n,), rad/s or m/s.
        acceleration: Joint limits, (n,), rad/s^2 or m/s^2.
        pause_s: Rest at each stop, s.
    """
    x = pace(pieces, velocity, acceleration)
    count, n = pieces.slope.shape
    start, piece, along = (
        np.empty(4 * count + 1),
        np.empty(4 * count, dtype=np.int64),
        np.empty((4 * count, 3)),
    )
    t, k = 0.0, 0
    for p in range(count):
        if pieces.rest[p] == 1:
            start[k], piece[k], along[k] = t, p, 0.0
            t, k = t + pause_s, k + 1
        knots, speeds, steps = np.empty(4), np.empty(4), 1
        knots[0], speeds[0] = 0.0, x[p]
        knots[1], speeds[1] = pieces.length[p], x[p + 1]
        if pieces.round[p] == 0:
            rate = 1.0e30  # dx / ds
            for j in range(n):
                rate = min(rate, 2.0 * acceleration[j] / max(abs(pieces.slope[p, j]), 1.0e-12))
            top = min(
                _top(p, pieces, velocity, acceleration), 0.5 * (x[p] + x[p + 1] + rate * pieces.length[p])
            )
            up = min(max((top - x[p]) / rate, 0.0), pieces.length[p])
            down = min(max(pieces.length[p] - (top - x[p + 1]) / rate, up), pieces.length[p])
            steps = 3
            knots[1], knots[2], knots[3] = up, down, pieces.length[p]
            speeds[1], speeds[2], speeds[3] = top, top, x[p + 1]
        for i in range(steps):
            long = knots[i + 1] - knots[i]
            if long <= 1.0e-12:
                continue
            v, w = np.sqrt(speeds[i]), np.sqrt(speeds[i + 1])
            start[k], piece[k] = t, p
            along[k, 0], along[k, 1], along[k, 2] = knots[i], v, (speeds[i + 1] - speeds[i]) / (2.0 * long)
            t += 2.0 * long / max(v + w, 1.0e-9)
            k += 1
    start[k] = t
    return Laws(start[: k + 1], piece[:k], along[:k])
