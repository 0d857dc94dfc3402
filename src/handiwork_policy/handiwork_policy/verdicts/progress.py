"""Follows the conditions of a run over time. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .judged import Judged
from .result import SubtaskResult


class Progress:
    """The life of ``until`` and of the subtasks since the run began.

    Args:
        subtasks: Texts of the subtasks.
    """

    def __init__(self, subtasks: Sequence[str]) -> None:
        self._texts = tuple(subtasks)
        self._first = [math.nan] * (len(self._texts) + 1)
        self._confirmed_s = math.nan
        self._newest: tuple[Judged, ...] = ()
        self.peak = self.final = 0.0

    def update(self, judged: Sequence[Judged], time_s: float) -> None:
        """Take a look of the monitor into account.

        Args:
            judged: State of ``until``, then of each subtask.
            time_s: Time since the beginning, s.
        """
        self._newest = tuple(judged)
        for i, one in enumerate(judged):
            if one.is_true and math.isnan(self._first[i]):
                self._first[i] = time_s
        if judged[0].is_confirmed and math.isnan(self._confirmed_s):
            self._confirmed_s = time_s
        whole = judged[0].is_confirmed
        share = [one.is_true for one in judged[1:]] or [judged[0].is_true]
        self.final = 1.0 if whole else sum(share) / (len(share) + 1)
        self.peak = max(self.peak, self.final)

    @property
    def is_confirmed(self) -> bool:
        """True while ``until`` is confirmed."""
        return bool(self._newest) and self._newest[0].is_confirmed

    @property
    def verdict(self) -> str:
        """The monitor's newest sentence on ``until``."""
        return self._newest[0].reason if self._newest else "not decided yet"

    @property
    def first_true_s(self) -> float | None:
        """Time at which ``until`` first was TRUE, s; None: never."""
        return _or_none(self._first[0])

    @property
    def confirmed_s(self) -> float | None:
        """Time at which ``until`` was first confirmed, s; None: never."""
        return _or_none(self._confirmed_s)

    def subtasks(self) -> tuple[SubtaskResult, ...]:
        """Return the subtasks."""
        now = self._newest[1:] or (Judged(False, False, ""),) * len(self._texts)
        return tuple(
            SubtaskResult(text, _or_none(first), one.is_true)
            for text, first, one in zip(self._texts, self._first[1:], now, strict=True)
        )


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
