"""How long a new value must last before it counts. Pure; the monitor and a batch share the rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from handiwork_core.model.geometry import Array

from .truths import UNKNOWN, Mask, Truths


def counts(shown: Any, found: Any, lasted_s: Any, hold_s: float) -> Any:  # noqa: ANN401 - a number or (n,), bool
    """Return whether the value that was found is shown from now on.

    Args:
        shown: The value that is shown; where it is UNKNOWN by a doubt about noise, the value before.
        found: The value that was found.
        lasted_s: Time since which it is found, s.
        hold_s: Time that it must last, s; a change to or from UNKNOWN counts at once.

    Returns:
        A bool, or (n,) for arrays.
    """
    return (found == shown) | (found == UNKNOWN) | (shown == UNKNOWN) | (lasted_s >= hold_s)


class Holds:
    """The values that one condition shows in n worlds.

    Args:
        hold_s: Time that a new value must last before it counts, s.
        n: Number of worlds.
    """

    def __init__(self, hold_s: float, n: int) -> None:
        self._hold_s = hold_s
        self.truth: Truths = np.full(n, UNKNOWN, dtype=np.int8)
        """The values that are shown, (n,)."""
        self.margin: Array = np.full(n, np.nan)
        """Their margins on the last snapshot that had these values, (n,)."""
        self._found: Truths = self.truth.copy()
        self._found_since_s: Array = np.full(n, np.nan)

    def reset(self, rows: Mask) -> None:
        """Begin again in some worlds.

        Args:
            rows: The worlds, (n,).
        """
        # New arrays: those of the step before may be kept by a caller.
        self.truth = np.where(rows, np.int8(UNKNOWN), self.truth)
        self.margin = np.where(rows, np.nan, self.margin)
        self._found = np.where(rows, np.int8(UNKNOWN), self._found)

    def update(self, now_s: Array, truth: Truths, margin: Array) -> None:
        """Take the values of one instant.

        Args:
            now_s: The time, not less than before, (n,), s.
            truth: The values that were found, (n,).
            margin: Their margins, (n,).
        """
        if self._hold_s <= 0.0:
            self.truth, self.margin = truth, margin
            return
        self._found_since_s = np.where(truth == self._found, self._found_since_s, now_s)
        self._found = truth
        now = counts(self.truth, truth, now_s - self._found_since_s, self._hold_s)
        self.truth = np.where(now, truth, self.truth)
        self.margin = np.where(now, margin, self.margin)
