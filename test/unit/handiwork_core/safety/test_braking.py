"""Controlled stops stay within the decelerations, on a straight line, and within the limits."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.safety.braking import ControlledStop, stop_time

STEP_S = 0.002
FAR = np.full(3, 100.0)


@pytest.mark.parametrize("seed", range(20))
def test_a_stop_keeps_to_the_decelerations_and_to_the_direction(seed: int) -> None:
    rng = np.random.default_rng(seed)
    position, rate = rng.uniform(-1.0, 1.0, 3), rng.uniform(-3.0, 3.0, 3)
    deceleration = rng.uniform(2.0, 15.0, 3)
    stop, time_s = ControlledStop(position, rate, deceleration, -FAR, FAR), stop_time(rate, deceleration)
    before, periods = rate, 0
    while not stop.is_over:
        stop.advance(STEP_S)
        assert (np.abs(stop.rate - before) <= deceleration * STEP_S * (1.0 + 1e-9)).all()
        assert np.allclose(np.cross(stop.position - position, rate), 0.0, atol=1e-9)
        before, periods = stop.rate, periods + 1
    assert periods * STEP_S == pytest.approx(time_s, abs=STEP_S)
    assert np.allclose(stop.position, position + 0.5 * time_s * rate, atol=1e-9)
    assert not stop.rate.any()


def test_a_joint_stops_at_its_limit_though_the_others_need_longer() -> None:
    rate, deceleration = np.array([2.0, 1.0, 0.0]), np.array([2.0, 10.0, 1.0])
    upper = np.array([100.0, 0.06, 0.0])
    stop = ControlledStop(np.zeros(3), rate, deceleration, -FAR, upper)
    while not stop.is_over:
        before = stop.rate
        stop.advance(STEP_S)
        assert (np.abs(stop.rate - before) <= deceleration * STEP_S * (1.0 + 1e-9)).all()
    assert np.allclose(stop.position, [1.0, 0.06, 0.0])


def test_an_arm_at_rest_has_nothing_to_brake() -> None:
    stop = ControlledStop(np.ones(3), np.zeros(3), np.ones(3), -FAR, FAR)
    assert stop.is_over
    stop.advance(STEP_S)
    assert np.array_equal(stop.position, np.ones(3)) and not stop.rate.any()
