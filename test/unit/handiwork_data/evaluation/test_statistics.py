"""Intervals and tests against their definitions."""

from __future__ import annotations

import math
from itertools import product

import pytest
from scipy.stats import multinomial, norm

from handiwork_data.evaluation.statistics import Paired, difference, mcnemar, wilson

Z = norm.ppf(0.975)


@pytest.mark.parametrize(("count", "total"), [(0, 1), (0, 20), (7, 10), (81, 263), (50, 50)])
def test_wilsons_interval_is_where_the_score_test_just_does_not_refuse(count: int, total: int) -> None:
    share = wilson(count, total)
    assert share.low <= share.value <= share.high
    for end in (share.low, share.high):
        score = (share.value - end) / math.sqrt(max(end * (1.0 - end), 1e-300) / total)
        assert end in (0.0, 1.0) or abs(score) == pytest.approx(Z, rel=1e-6)


def test_without_trials_nothing_is_known() -> None:
    share = wilson(0, 0)
    assert math.isnan(share.value) and (share.low, share.high) == (0.0, 1.0)


@pytest.mark.parametrize(("only_a", "only_b"), [(0, 0), (1, 0), (0, 6), (3, 12), (9, 9)])
def test_mcnemars_test_sums_the_coins_that_are_as_uneven(only_a: int, only_b: int) -> None:
    n, k = only_a + only_b, min(only_a, only_b)
    tail = sum(math.comb(n, i) for i in range(k + 1)) / 2.0**n
    wanted = min(1.0, 2.0 * tail)
    assert mcnemar(Paired(5, only_a, only_b, 7)) == pytest.approx(wanted)


@pytest.mark.parametrize(
    "counts", [(36, 2, 12, 0), (20, 2, 12, 16), (0, 0, 0, 5), (5, 0, 0, 0), (0, 9, 0, 0)]
)
def test_the_difference_turns_round_with_the_policies(counts: tuple[int, int, int, int]) -> None:
    both, only_a, only_b, neither = counts
    gap, low, high = difference(Paired(*counts))
    turned = difference(Paired(both, only_b, only_a, neither))
    assert gap == pytest.approx((only_b - only_a) / sum(counts))
    assert -1.0 <= low <= gap <= high <= 1.0
    assert turned == pytest.approx((-gap, -high, -low))


@pytest.mark.parametrize("chances", [(0.4, 0.1, 0.3, 0.2), (0.25, 0.25, 0.25, 0.25), (0.7, 0.05, 0.15, 0.1)])
def test_the_interval_of_the_difference_covers_the_truth_about_as_often_as_it_says(
    chances: tuple[float, ...],
) -> None:
    n, truth, covered = 16, chances[2] - chances[1], 0.0
    for both, only_a, only_b in product(range(n + 1), repeat=3):
        neither = n - both - only_a - only_b
        if neither >= 0:
            _gap, low, high = difference(Paired(both, only_a, only_b, neither))
            chance = float(multinomial.pmf((both, only_a, only_b, neither), n, chances))
            covered += chance * (low <= truth <= high)
    assert 0.93 < covered < 0.995, "it is wide with few episodes and rare differences"


@pytest.mark.parametrize(
    ("counts", "low", "high"), [((36, 2, 12, 0), 0.0569, 0.3404), ((20, 2, 12, 16), 0.0562, 0.3292)]
)
def test_the_interval_of_the_difference_is_the_published_one(
    counts: tuple[int, int, int, int], low: float, high: float
) -> None:
    """Newcombe (1998), examples of method 10."""
    assert difference(Paired(*counts))[1:] == pytest.approx((low, high), abs=1e-4)


def test_no_episode_has_no_difference() -> None:
    with pytest.raises(ValueError, match="no episode to compare"):
        difference(Paired(0, 0, 0, 0))
