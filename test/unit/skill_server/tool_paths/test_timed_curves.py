"""A blended curve in time, on a machine with three rails: limits hold, velocity is continuous, and nothing stops."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from handiwork_core.model.geometry import Array, Pose
from handiwork_planning.postprocessing import line_deviation
from handiwork_planning.timing.jerk_filter import Samples
from handiwork_planning.timing.parameterization import Limits, parameterise
from skill_server.tool_paths.blends import rounded
from skill_server.tool_paths.sampling import sampled
from skill_server.tool_paths.segments import Line, PathRefused

coordinates = st.floats(-0.4, 0.4).map(lambda v: round(v, 3))
corners = st.lists(st.tuples(coordinates, coordinates, coordinates), min_size=2, max_size=4)
DEVIATION_M = 2e-3
rates = st.tuples(st.floats(0.3, 2.0), st.floats(1.0, 15.0), st.floats(100.0, 5000.0))


def between(t: Array, q: Array, qd: Array) -> tuple[Array, Array, Array]:
    """Return places, velocities and accelerations, (n, 3) each, of the cubics through samples."""
    h = np.diff(t)[:, None]
    found: list[list[Array]] = [[], [], []]
    for u in np.linspace(0.0, 1.0, 6):
        step = np.diff(q, axis=0)
        place = (
            q[:-1] * (2 * u**3 - 3 * u**2 + 1)
            + q[1:] * (3 * u**2 - 2 * u**3)
            + h * (qd[:-1] * (u**3 - 2 * u**2 + u) + qd[1:] * (u**3 - u**2))
        )
        rate = 6 * (u - u**2) * step / h + qd[:-1] * (3 * u**2 - 4 * u + 1) + qd[1:] * (3 * u**2 - 2 * u)
        change = (6 - 12 * u) * step / h**2 + (qd[:-1] * (6 * u - 4) + qd[1:] * (6 * u - 2)) / h
        for values, more in zip(found, (place, rate, change), strict=True):
            values.append(more)
    places, velocities, accelerations = (np.concatenate(values) for values in found)
    return places, velocities, accelerations


def paced(path: Array, limits: Limits) -> Samples:
    """Time a path as the planner does: slower until the rounding in time stays within ``DEVIATION_M``."""
    pace = 1.0
    while line_deviation((samples := parameterise(path, limits, pace)).q, path) > DEVIATION_M:
        pace *= 0.6
    return samples


@settings(max_examples=60, deadline=None)
@given(corners, st.floats(0.01, 0.08), rates)
@example([(0.0, 0.25, 0.125), (0.25, 0.25, 0.0)], 0.03125, (2.0, 13.0, 100.0))
def test_a_curve_in_time_keeps_its_radius_its_limits_and_never_rests_on_the_way(
    points: list[tuple[float, float, float]], radius: float, rates: tuple[float, float, float]
) -> None:
    way = np.array([(0.0, 0.0, 0.0), *points])
    assume((np.linalg.norm(np.diff(way, axis=0), axis=1) > 0.03).all())
    lines = [Line(Pose.of(a), Pose.of(b)) for a, b in pairwise(way)]
    try:
        curve = sampled(rounded(lines, [radius] * (len(lines) - 1), [""] * (len(lines) - 1)))
    except PathRefused:
        assume(False)
    path = np.array([way[0], *(pose.translation_m for pose in curve)])
    speed, acceleration, jerk = (np.full(3, rate) for rate in rates)
    samples = paced(path, Limits(speed, acceleration, jerk))
    places, velocities, accelerations = between(samples.t, samples.q, samples.rate)
    assert line_deviation(places, way) <= radius + DEVIATION_M
    assert np.abs(velocities).max() <= 1.001 * rates[0]
    assert np.abs(accelerations).max() <= 1.001 * rates[1]
    # Velocity is a continuous function of time: its samples are those of cubics that share them at both sides.
    assert (np.abs(np.diff(samples.rate, axis=0)) <= 1.001 * rates[1] * np.diff(samples.t)[:, None]).all()
    assert np.abs(samples.rate[[0, -1]]).max() == 0.0
    far = np.minimum(*(np.linalg.norm(samples.q - end, axis=1) for end in (way[0], way[-1]))) > 0.02
    assert np.linalg.norm(samples.rate[far], axis=1).min(initial=1.0) > 0.005
