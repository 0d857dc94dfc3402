"""The bound on the rate of decisions and on their share of the time."""

from __future__ import annotations

import pytest

from conditionals_node.monitoring.pace import Pace

PERIOD_S = 0.004


def decisions(cost_s: float, rate_hz: float, seconds: float = 10.0) -> int:
    """Return the number of decisions on messages that come at a rate, where the newest waits for the end of one."""
    pace, end_s, count = Pace(PERIOD_S), 0.0, 0
    for i in range(round(seconds * rate_hz)):
        now_s = i / rate_hz
        if now_s >= end_s and pace.is_due(now_s):
            end_s, count = now_s + cost_s, count + 1
            pace.note(now_s, end_s)
    return count


@pytest.mark.parametrize("rate_hz", [10.0, 50.0, 100.0, 1000.0])
@pytest.mark.parametrize("cost_s", [0.01, 0.038, 0.5])
def test_long_decisions_leave_time_for_everything_else(cost_s: float, rate_hz: float) -> None:
    assert 1 <= decisions(cost_s, rate_hz) * cost_s <= 0.65 * 10.0 + cost_s


@pytest.mark.parametrize(("cost_s", "rate_hz"), [(0.001, 100.0), (0.004, 100.0), (0.038, 10.0)])
def test_decisions_that_leave_time_are_made_on_every_message(cost_s: float, rate_hz: float) -> None:
    assert decisions(cost_s, rate_hz) == 10.0 * rate_hz


def test_short_decisions_are_bounded_by_the_period() -> None:
    assert decisions(0.0001, 1000.0) == pytest.approx(10.0 / PERIOD_S, rel=0.01)
