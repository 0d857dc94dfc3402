"""The wait for a result is limited by the world's time and by the travel time of a message."""

from __future__ import annotations

import pytest

from handiwork_ros.ports.sim_time_deadline import LEAST_S, MESSAGE_S, Patience


@pytest.mark.parametrize("speed", [0.1, 1.0, 10.0])
def test_both_times_must_be_over(speed: float) -> None:
    steady = [0.0]
    patience = Patience(5.0, lambda: speed * steady[0], lambda: steady[0])
    while not patience.is_over:
        steady[0] += 0.01
    assert steady[0] == pytest.approx(max(5.0 / speed + MESSAGE_S, LEAST_S), abs=0.03)
