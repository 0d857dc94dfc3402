"""Limits of silence grow with the measured delay of the scheduler, up to a ceiling."""

from __future__ import annotations

import pytest

from handiwork_ros.rclpy_support.silence_limits import (
    DELAY_GAIN,
    DELAY_WINDOW_S,
    GIVE_UP_SILENCE_S,
    GREATEST_GROWTH,
    SILENCE_S,
    SchedulingDelay,
    silence_limit_s,
)


def test_without_delay_the_limit_is_its_base() -> None:
    assert silence_limit_s(SILENCE_S, 0.0, 0.0) == SILENCE_S


def test_the_greatest_delay_decides() -> None:
    assert silence_limit_s(SILENCE_S, 0.1, 0.4, 0.2) == pytest.approx(SILENCE_S + DELAY_GAIN * 0.4)


def test_no_delay_lifts_a_limit_beyond_its_ceiling() -> None:
    assert silence_limit_s(SILENCE_S, 1000.0) == GREATEST_GROWTH * SILENCE_S


@pytest.mark.parametrize("delay_s", [float("nan"), float("inf"), -5.0])
def test_a_delay_that_cannot_be_is_left_out(delay_s: float) -> None:
    assert silence_limit_s(SILENCE_S, 0.1, delay_s) == pytest.approx(SILENCE_S + DELAY_GAIN * 0.1)


def test_a_client_waits_longer_than_a_process_that_was_stopped_for_three_seconds() -> None:
    assert GIVE_UP_SILENCE_S > 3.0 + 0.4, "three seconds, and the pause between two messages"


def test_a_punctual_timer_shows_no_delay() -> None:
    delay = SchedulingDelay(0.25, 100.0)
    for step in range(1, 9):
        assert delay.tick(100.0 + 0.25 * step) == pytest.approx(0.0)
    assert delay.greatest_s(102.0) == pytest.approx(0.0)


def test_the_greatest_delay_counts_for_the_window_and_then_the_next_greatest() -> None:
    delay = SchedulingDelay(0.25, 0.0)
    for now_s in (0.25, 1.5, 1.75, 2.3, 2.55):
        delay.tick(now_s)
    assert delay.greatest_s(2.55) == pytest.approx(1.0)
    late_s = 1.5 + DELAY_WINDOW_S + 0.01
    for step in range(1, 40):
        delay.tick(2.55 + 0.25 * step)
    assert delay.greatest_s(late_s) == pytest.approx(0.3)


def test_a_call_that_is_overdue_counts_before_it_comes() -> None:
    delay = SchedulingDelay(0.25, 0.0)
    delay.tick(0.25)
    assert delay.greatest_s(2.5) == pytest.approx(2.0)


def test_calls_that_come_early_are_no_delay() -> None:
    delay = SchedulingDelay(0.25, 0.0)
    assert delay.tick(0.1) == 0.0
    assert delay.greatest_s(0.1) == 0.0
