"""Joints are at rest when they were slow for a time, or cannot become fast in this time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from handiwork_core.model.thresholds import JOINT_REST, REST_TIME_S
from handiwork_core.supervision.stillness import SLOPE_S, Stillness

STEP_S = 0.002


def rest_s(speed: Callable[[float], float], lasts_s: float = 2.0) -> float:
    """Return the time at which a joint of this speed counts as at rest; infinite if it never does."""
    stillness = Stillness(JOINT_REST)
    for t_s in np.arange(0.0, lasts_s, STEP_S):
        if stillness.update(float(t_s), np.array([0.0, speed(float(t_s))])):
            return float(t_s)
    return float("inf")


def test_a_joint_that_stands_is_at_rest_as_soon_as_its_deceleration_is_known() -> None:
    assert rest_s(lambda _t: 0.0) == pytest.approx(SLOPE_S, abs=STEP_S)


def test_a_joint_that_slows_down_is_at_rest_before_it_was_slow_for_the_whole_time() -> None:
    slow_s = 0.02 * np.log(0.5 / JOINT_REST)
    found_s = rest_s(lambda t: 0.5 * float(np.exp(-t / 0.02)))
    assert slow_s < found_s < slow_s + 0.8 * REST_TIME_S


def test_a_joint_that_creeps_at_the_limit_is_at_rest_after_the_time() -> None:
    assert rest_s(lambda t: 0.9 * JOINT_REST * (-1.0) ** (t // 0.008)) == pytest.approx(
        REST_TIME_S, abs=STEP_S
    )


@pytest.mark.parametrize("frequency_hz", [3.0, 6.0, 8.0, 20.0])
def test_the_ends_of_a_swing_are_no_rest(frequency_hz: float) -> None:
    def swing(t_s: float) -> float:
        return float(4.0 * JOINT_REST * np.sin(2.0 * np.pi * frequency_hz * t_s + 1.0))

    assert rest_s(swing) == float("inf")


def test_a_joint_that_begins_to_move_is_not_at_rest() -> None:
    assert rest_s(lambda t: 1.0 * t + 1e-3, 0.2) == float("inf")


def test_unknown_velocities_are_no_rest() -> None:
    assert rest_s(lambda _t: float("nan")) == float("inf")


def test_without_prediction_the_time_must_pass() -> None:
    stillness = Stillness(JOINT_REST, is_predicted=False)
    found = [stillness.update(0.01 * i, np.zeros(2)) for i in range(7)]
    assert found == [0.01 * i >= REST_TIME_S for i in range(7)]


def test_time_that_goes_back_begins_again() -> None:
    stillness = Stillness(JOINT_REST)
    creep = np.full(1, 0.9 * JOINT_REST)
    assert not stillness.update(100.0, creep)
    assert not stillness.update(1.0, -creep)
    assert not stillness.update(1.01, creep)
    assert stillness.update(1.0 + REST_TIME_S, -creep)
