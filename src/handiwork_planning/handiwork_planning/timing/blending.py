"""A path with rounded corners: straight pieces and parabolas, with a continuous direction where it does not stop.

The parameter s of the path is the time [s] it takes at the velocity limits: along a straight piece the joints move
by ``slope`` per second, which is the velocity of that piece's slowest joint and less for the others. Around a corner
``slope`` changes evenly, by ``bend`` per second.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.kernels.arrays import Ints
from handiwork_planning.kernels.jit import kernel

SLIGHT_S = 1.0e-6
"""A corner that needs no more than this to turn at full speed counts as none, s."""


class Pieces(NamedTuple):
    """p pieces in order; piece i is place + slope u + bend u^2 / 2 for u in 0..length [s]."""

    place: Array
    """(p, n) where it starts [rad]."""
    slope: Array
    """(p, n) at its start [rad/s]."""
    bend: Array
    """(p, n) [rad/s^2], zero on straight pieces."""
    length: Array
    """(p,) [s]."""
    rest: Ints
    """(p,) 1: the motion stops before this piece."""
    round: Ints
    """(p,) 1: it is part of a rounded corner, 0: it is straight."""
    corner: Ints
    """(p,) the way point that it rounds, or the one before a straight piece."""


@kernel
def _slopes(points: Array, velocity: Array) -> tuple[Array, Array]:
    """Return slope (k - 1, n) and length (k - 1,) [s] of the straight lines between ``points`` (k, n)."""
    slope, length = np.empty((len(points) - 1, points.shape[1])), np.empty(len(points) - 1)
    for k in range(len(slope)):
        longest = 1.0e-12
        for j in range(slope.shape[1]):
            longest = max(longest, abs(points[k + 1, j] - points[k, j]) / velocity[j])
        length[k] = longest
        for j in range(slope.shape[1]):
            slope[k, j] = (points[k + 1, j] - points[k, j]) / longest
    return slope, length


@kernel
def _widths(slope: Array, length: Array, share: Array, acceleration: Array) -> tuple[Array, Array]:
    """Return the distance [s] from each way point at which rounding begins (k,), and the one for full speed (k,).

    ``share`` (k,) scales the distance for full speed; two corners share the line between them.
    """
    k, n = len(share), slope.shape[1]
    full, width = np.zeros(k), np.zeros(k)
    for i in range(1, k - 1):
        for j in range(n):
            full[i] = max(full[i], abs(slope[i, j] - slope[i - 1, j]) / (2.0 * acceleration[j]))
    for i in range(1, k - 1):
        here = share[i] * full[i]
        for line, other in ((i - 1, i - 1), (i, i + 1)):
            room = max(0.5 * length[line], length[line] - share[other] * full[other])
            here = min(here, room)
        width[i] = here
    return width, full


@kernel
def _outwards(points: Array, slope: Array, width: Array, shift: Array, lower: Array, upper: Array) -> Array:
    """Return ``points`` (k, n), moved away from the inner side of their corners, but not beyond the limits (n,)."""
    moved = points.copy()
    for i in range(1, len(points) - 1):
        if shift[i] == 0.0:
            continue
        for j in range(points.shape[1]):
            away = 0.25 * shift[i] * width[i] * (slope[i, j] - slope[i - 1, j])
            moved[i, j] = min(max(points[i, j] - away, lower[j]), upper[j])
    return moved


@kernel
def _arc(pieces: Pieces, p: int, parts: int, half: float, middle: Array, before: Array, after: Array) -> None:
    """Write ``parts`` pieces from row ``p`` that turn the slope from ``before`` (n,) to ``after`` (n,).

    They begin and end ``half`` [s] from ``middle`` (n,), where the straight lines would meet.
    """
    for m in range(parts):
        u = 2.0 * half * m / parts
        for j in range(len(middle)):
            turn = (after[j] - before[j]) / (2.0 * half)
            pieces.place[p + m, j] = middle[j] + (u - half) * before[j] + 0.5 * turn * u * u
            pieces.slope[p + m, j], pieces.bend[p + m, j] = before[j] + turn * u, turn
        pieces.length[p + m], pieces.round[p + m] = 2.0 * half / parts, 1


@kernel
def rounded(
    points: Array,
    share: Array,
    shift: Array,
    velocity: Array,
    acceleration: Array,
    lower: Array,
    upper: Array,
    parts: int,
) -> Pieces:
    """Return the pieces of the path through way points, with corners rounded by parabolas.

    Args:
        points: Way points, (k, n), rad or m.
        share: 0 makes a way point a stop, 1 rounds it so that it can be passed at full speed, (k,).
        shift: 0 leaves a corner on the inner side; 1 moves it outwards so far that the curve passes about through the
            way point, (k,).
        velocity: Joint limits, (n,), rad/s or m/s.
        acceleration: Joint limits, (n,), rad/s^2 or m/s^2.
        lower: Joint limits, (n,), rad or m; no corner is moved beyond.
        upper: Joint limits, (n,), rad or m; no corner is moved beyond.
        parts: Number of pieces of each rounded corner.
    """
    k, n = points.shape
    slope, length = _slopes(points, velocity)
    width, full = _widths(slope, length, share, acceleration)
    points = _outwards(points, slope, width, shift, lower, upper)
    slope, length = _slopes(points, velocity)
    width, full = _widths(slope, length, share, acceleration)
    room = (k - 1) + (k - 2) * parts
    values, marks = np.zeros((3, room, n)), np.zeros((3, room), dtype=np.int64)
    all_ = Pieces(values[0], values[1], values[2], np.empty(room), marks[0], marks[1], marks[2])
    p, stop = 0, 0
    for i in range(k - 1):
        long = length[i] - width[i] - width[i + 1]
        if long > 1.0e-9 or k == 2:
            for j in range(n):
                all_.place[p, j], all_.slope[p, j] = points[i, j] + width[i] * slope[i, j], slope[i, j]
            all_.length[p], all_.rest[p], all_.corner[p] = long, stop, i
            p, stop = p + 1, 0
        half = width[i + 1]
        if half >= SLIGHT_S:
            _arc(all_, p, parts, half, points[i + 1], slope[i], slope[i + 1])
            all_.rest[p] = stop
            for m in range(p, p + parts):
                all_.corner[m] = i + 1
            p, stop = p + parts, 0
        elif full[i + 1] > SLIGHT_S:
            stop = 1
    a = all_
    return Pieces(a.place[:p], a.slope[:p], a.bend[:p], a.length[:p], a.rest[:p], a.round[:p], a.corner[:p])
