"""The wait for a result is limited by the world's time and by the travel time of a message."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_ros.ports.sim_time_deadline import LEAST_S, MESSAGE_S, SLOWEST, Patience, StretchedPatience


@pytest.mark.parametrize("speed", [0.1, 1.0, 10.0])
def test_both_times_must_be_over(speed: float) -> None:
    steady = [0.0]
    patience = Patience(5.0, lambda: speed * steady[0], lambda: steady[0])
    while not patience.is_over:
        steady[0] += 0.01
    assert steady[0] == pytest.approx(max(5.0 / speed + MESSAGE_S, LEAST_S), abs=0.03)


class Slider:
    """An arm on a path of 10 s whose speed a slider scales."""

    def __init__(self, scaling: float, *, reports: bool = True) -> None:
        self.scaling, self.reports = scaling, reports
        self.time_s, self.path_s = 0.0, 0.0
        self.patience = StretchedPatience(10.0, 5.0, lambda: self.time_s, lambda: self.time_s)

    def step(self, seconds: float) -> bool:
        self.time_s += seconds
        self.path_s = min(10.0, self.path_s + seconds * self.scaling)
        q = np.array([0.1 * self.path_s, 0.0])
        return self.patience.is_over(q, self.scaling if self.reports else None)


@pytest.mark.parametrize("reports", [True, False])
@pytest.mark.parametrize("scaling", [0.02, 0.3, 1.0])
def test_a_motion_is_waited_for_as_long_as_the_slider_stretches_it(scaling: float, reports: bool) -> None:
    arm = Slider(scaling, reports=reports)
    while arm.path_s < 10.0:
        assert not arm.step(0.1), f"given up at {arm.path_s:.1f} s of the path, {arm.time_s:.1f} s"
    end_s = arm.time_s
    while not arm.step(0.1):
        assert arm.time_s < end_s + 20.0, "an arm that stands still at the end is waited for without end"


def test_time_at_a_speed_scaling_of_0_does_not_count() -> None:
    arm = Slider(1.0)
    assert not arm.step(2.0)
    arm.scaling = 0.0
    for _ in range(100):
        assert not arm.step(60.0)
    arm.scaling = 1.0
    while arm.path_s < 10.0:
        assert not arm.step(0.1)


def test_an_arm_that_never_comes_to_rest_is_not_waited_for_without_end() -> None:
    now_s = [0.0]
    patience = StretchedPatience(10.0, 5.0, lambda: now_s[0], lambda: now_s[0])
    while not patience.is_over(np.array([now_s[0] % 1.0]), 1.0):
        now_s[0] += 0.1
    assert now_s[0] == pytest.approx(10.0 / SLOWEST + 5.0, rel=0.01)
