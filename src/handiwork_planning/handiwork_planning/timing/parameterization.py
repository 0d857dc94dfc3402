"""The samples of a short, smooth motion along way points.

Corners are rounded (blending), the speed along that path is the greatest possible (reachability), and a moving average
over time bounds jerk (jerk_filter): the fastest motion with bounded acceleration, later by one window.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.trajectory import Trajectory
from handiwork_planning.kernels.jit import kernel

from .blending import rounded
from .jerk_filter import (
    Samples,
    excess,
    filtered,
    slow_down,
)
from .reachability import laws

STEP_S = 0.01
SAME_RAD = 1e-9
"""Largest move of any joint on a way that goes nowhere, rad or m."""
CLOSE, CLOSE_PARTS = 1.0e6, 2
"""Share that rounds dense way points from middle to middle of the lines between them, and pieces of each curve."""
SMOOTH_S = 0.04
"""Shortest window: gentler than the joints could do, for drives that have to follow."""
BETWEEN = 8.0 / 27.0
"""Largest ratio by which the acceleration of cubics between samples may exceed that of the motion, in steps per window.

A linear rise that ends two thirds into a step is the worst: the best line through it overshoots by 4/27 of the rise in
one step.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """Scaled joint limits.

    Attributes:
        velocity: (n,), rad/s or m/s.
        acceleration: (n,), rad/s^2 or m/s^2.
        jerk: (n,), rad/s^3 or m/s^3.
    """

    velocity: Array
    acceleration: Array
    jerk: Array


@dataclass(frozen=True, slots=True, eq=False)
class Corners:
    """The form of each of k corners.

    Attributes:
        share: See ``blending.rounded``, (k,).
        shift: See ``blending.rounded``, (k,).
        parts: Number of pieces of each rounded corner.
        lower: No corner is moved beyond these, (n,), rad or m.
        upper: No corner is moved beyond these, (n,), rad or m.
    """

    share: Array
    shift: Array
    parts: int
    lower: Array
    upper: Array


@kernel
def _strength(window_s: float, step_s: float, acceleration: Array, jerk: Array) -> Array:
    """Return the acceleration (n,) that keeps both limits after averaging over ``window_s``, and between samples."""
    out = np.empty(len(acceleration))
    for j in range(len(out)):
        out[j] = min(acceleration[j], 0.5 * jerk[j] * window_s) / (1.0 + BETWEEN * step_s / window_s)
    return out


@kernel
def motion(
    points: Array,
    corners: tuple[Array, Array, Array, Array],
    limits: tuple[Array, Array, Array],
    parts: int,
    step_s: float,
    shortest_s: float,
) -> Samples:
    """Return samples of the fastest motion that this module can compute.

    The longest useful window leaves acceleration as it is. On short ways shorter ones, for less acceleration, can be
    faster.

    Args:
        points: Way points, (k, n), rad or m, no two neighbours equal.
        corners: ``share`` (k,), ``shift`` (k,), ``lower`` (n,) and ``upper`` (n,), see ``Corners``.
        limits: Velocity, acceleration and jerk, (n,) each, see ``Limits``.
        parts: Number of pieces of each rounded corner.
        step_s: Time between samples, about, s.
        shortest_s: Shortest window, s.
    """
    share, shift, lower, upper = corners
    velocity, acceleration, jerk = limits
    longest = shortest_s
    for j in range(len(jerk)):
        longest = max(longest, 2.0 * acceleration[j] / jerk[j])
    window, best, best_s = longest, longest, 1.0e30
    while window >= shortest_s and window > 0.2 * longest:
        strength = _strength(window, step_s, acceleration, jerk)
        pieces = rounded(points, share, shift, velocity, strength, lower, upper, parts)
        law = laws(pieces, velocity, strength, window)
        duration = law.start[len(law.piece)] + window
        if duration < best_s:
            best, best_s = window, duration
            chosen, on = pieces, law
        window = 0.6 * window
    samples = filtered(chosen, on, points, best, step_s)
    slow_down(samples, excess(samples, velocity, acceleration, jerk))
    return samples


def parameterise(points: Array, limits: Limits, pace: float = 1.0, corners: Corners | None = None) -> Samples:
    """Return a motion from rest to rest along ``points`` that is within ``limits`` at all times.

    Args:
        points: Way points, (k, n), rad or m, no two neighbours equal.
        limits: Limits of velocity, acceleration and jerk.
        pace: Slows the motion down, above 0 and at most 1; averaging then takes less off curves.
        corners: The form of the corners; a way point with share 0 is a stop, and keeps its corner exactly. Without it
            the motion keeps close to a path whose way points are dense.
    """
    k, n = points.shape
    if k == 2 and np.abs(points[1] - points[0]).max() < SAME_RAD:
        return _rest(points)
    if corners is None:
        corners = Corners(
            np.full(k, CLOSE), np.zeros(k), CLOSE_PARTS, np.full(n, -np.inf), np.full(n, np.inf)
        )
    return motion(
        points,
        (corners.share, corners.shift, corners.lower, corners.upper),
        (pace * limits.velocity, pace**2 * limits.acceleration, limits.jerk),
        corners.parts,
        STEP_S,
        SMOOTH_S,
    )


def _rest(points: Array) -> Samples:
    """Return samples of an arm that stays, as a way without a length has no time: the limits divide by it."""
    t = np.array([0.0, STEP_S, 2.0 * STEP_S])
    q = np.repeat(points[:1], 3, axis=0)
    return Samples(t, q, np.zeros_like(q), np.zeros_like(q), np.ones((3, 2), dtype=np.int64))


def sample(samples: Samples, joint_names: tuple[str, ...]) -> Trajectory:
    """Return the samples as a trajectory.

    Args:
        samples: The motion.
        joint_names: Joint names, (n,).
    """
    return Trajectory(joint_names, samples.t, samples.q, samples.rate, samples.change)
