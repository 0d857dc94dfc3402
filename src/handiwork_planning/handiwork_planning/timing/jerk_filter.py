"""Samples of a motion along pieces after a moving average over time, in closed form.

The average bounds jerk: acceleration changes by at most twice its limit within the window. It delays the motion by half
the window, keeps straight pieces straight, velocities and accelerations within their limits, and rests at both ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.kernels.arrays import Ints
from handiwork_planning.kernels.jit import kernel

from .blending import Pieces
from .reachability import Laws

MOST_SAMPLES = 20_000
"""Motions that would need more samples at the usual step are sampled more sparsely."""


class Samples(NamedTuple):
    """m samples of a motion."""

    t: Array
    """(m,) [s]."""
    q: Array
    """(m, n) positions."""
    rate: Array
    """(m, n) velocities."""
    change: Array
    """(m, n) accelerations."""
    near: Ints
    """(m, 2) place of the unfiltered motion at the begin and at the end of the window.

    It is 2 i while way point i is rounded, and 2 i + 1 on the straight piece after it. All between act on the sample.
    """


@kernel
def _position(pieces: Pieces, laws: Laws, i: int, t: float, q: Array, rate: Array, total: Array) -> None:
    """Compute position and velocity (n,) at ``t`` [s] after the start of stretch ``i``, and the position's integral."""
    p, u, v, a = laws.piece[i], laws.along[i, 0], laws.along[i, 1], laws.along[i, 2]
    # With w(t) = u + v t + a t^2 / 2 the place on the piece: its first and second powers, integrated.
    w = u + v * t + 0.5 * a * t * t
    speed = v + a * t
    one = u * t + v * t * t / 2.0 + a * t * t * t / 6.0
    two = t * (u * u + t * (u * v + t * ((v * v + u * a) / 3.0 + t * (v * a / 4.0 + t * a * a / 20.0))))
    for j in range(len(q)):
        place, slope, bend = pieces.place[p, j], pieces.slope[p, j], pieces.bend[p, j]
        q[j] = place + slope * w + 0.5 * bend * w * w
        rate[j] = (slope + bend * w) * speed
        total[j] = place * t + slope * one + 0.5 * bend * two


@kernel
def _state(
    pieces: Pieces, laws: Laws, sums: Array, ends: Array, i: int, t: float, out: Array, work: Array
) -> int:
    """Write position, velocity and integral of position at ``t``, relative to the start: ``out`` (3, n)."""
    last = len(laws.piece)
    n = out.shape[1]
    if t <= 0.0:
        for j in range(n):
            out[0, j] = out[1, j] = out[2, j] = 0.0
        return i
    if t >= laws.start[last]:
        for j in range(n):
            move = ends[1, j] - ends[0, j]
            out[0, j], out[1, j] = move, 0.0
            out[2, j] = sums[last, j] + move * (t - laws.start[last])
        return i
    while laws.start[i + 1] < t:
        i += 1
    h = t - laws.start[i]
    _position(pieces, laws, i, h, out[0], out[1], work)
    for j in range(n):
        out[0, j] -= ends[0, j]
        out[2, j] = sums[i, j] + work[j] - ends[0, j] * h
    return i


@kernel
def filtered(pieces: Pieces, laws: Laws, points: Array, window_s: float, step_s: float) -> Samples:
    """Return the motion averaged over a window of time.

    The first and last sample are exactly the first and last of the way points, at rest.

    Args:
        pieces: The path.
        laws: The motion along it.
        points: Way points, (k, n), rad or m.
        window_s: Length of the window, s.
        step_s: Time between samples, about, s.
    """
    stretches, n, ends = len(laws.piece), points.shape[1], np.empty((2, points.shape[1]))
    for j in range(n):
        ends[0, j], ends[1, j] = points[0, j], points[len(points) - 1, j]
    sums, work = np.zeros((stretches + 1, n)), np.empty((3, n))
    for i in range(stretches):
        h = laws.start[i + 1] - laws.start[i]
        _position(pieces, laws, i, h, work[0], work[1], work[2])
        for j in range(n):
            sums[i + 1, j] = sums[i, j] + work[2, j] - ends[0, j] * h
    duration = laws.start[stretches] + window_s
    count = min(max(2, int(np.ceil(duration / step_s)) + 1), MOST_SAMPLES)
    t, late, early = np.empty(count), 0, 0
    near = np.zeros((count, 2), dtype=np.int64)
    q, rate, change = np.zeros((count, n)), np.zeros((count, n)), np.zeros((count, n))
    now, before = np.empty((3, n)), np.empty((3, n))
    for m in range(count):
        t[m] = duration * m / (count - 1)
        late = _state(pieces, laws, sums, ends, late, t[m], now, work[0])
        early = _state(pieces, laws, sums, ends, early, t[m] - window_s, before, work[0])
        for side in range(2):
            p = laws.piece[early if side == 0 else late]
            near[m, side] = 2 * pieces.corner[p] + 1 - pieces.round[p]
        for j in range(n):
            q[m, j] = ends[0, j] + (now[2, j] - before[2, j]) / window_s
            rate[m, j] = (now[0, j] - before[0, j]) / window_s
            change[m, j] = (now[1, j] - before[1, j]) / window_s
    for j in range(n):
        q[0, j], q[count - 1, j] = ends[0, j], ends[1, j]
        rate[0, j] = rate[count - 1, j] = change[0, j] = change[count - 1, j] = 0.0
    return Samples(t, q, rate, change, near)


@kernel
def excess(samples: Samples, velocity: Array, acceleration: Array, jerk: Array) -> float:
    """Return the factor by which the motion must be slowed down to keep the limits between samples as well; 1 if not.

    Between samples the joints move on cubics through positions and velocities (Hermite): acceleration is linear there,
    velocity is greatest at an end or where acceleration is zero.

    Args:
        samples: The motion.
        velocity: Joint limits, (n,), rad/s or m/s.
        acceleration: Joint limits, (n,), rad/s^2 or m/s^2.
        jerk: Joint limits, (n,), rad/s^3 or m/s^3.
    """
    worst = 1.0
    t, q, rate, change = samples.t, samples.q, samples.rate, samples.change
    for m in range(len(t) - 1):
        h = t[m + 1] - t[m]
        for j in range(q.shape[1]):
            v, w, step = rate[m, j], rate[m + 1, j], (q[m + 1, j] - q[m, j]) / h
            a, b = (6.0 * step - 4.0 * v - 2.0 * w) / h, (2.0 * v + 4.0 * w - 6.0 * step) / h
            fast = max(abs(v), abs(w))
            if a * b < 0.0:
                fast = max(fast, abs(v + 0.5 * a * a / (a - b) * h))
            worst = max(worst, fast / velocity[j])
            hard = max(max(abs(a), abs(b)), max(abs(change[m, j]), abs(change[m + 1, j])))
            worst = max(worst, np.sqrt(hard / acceleration[j]))
            worst = max(worst, np.cbrt(abs(change[m + 1, j] - change[m, j]) / (h * jerk[j])))
    return worst


@kernel
def slow_down(samples: Samples, factor: float) -> None:
    """Stretch time, in place.

    Args:
        samples: The motion; changed.
        factor: Factor of time, 1 or more.
    """
    for m in range(len(samples.t)):
        samples.t[m] *= factor
        for j in range(samples.rate.shape[1]):
            samples.rate[m, j] /= factor
            samples.change[m, j] /= factor * factor
