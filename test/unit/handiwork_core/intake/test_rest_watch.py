"""An arm at rest, and one that swings, as observers see them that miss samples."""

from __future__ import annotations

import math

import numpy as np
import pytest

from handiwork_core.intake.rest_watch import GAP_S, SPARSE_REST_S, RestWatch
from handiwork_core.model.thresholds import JOINT_REST, REST_TIME_S

SWING_RAD_S = 30.0


def first_rest(stamps: list[float], speeds: list[float]) -> float:
    """Return the stamp at which the arm counts as at rest first; inf if it never does."""
    watch = RestWatch(REST_TIME_S)
    for stamp, speed in zip(stamps, speeds, strict=True):
        if watch.observe(stamp, is_slow=abs(speed) < JOINT_REST):
            return stamp
    return math.inf


def test_an_arm_is_at_rest_once_it_was_slow_for_the_time() -> None:
    stamps = [0.01 * i for i in range(30)]
    speeds = [0.1] * 10 + [0.0] * 20
    assert first_rest(stamps, speeds) == pytest.approx(0.1 + REST_TIME_S, abs=0.011)


@pytest.mark.parametrize("every", [1, 2, 5])
def test_an_arm_that_swings_is_not_at_rest(every: int) -> None:
    stamps = [0.01 * i for i in range(0, 300, every)]
    speeds = [2.0 * JOINT_REST * math.cos(SWING_RAD_S * stamp) for stamp in stamps]
    assert first_rest(stamps, speeds) == math.inf


def test_an_observer_that_sees_the_ends_of_a_swing_alone_does_not_take_them_for_rest() -> None:
    half = math.pi / SWING_RAD_S
    assert half > GAP_S
    stamps = [half * (i + 0.5) for i in range(4)]
    assert first_rest(stamps, [0.0] * 4) == math.inf


def test_at_a_busy_machine_a_swing_is_hardly_ever_taken_for_rest() -> None:
    rng, wrong = np.random.default_rng(0), 0
    for _ in range(300):
        stamps = np.cumsum(rng.uniform(0.01, 0.2, 40)).tolist()
        speeds = [4.0 * JOINT_REST * math.cos(SWING_RAD_S * stamp) for stamp in stamps]
        wrong += math.isfinite(first_rest(stamps, speeds))
    assert wrong < 10, "with the time alone it is 142 of 300"


def test_a_slow_sensor_shows_rest_as_well() -> None:
    stamps = [0.2 * i for i in range(10)]
    assert first_rest(stamps, [0.0] * 10) == pytest.approx(SPARSE_REST_S, abs=0.2)


def test_one_sample_is_no_rest() -> None:
    watch = RestWatch(REST_TIME_S)
    assert not watch.observe(5.0, is_slow=True)
    assert not watch.observe(5.0, is_slow=True)
