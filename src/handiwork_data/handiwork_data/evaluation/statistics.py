"""Intervals and tests for shares of successes. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.stats import binomtest

LEVEL = 0.95
"""Confidence of all intervals."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share with its interval.

    Attributes:
        count: Number of successes.
        total: Number of trials.
        low: Lower end of the interval.
        high: Its upper end.
    """

    count: int
    total: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """The share, 0 to 1; nan without trials."""
        return self.count / self.total if self.total else math.nan


def wilson(count: int, total: int) -> Share:
    """Return a share of trials with Wilson's interval of 95 %.

    Args:
        count: Number of successes.
        total: Number of trials; 0: nothing is known.
    """
    if not total:
        return Share(0, 0, 0.0, 1.0)
    found = binomtest(count, total).proportion_ci(confidence_level=LEVEL, method="wilson")
    return Share(count, total, float(found.low), float(found.high))


@dataclass(frozen=True, slots=True)
class Paired:
    """How two policies did in the same episodes.

    Attributes:
        both: Episodes in which both succeeded.
        only_a: Episodes in which only the first one succeeded.
        only_b: Episodes in which only the second one succeeded.
        neither: Episodes in which both failed.
    """

    both: int
    only_a: int
    only_b: int
    neither: int

    @property
    def total(self) -> int:
        """Number of episodes."""
        return self.both + self.only_a + self.only_b + self.neither

    def __add__(self, other: Paired) -> Paired:
        return Paired(
            self.both + other.both,
            self.only_a + other.only_a,
            self.only_b + other.only_b,
            self.neither + other.neither,
        )


def mcnemar(paired: Paired) -> float:
    """Return the two-sided p of McNemar's exact test: 1 where no episode tells the two apart.

    Args:
        paired: The episodes.
    """
    decisive = paired.only_a + paired.only_b
    return float(binomtest(paired.only_b, decisive, 0.5).pvalue) if decisive else 1.0


def difference(paired: Paired) -> tuple[float, float, float]:
    """Return the share of the second policy less that of the first, and the ends of its interval of 95 %.

    The interval is Newcombe's for paired shares (1998, method 10): it joins the two Wilson intervals, with the
    correlation of the pairs.

    Args:
        paired: The episodes, one or more.

    Raises:
        ValueError: There is no episode.
    """
    if not paired.total:
        raise ValueError("there is no episode to compare")
    a = wilson(paired.both + paired.only_a, paired.total)
    b = wilson(paired.both + paired.only_b, paired.total)
    phi = _correlation(paired)
    gap = b.value - a.value
    below = _joined(b.value - b.low, a.high - a.value, phi)
    above = _joined(b.high - b.value, a.value - a.low, phi)
    return gap, max(gap - below, -1.0), min(gap + above, 1.0)


def _joined(first: float, second: float, phi: float) -> float:
    return math.sqrt(max(first**2 - 2.0 * phi * first * second + second**2, 0.0))


def _correlation(paired: Paired) -> float:
    """Return the correlation of the pairs, with Newcombe's correction for continuity where it is positive."""
    a, b, c, d = paired.both, paired.only_a, paired.only_b, paired.neither
    product = (a + b) * (c + d) * (a + c) * (b + d)
    if not product:
        return 0.0
    excess = float(a * d - b * c)
    if excess > 0.0:
        excess = max(excess - paired.total / 2.0, 0.0)
    return excess / math.sqrt(product)
