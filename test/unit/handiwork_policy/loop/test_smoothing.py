"""The curve between the references of two steps."""

from __future__ import annotations

import itertools

import numpy as np

from handiwork_core.control.point_stream import PointStream
from handiwork_core.control.trajectory_controller import Reference
from handiwork_core.control.trajectory_goal import JointLimits
from handiwork_core.model.geometry import Array
from handiwork_policy.guard.joint_filter import Motion, StepLimits, braked, moved
from handiwork_policy.loop.smoothing import smoothed

STEP_S, TICK_S, CONTROL_S = 0.04, 0.02, 0.002
RISE = 10.0
"""Acceleration that the guard allows, rad/s^2."""


def steps() -> list[Motion]:
    """References of one joint that gains speed as hard as it may, and then brakes as hard as it may."""
    one = np.ones(1)
    limits = StepLimits(-9.0 * one, 9.0 * one, 2.0 * one, RISE * one, np.full(1, np.inf), STEP_S)
    made = [Motion.at_rest(np.zeros(1))]
    for k in range(1, 6):
        made.append(moved(made[-1], 0.4 * k * one, STEP_S))
    for _ in range(10):
        made.append(braked(made[-1], limits))
    return made


def test_pieces_pass_into_each_other_with_the_acceleration_of_the_guard() -> None:
    refs = [Reference(one.q, one.v) for one in steps()]
    for before, after, later in zip(refs, refs[1:], refs[2:], strict=False):
        end, begin = smoothed(before, after, STEP_S, STEP_S), smoothed(after, later, STEP_S, 0.0)
        np.testing.assert_allclose(end.position, begin.position, atol=1e-12)
        np.testing.assert_allclose(end.velocity, begin.velocity, atol=1e-12)
        middle = smoothed(before, after, STEP_S, 0.5 * STEP_S)
        assert np.abs(end.velocity - middle.velocity).max() <= RISE * 0.5 * STEP_S + 1e-9


def test_an_arm_that_brakes_does_not_overshoot() -> None:
    """Points a whole step ahead, as they were sent before, made the arm overshoot, and the run ended early."""
    motions = steps()
    place, peak = 0.0, 0.0
    limits = JointLimits(("a",), *(np.full(1, one) for one in (-9.0, 9.0, 2.0, RISE)))
    stream, q, rate = PointStream(limits), np.zeros(1), np.zeros(1)
    for before, after in itertools.pairwise(motions):
        for tick in range(round(STEP_S / TICK_S)):
            point = smoothed(
                Reference(before.q, before.v), Reference(after.q, after.v), STEP_S, (tick + 1) * TICK_S
            )
            stream.take(point.position, point.velocity, -TICK_S)
            q, rate, peak = _advance(stream, q, rate, peak)
    place = float(motions[-1].q[0])
    assert peak < place + 1e-3, "the arm went beyond the place where it was to rest"
    assert abs(float(q[0]) - place) < 2e-3 and abs(float(rate[0])) < 0.02


def test_a_stream_into_a_limit_keeps_the_braking_distance() -> None:
    """The safety layer stops a joint that could not brake any more in front of its limit."""
    high = 1.0
    limits = JointLimits(("a",), *(np.full(1, one) for one in (-9.0, high, 2.0, RISE)))
    stream, q, rate, fastest = PointStream(limits), np.zeros(1), np.zeros(1), 0.0
    for tick in range(100):
        stream.take(np.full(1, 1.8 * TICK_S * (tick + 1)), np.full(1, 1.8), -TICK_S)
        for _ in range(round(TICK_S / CONTROL_S)):
            before = float(rate[0])
            q, rate = stream.advance(q, rate, CONTROL_S)
            assert q[0] + 0.5 * rate[0] ** 2 / RISE <= high + 1e-9
            assert abs(rate[0] - before) <= RISE * CONTROL_S + 1e-9
            fastest = max(fastest, float(rate[0]))
    assert fastest > 1.7 and q[0] > high - 1e-3


def _advance(stream: PointStream, q: Array, rate: Array, peak: float) -> tuple[Array, Array, float]:
    for _ in range(round(TICK_S / CONTROL_S)):
        q, rate = stream.advance(q, rate, CONTROL_S)
        peak = max(peak, float(q[0]))
    return q, rate, peak
