"""Counts in three values: whether ``low`` to ``high`` of several parts hold, and by which margin.

``and``, ``or``, ``choose`` and ``at_least`` of expressions, and ``all``, ``any`` and ``choose`` of predicates, are such
counts. The margin is that of the part whose change would turn the verdict: with the parts in falling order of margin,
the ``low``-th must be above zero and the next after the ``high``-th must not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from handiwork_core.contracts.predicate import Truth
from handiwork_core.model.geometry import Array

TINY = math.ulp(0.0)
"""The margin of a value exactly on a boundary that belongs to the inside."""


class Logical(Enum):
    """How the verdicts on several objects combine; ``choose`` means exactly ``K``."""

    ALL = "all"
    ANY = "any"
    CHOOSE = "choose"

    def bounds(self, count: int, k: int) -> tuple[int, int]:
        """Return the smallest and the largest number of objects that must hold.

        Args:
            count: Number of objects.
            k: Number of objects for ``choose``.
        """
        return {Logical.ALL: (count, count), Logical.ANY: (1, count), Logical.CHOOSE: (k, k)}[self]


def truth_of(margin: float) -> Truth:
    """Return the value that a margin stands for.

    Args:
        margin: TRUE above 0, UNKNOWN for nan, else FALSE.
    """
    return Truth.UNKNOWN if math.isnan(margin) else Truth.of(margin > 0.0)


def counted_margin(margins: Sequence[float], low: int, high: int) -> float:
    """Return the margin of the verdict that ``low`` to ``high`` parts hold.

    Args:
        margins: Margins of the parts: more than 0 where one holds, nan where that is unknown.
        low: Smallest number of parts that hold.
        high: Largest number of parts that hold.

    Returns:
        More than 0 where the count holds, 0 or less where it does not, nan where the unknown parts decide.
    """
    known = sorted((m for m in margins if not math.isnan(m)), reverse=True)
    unknown, held = len(margins) - len(known), sum(m > 0.0 for m in known)
    if held > high:
        return -known[high]
    if held + unknown < low:
        return known[
            low - unknown - 1
        ]  # the low-th best would have to hold too; unknown ones count as the best
    if held < low or held + unknown > high:
        return math.nan
    inner = known[low - 1] if low > 0 else math.inf
    outer = -known[high - unknown] if high - unknown < len(known) else math.inf
    return max(min(inner, outer), TINY)


def counted_margins(margins: Array, low: int, high: int) -> Array:
    """Return ``counted_margin`` for many worlds.

    Args:
        margins: One row for each part, (parts, n); nan where unknown.
        low: Smallest number of parts that hold.
        high: Largest number of parts that hold.

    Returns:
        The margins, (n,).
    """
    missing = np.isnan(margins)
    if low == high == len(margins):  # all: the smallest decides
        least = np.fmin.reduce(margins)
        return np.where(least <= 0.0, least, np.where(missing.any(axis=0), np.nan, least))
    if (low, high) == (1, len(margins)):  # any: the greatest decides
        most = np.fmax.reduce(margins)
        return np.where(most > 0.0, most, np.where(missing.any(axis=0), np.nan, most))
    unknown, held, count = missing.sum(axis=0), (margins > 0.0).sum(axis=0), len(margins)
    ranked = -np.sort(-np.where(missing, -np.inf, margins), axis=0)

    def at(rank: NDArray[np.int64]) -> Array:
        found: Array = np.take_along_axis(ranked, np.clip(rank, 0, count - 1)[None], axis=0)[0]
        return found

    inner = ranked[low - 1] if low > 0 else np.full(margins.shape[1], np.inf)
    outer = np.where(high < count, -at(high - unknown), np.inf)
    result = np.maximum(np.minimum(inner, outer), TINY)
    result = np.where((held < low) | (held + unknown > high), np.nan, result)
    result = np.where(held + unknown < low, at(low - unknown - 1), result)
    return np.where(held > high, -ranked[min(high, count - 1)], result)
