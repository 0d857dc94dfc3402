"""Covariances of poses: what is refused with which words, and what they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handiwork_core.scene.covariance import deviation_of, factor_of, read_covariance


def diagonal(*variances: float) -> list[float]:
    return np.diag(variances).ravel().tolist()


@pytest.mark.parametrize("numbers", [[], [0.0] * 36])
def test_nothing_and_zeros_mean_an_exact_pose(numbers: list[float]) -> None:
    assert read_covariance(numbers) is None


@pytest.mark.parametrize("count", [1, 35, 37])
def test_another_count_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match=f"has {count} numbers; send 36"):
        read_covariance([0.0] * count)


def test_a_negative_variance_along_another_direction_is_refused() -> None:
    numbers = np.diag([1e-4] * 6)
    numbers[0, 1] = numbers[1, 0] = 2e-4
    with pytest.raises(ValueError, match="negative variance in some direction"):
        read_covariance(numbers)


def test_a_direction_that_is_exact_is_allowed() -> None:
    found = read_covariance(diagonal(1e-4, 4e-4, 0.0, 0.0, 0.0, 0.01))
    assert found is not None
    assert deviation_of(found) == pytest.approx((0.02, 0.1))


@given(st.integers(0, 10_000), st.floats(1e-6, 1e3))
def test_a_factor_makes_the_covariance_again(seed: int, size: float) -> None:
    half = np.random.default_rng(seed).normal(size=(6, 6)) * ([size] * 3 + [1.0] * 3)
    found = read_covariance(half.T @ half)
    assert found is not None
    factor = factor_of(found)
    scale = np.sqrt(found.diagonal())
    np.testing.assert_allclose(
        (factor @ factor.T) / np.outer(scale, scale), found / np.outer(scale, scale), atol=1e-6
    )
