"""The velocity of a target: at rest, even, or still changing."""

from __future__ import annotations

import numpy as np
import pytest

from skill_server.following.steady_motion import (
    MOVES_MPS,
    NOISY_WINDOW_S,
    WINDOW_S,
    even_velocity,
    fitted_velocity,
)

STEP_S = 0.02


def samples(x: np.ndarray) -> list[tuple[float, np.ndarray]]:
    return [(STEP_S * i, np.array([value, 0.0, 0.0])) for i, value in enumerate(x)]


T = STEP_S * np.arange(int(WINDOW_S / STEP_S) + 2)


def test_an_even_motion_has_its_velocity_despite_noise() -> None:
    rng = np.random.default_rng(0)
    found = even_velocity(samples(0.08 * T + rng.uniform(-2e-4, 2e-4, len(T))))
    assert found is not None
    assert found == pytest.approx([0.08, 0.0, 0.0], abs=0.005)


def test_what_trembles_is_at_rest() -> None:
    found = even_velocity(samples(1e-4 * np.sin(40.0 * T)))
    assert found is not None and not found.any()
    assert MOVES_MPS > 0.0


@pytest.mark.parametrize("x", [0.5 * (T[-1] - T) ** 2 * 9.0, np.where(T[-1] / 2.0 > T, 0.0, 0.05)])
def test_a_nudge_is_not_even(x: np.ndarray) -> None:
    assert even_velocity(samples(x)) is None


def test_too_short_a_time_says_nothing() -> None:
    assert even_velocity(samples(0.08 * T[:4])) is None
    assert even_velocity([]) is None


LONG_S = STEP_S * np.arange(int(NOISY_WINDOW_S / STEP_S) + 2)
NOISE_M = 0.002


@pytest.mark.parametrize("speed", [0.0, 0.05])
def test_a_noisy_position_has_its_velocity_or_none(speed: float) -> None:
    noise = np.random.default_rng(1).normal(0.0, NOISE_M, len(LONG_S))
    found = fitted_velocity(samples(speed * LONG_S + noise), NOISE_M)
    assert found is not None
    assert found == pytest.approx([speed, 0.0, 0.0], abs=0.01)
    assert found.any() == (speed > 0.0)


def test_a_jump_beyond_the_noise_is_not_even() -> None:
    x = np.where(LONG_S[-1] / 2.0 > LONG_S, 0.0, 0.05)
    assert fitted_velocity(samples(x), NOISE_M) is None
    assert fitted_velocity(samples(x[:4]), NOISE_M) is None
