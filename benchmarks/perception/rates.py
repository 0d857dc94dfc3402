"""Rates of success with their intervals."""

from __future__ import annotations

from scipy.stats import binomtest


def rate(good: int, of: int) -> str:
    """Return a rate with Wilson's interval of 95 % confidence.

    Args:
        good: Number of successes.
        of: Number of trials.
    """
    if of == 0:
        return "0 of 0"
    low, high = binomtest(good, of).proportion_ci(method="wilson")
    return f"{good} of {of} ({100 * good / of:.1f} %; {100 * low:.1f} to {100 * high:.1f} %)"
