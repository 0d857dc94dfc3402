"""Timing against its limits between samples, an independent optimiser, and closed forms."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import linprog

from handiwork_core.model.geometry import Array
from handiwork_core.model.trajectory import Trajectory
from handiwork_planning.timing.blending import Pieces, rounded
from handiwork_planning.timing.parameterization import (
    SMOOTH_S,
    STEP_S,
    Corners,
    Limits,
    motion,
    parameterise,
    sample,
)
from handiwork_planning.timing.reachability import pace

NAMES = tuple(f"j{i}" for i in range(7))


def any_limits(rng: np.random.Generator, gentle: bool = False) -> Limits:
    jerk = rng.uniform(20.0, 200.0, 7) if gentle else rng.uniform(100.0, 5000.0, 7)
    return Limits(rng.uniform(0.5, 3.0, 7), rng.uniform(2.0, 15.0, 7), jerk)


def any_points(rng: np.random.Generator) -> Array:
    steps = rng.normal(size=(int(rng.integers(2, 12)), 7)) * rng.choice([0.01, 0.3, 1.0])
    return np.cumsum(steps * (rng.random(steps.shape) < 0.7) + 1e-4, axis=0)


def any_corners(rng: np.random.Generator, count: int) -> Corners:
    wide = np.full(7, 1e3)
    share = rng.choice([0.0, 0.03, 0.3, 1.0, 50.0], count)
    return Corners(share, rng.choice([0.0, 0.5, 1.0], count), int(rng.integers(1, 10)), -wide, wide)


def stops(count: int) -> Corners:
    wide = np.full(7, 1e3)
    return Corners(np.zeros(count), np.zeros(count), 8, -wide, wide)


def between(t: Trajectory, fine: int = 21) -> tuple[Array, Array]:
    """Return velocities and accelerations (m, fine, n) of the cubics between samples."""
    u = np.linspace(0.0, 1.0, fine)[None, :, None]
    h = np.diff(t.t_s)[:, None, None]
    q0, q1, v0, v1 = (x[:, None] for x in (t.q[:-1], t.q[1:], t.qd[:-1] * h[:, 0], t.qd[1:] * h[:, 0]))
    first = (6 * u**2 - 6 * u) * (q0 - q1) + (3 * u**2 - 4 * u + 1) * v0 + (3 * u**2 - 2 * u) * v1
    second = (12 * u - 6) * (q0 - q1) + (6 * u - 4) * v0 + (6 * u - 2) * v1
    return first / h, second / h**2


def to_polyline(q: Array, points: Array) -> Array:
    """Return the distance (m,) [rad] of each row of ``q`` from the straight motions through ``points``."""
    nearest = np.full(len(q), np.inf)
    for a, b in pairwise(points):
        share = np.clip((q - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        nearest = np.minimum(nearest, np.linalg.norm(q - a - share[:, None] * (b - a), axis=1))
    return nearest


@pytest.mark.parametrize("seed", range(40))
def test_no_limit_is_exceeded_between_samples_either_and_both_ends_rest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    limits, points = any_limits(rng, gentle=seed % 3 == 0), any_points(rng)
    corners = [None, any_corners(rng, len(points))][seed % 2]
    t = sample(parameterise(points, limits, float(rng.choice([1.0, 0.5])), corners), NAMES)
    velocity, acceleration = between(t)
    assert (np.abs(velocity) <= limits.velocity * (1.0 + 1e-6)).all()
    assert (np.abs(acceleration) <= limits.acceleration * (1.0 + 1e-6)).all()
    assert (np.abs(t.qdd) <= limits.acceleration * (1.0 + 1e-6)).all()
    jerk = np.diff(t.qdd, axis=0) / np.diff(t.t_s)[:, None]
    assert (np.abs(jerk) <= limits.jerk * (1.0 + 1e-6)).all()
    np.testing.assert_array_equal(t.q[[0, -1]], points[[0, -1]])
    assert not t.qd[[0, -1]].any() and not t.qdd[[0, -1]].any()


@pytest.mark.parametrize("seed", range(10))
def test_velocity_and_acceleration_are_the_derivatives_of_position(seed: int) -> None:
    rng = np.random.default_rng(seed)
    limits, points = any_limits(rng), any_points(rng)
    c = any_corners(rng, len(points))
    parts = (limits.velocity, limits.acceleration, limits.jerk)
    s = motion(points, (c.share, c.shift, c.lower, c.upper), parts, c.parts, 2e-4, SMOOTH_S)
    h = s.t[1] - s.t[0]
    mean_rate, mean_change = np.diff(s.q, axis=0) / h, np.diff(s.rate, axis=0) / h
    assert np.abs(mean_rate - 0.5 * (s.rate[1:] + s.rate[:-1])).max() < h * limits.acceleration.max()
    assert np.abs(mean_change - 0.5 * (s.change[1:] + s.change[:-1])).max() < h * limits.jerk.max()


@pytest.mark.parametrize("seed", range(10))
def test_a_path_with_stops_is_kept_exactly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = any_points(rng)
    s = parameterise(points, any_limits(rng), corners=stops(len(points)))
    assert to_polyline(s.q, points).max() < 1e-9
    for point in points:
        assert np.abs(s.q - point).max(axis=1).min() < 1e-3


def test_a_corner_moved_outwards_is_passed_near_its_way_point_and_never_beyond_the_limits() -> None:
    points = np.zeros((3, 7))
    points[1, 0], points[2, :2] = 1.0, (1.0, 1.0)
    limits = Limits(np.full(7, 2.0), np.full(7, 10.0), np.full(7, 5000.0))
    one, wide = np.ones(3), np.full(7, 9.0)
    inside = parameterise(points, limits, corners=Corners(one, np.zeros(3), 8, -wide, wide))
    through = parameterise(points, limits, corners=Corners(one, one, 8, -wide, wide))
    tight = parameterise(points, limits, corners=Corners(one, one, 8, -wide, np.ones(7)))
    far, near = (np.linalg.norm(s.q - points[1], axis=1).min() for s in (inside, through))
    assert near < 0.2 * far
    assert through.q[:, 0].max() > 1.01
    assert tight.q.max() <= 1.0 + 1e-12


@pytest.mark.parametrize("jerk", [5000.0, 100.0])
def test_a_single_long_move_takes_the_time_of_the_closed_form(jerk: float) -> None:
    limits = Limits(np.full(7, 2.0), np.full(7, 8.0), np.full(7, jerk))
    points = np.zeros((2, 7))
    points[1, 3] = 3.0
    s = parameterise(points, limits)
    window = max(SMOOTH_S, 2.0 * 8.0 / jerk)
    ideal = 3.0 / 2.0 + 2.0 / 8.0 + window
    assert ideal <= s.t[-1] < ideal + 0.025
    assert np.diff(s.t).max() <= STEP_S * 1.001


def test_a_short_move_with_little_jerk_takes_a_shorter_window() -> None:
    limits = Limits(np.full(7, 2.0), np.full(7, 8.0), np.full(7, 50.0))
    points = np.zeros((2, 7))
    points[1, 3] = 0.01
    with_whole_window = 2.0 * np.sqrt(0.01 / 8.0) + 2.0 * 8.0 / 50.0
    assert parameterise(points, limits).t[-1] < 0.9 * with_whole_window


def test_a_path_that_goes_nowhere_is_a_rest() -> None:
    limits = Limits(np.ones(7), np.ones(7), np.full(7, 100.0))
    s = parameterise(np.full((2, 7), 0.3), limits)
    assert len(s.t) >= 2 and s.t[-1] > 0.0
    assert np.abs(s.q - 0.3).max() < 1e-9 and np.abs(s.rate).max() < 1e-6


def best_by_linear_program(pieces: Pieces, velocity: Array, acceleration: Array) -> Array:
    """Return squared speeds (p + 1,) with the greatest sum; a profile above all others is that one."""
    count = len(pieces.length)
    rows, most = [], []
    top = np.full(count + 1, np.inf)
    for p in range(count):
        after = pieces.slope[p] + pieces.bend[p] * pieces.length[p]
        fastest = (np.maximum(np.abs(pieces.slope[p]), np.abs(after)) / velocity).max() ** -2
        bent = (np.abs(pieces.bend[p]) / acceleration).max()
        fastest = min(fastest, 1.0 / max(bent, 1e-12))
        top[p], top[p + 1] = min(top[p], fastest), min(top[p + 1], fastest)
        if pieces.rest[p]:
            top[p] = 0.0
        for at, slope in ((p, pieces.slope[p]), (p + 1, after)):
            row = np.zeros((len(velocity), count + 1))
            row[:, at] += pieces.bend[p]
            row[:, p + 1] += slope / (2.0 * pieces.length[p])
            row[:, p] -= slope / (2.0 * pieces.length[p])
            rows += [row / acceleration[:, None], -row / acceleration[:, None]]
            most += [np.ones(2 * len(velocity))]
    top[[0, -1]] = 0.0
    found = linprog(
        -np.ones(count + 1), np.concatenate(rows), np.concatenate(most), bounds=[(0.0, x) for x in top]
    )
    assert found.success
    return np.asarray(found.x)


def time_of(pieces: Pieces, x: Array) -> float:
    """Return the duration [s] when the squared speed is linear on each piece."""
    v = np.sqrt(np.maximum(x, 0.0))
    return float((2.0 * pieces.length / np.maximum(v[:-1] + v[1:], 1e-9)).sum())


@pytest.mark.parametrize("seed", range(25))
def test_the_pace_is_not_slower_than_that_of_a_linear_program(seed: int) -> None:
    rng = np.random.default_rng(seed)
    limits, points = any_limits(rng), np.cumsum(rng.normal(size=(5, 7)), axis=0)
    c = any_corners(rng, 5)
    pieces = rounded(points, c.share, c.shift, limits.velocity, limits.acceleration, c.lower, c.upper, 8)
    x = pace(pieces, limits.velocity, limits.acceleration)
    best = best_by_linear_program(pieces, limits.velocity, limits.acceleration)
    assert time_of(pieces, x) < 1.02 * time_of(pieces, best)


@pytest.mark.parametrize("seed", [269, 418, 711, 1137, 1251, 2481, *range(20)])
def test_passing_a_way_point_is_never_much_slower_than_stopping(seed: int) -> None:
    """The first six would be near rest in the middle of the bend after the greatest speed at its start."""
    rng = np.random.default_rng(seed)
    limits = any_limits(rng, gentle=seed % 2 == 0)
    points = np.cumsum(rng.normal(size=(3, 7)) * 10.0 ** rng.uniform(-5.0, 0.5, (3, 1)), axis=0)
    assert parameterise(points, limits).t[-1] < 3.0 * parameterise(points, limits, corners=stops(3)).t[-1]


def test_the_same_input_gives_the_same_motion() -> None:
    rng = np.random.default_rng(3)
    points, limits = any_points(rng), any_limits(rng)
    one, two = parameterise(points, limits), parameterise(points, limits)
    np.testing.assert_array_equal(one.q, two.q)


def test_a_motion_of_hours_has_a_bounded_number_of_samples_and_keeps_its_limits() -> None:
    limits = Limits(np.full(7, 1e-4), np.full(7, 10.0), np.full(7, 5000.0))
    points = np.zeros((3, 7))
    points[1, 0], points[2, :2] = 1.0, (1.0, 1.0)
    t = sample(parameterise(points, limits), NAMES)
    assert len(t.t_s) <= 20_000 and t.duration_s > 1e4
    velocity, acceleration = between(t, 5)
    assert (np.abs(velocity) <= limits.velocity * (1.0 + 1e-6)).all()
    assert (np.abs(acceleration) <= limits.acceleration).all()


@pytest.mark.parametrize("apart", [0.0, 1e-17, 1e-12])
def test_a_way_that_goes_nowhere_is_a_rest_of_the_arm(apart: float) -> None:
    limits = Limits(np.full(6, 2.0), np.full(6, 12.0), np.full(6, 500.0))
    start = np.array([-1.57, -1.57, -1.57, -1.57, 1.57, 0.0])
    samples = parameterise(np.array([start, start + apart]), limits)
    assert (np.diff(samples.t) > 0.0).all() and np.allclose(samples.q, start, atol=1e-9)
    assert not samples.rate.any() and not samples.change.any()
