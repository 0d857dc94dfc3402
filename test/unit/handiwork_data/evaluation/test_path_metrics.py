"""Length, speed and smoothness of paths."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_data.evaluation.path_metrics import path_metrics, sparc

RATE_HZ = 50.0


def reach(count: int) -> np.ndarray:
    """Return the speeds of a reach with the least jerk, in 1 s."""
    t = np.linspace(0.0, 1.0, count)
    return 30.0 * t**2 - 60.0 * t**3 + 30.0 * t**4


def test_a_straight_line_has_its_length_and_its_speed() -> None:
    line = np.linspace([0.0, 0.0, 0.0], [0.3, 0.4, 0.0], 51)
    found = path_metrics(line, RATE_HZ)
    assert found["ee_path_length"] == pytest.approx(0.5)
    assert found["ee_speed_max"] == pytest.approx(0.5) and found["ee_speed_mean"] == pytest.approx(0.5)


def test_one_smooth_reach_has_the_known_smoothness_at_any_rate_and_speed() -> None:
    assert sparc(reach(200), 200.0) == pytest.approx(-1.41, abs=0.02)
    assert sparc(3.0 * reach(100), 100.0) == pytest.approx(sparc(reach(200), 200.0), abs=0.02)


def test_two_reaches_and_shaking_are_less_smooth_than_one_reach() -> None:
    one = reach(50)
    shaken = one * (1.0 + 0.5 * np.sin(np.arange(50)))
    assert sparc(np.concatenate([one, one]), RATE_HZ) < sparc(one, RATE_HZ) - 0.1
    assert sparc(shaken, RATE_HZ) < sparc(one, RATE_HZ) - 0.1


@pytest.mark.parametrize("count", [0, 1, 2, 40])
def test_an_arm_that_stays_has_zeros(count: int) -> None:
    assert set(path_metrics(np.zeros((count, 3)), RATE_HZ).values()) == {0.0}
