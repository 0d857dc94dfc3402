"""The life of verdicts: first true, held for how long, confirmed at rest. Pure.

A row is a verdict: one of many conditions on one world, or that of one task in one of many worlds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from handiwork_core.model.geometry import Array

from .truths import FALSE, TRUE, Mask, Truths

REST_MPS = 0.02
"""Speed below which an object is at rest, m/s."""
REST_S = 0.2
"""Time for which a verdict holds with its objects at rest until it is confirmed, s."""
ROUND_OFF_S = 1e-9
LASTING = ("first_true_s", "since_s", "longest_s", "confirmed_s", "peak_s", "_calm_since_s")


class Life(NamedTuple):
    """The life of one verdict since its start. Times are nan where it never happened, s.

    Attributes:
        first_true_s: The first time at which it was TRUE.
        since_s: Begin of the present TRUE; nan while it is not TRUE.
        longest_s: The longest unbroken TRUE.
        confirmed_s: Time since which it is confirmed; nan while it is not.
        peak_s: The first time at which it was confirmed.
    """

    first_true_s: float = np.nan
    since_s: float = np.nan
    longest_s: float = 0.0
    confirmed_s: float = np.nan
    peak_s: float = np.nan

    @property
    def at_peak(self) -> bool:
        """True when it was confirmed at some time."""
        return not np.isnan(self.peak_s)

    @property
    def at_end(self) -> bool:
        """True when it is confirmed now."""
        return not np.isnan(self.confirmed_s)


NOT_YET = Life()


class Lives:
    """The lives of n verdicts.

    Args:
        n: Number of verdicts.
        confirm_s: Time for which a verdict holds, and is calm, until it is confirmed, s.
    """

    def __init__(self, n: int, confirm_s: float = REST_S) -> None:
        self._confirm_s = confirm_s
        never: Array = np.full(n, np.nan)
        self.first_true_s, self.since_s = never, never.copy()
        self.confirmed_s, self.peak_s, self._calm_since_s = never.copy(), never.copy(), never.copy()
        self.longest_s: Array = np.zeros(n)

    @property
    def at_peak(self) -> Mask:
        """The verdicts that were confirmed at some time, (n,)."""
        return np.asarray(~np.isnan(self.peak_s))

    @property
    def at_end(self) -> Mask:
        """The verdicts that are confirmed now, (n,)."""
        return np.asarray(~np.isnan(self.confirmed_s))

    def of(self, row: int) -> Life:
        """Return the life of one verdict.

        Args:
            row: Its index.
        """
        columns = (self.first_true_s, self.since_s, self.longest_s, self.confirmed_s, self.peak_s)
        return Life(*(float(column[row]) for column in columns))

    def moved_to(self, rows: Sequence[int]) -> Lives:
        """Return lives in another order.

        Args:
            rows: Present index of each verdict of the result; -1 for one that begins.
        """
        found, at = Lives(len(rows), self._confirm_s), np.array(rows, dtype=np.int64)
        old = at >= 0
        for key in LASTING:
            getattr(found, key)[old] = getattr(self, key)[at[old]]
        return found

    def reset(self, rows: Mask) -> None:
        """Begin the lives of some verdicts again.

        Args:
            rows: The verdicts, (n,).
        """
        for key in LASTING:
            never = 0.0 if key == "longest_s" else np.nan
            # A new array: that of the step before may be kept by a caller.
            setattr(self, key, np.where(rows, never, getattr(self, key)))

    def update(self, now_s: Array, truth: Truths, calm: Mask) -> None:
        """Take the values of one instant.

        UNKNOWN does not end a TRUE, but it is not confirmed meanwhile.

        Args:
            now_s: The time, not less than before, (n,), s.
            truth: The values, (n,).
            calm: True where nothing else stands against a confirmation, such as an object that moves, (n,).
        """
        holds = truth == TRUE
        begins = holds & np.isnan(self.since_s)
        self.since_s = np.where(begins, now_s, np.where(truth == FALSE, np.nan, self.since_s))
        self.first_true_s = np.where(begins & np.isnan(self.first_true_s), now_s, self.first_true_s)
        self.longest_s = np.where(holds, np.maximum(self.longest_s, now_s - self.since_s), self.longest_s)
        sure = holds & calm
        self._calm_since_s = np.where(
            sure, np.where(np.isnan(self._calm_since_s), now_s, self._calm_since_s), np.nan
        )
        confirmed = sure & (now_s - self._calm_since_s >= self._confirm_s - ROUND_OFF_S)
        self.confirmed_s = np.where(
            confirmed, np.where(np.isnan(self.confirmed_s), now_s, self.confirmed_s), np.nan
        )
        self.peak_s = np.where(confirmed & np.isnan(self.peak_s), now_s, self.peak_s)
