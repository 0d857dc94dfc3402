"""The messages of a fast simulation are thinned by steady time; a short stall costs none."""

from __future__ import annotations

from handiwork_core.control.rate_limiter import RateLimiter


def count(pace: RateLimiter, period_s: float, seconds: float) -> int:
    return sum(pace.due(i * period_s) for i in range(round(seconds / period_s)))


def test_a_fast_source_is_thinned_to_the_rate():
    assert 1245 <= count(RateLimiter(125.0, 25), 0.002, 10.0) <= 1280


def test_a_source_below_the_rate_loses_nothing():
    assert count(RateLimiter(125.0, 25), 0.01, 10.0) == 1000


def test_what_a_hiccup_held_back_passes_at_once_but_no_more_than_the_burst():
    pace = RateLimiter(125.0, 25)
    assert count(pace, 0.01, 1.0) == 100
    late = [pace.due(1.2) for _ in range(60)]
    assert sum(late) in (25, 26)


def test_without_a_burst_the_distance_is_kept():
    pace = RateLimiter(30.0)
    passed = [i * 0.01 for i in range(1000) if pace.due(i * 0.01)]
    assert 290 <= len(passed) <= 301
