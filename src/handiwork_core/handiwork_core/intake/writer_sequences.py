"""Finds out from the sequence numbers of messages whether two writers publish on a topic at the same time.

Each writer counts its messages, and a reader gets them in order. Numbers of one writer therefore rise; those of two
writers fall back again and again. A writer that was restarted falls back once, and only once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

HOLD_S = 3.0
"""Two writers count as present for this long after their messages last alternated, s."""
CALM_MESSAGES = 10
"""And until so many messages of one writer have come since: a busy reader gets few, by chance all of one writer."""
LONGEST_HOLD_S = 15.0
"""But no longer than this, as some topics are rarely sent, s."""
MOST_WRITERS = 8
UNSUPPORTED = 2**63
"""Greater numbers mean that the middleware does not count."""


@dataclass(slots=True)
class _Writer:
    number: int
    seen_s: float


class WriterSequences:
    """The writers of one topic, distinguished by their counts. Times are steady, in s."""

    def __init__(self) -> None:
        self._writers: list[_Writer] = []
        self._current: _Writer | None = None
        self._took_turns_s = -math.inf
        self._calm = CALM_MESSAGES
        """The messages since then."""

    def take(self, number: int, now_s: float) -> None:
        """Record the sequence number of a message; a zero or invalid number is ignored.

        Args:
            number: The count of the message's writer.
            now_s: Steady time, s.
        """
        if not 0 < number < UNSUPPORTED:
            return
        self._calm += 1
        current = self._current
        if current is not None and len(self._writers) == 1 and number > current.number:
            current.number, current.seen_s = number, now_s
            return
        self._writers = [one for one in self._writers if now_s - one.seen_s < HOLD_S][-MOST_WRITERS:]
        lower = [one for one in self._writers if one.number < number]
        found = max(lower, key=lambda one: (one.number, one is current), default=None)
        if found is None:
            found = _Writer(number, now_s)
            self._writers.append(found)
        elif found is not current:
            self._took_turns_s, self._calm = now_s, 0
        found.number, found.seen_s = number, now_s
        self._current = found

    def are_several(self, now_s: float) -> bool:
        """Check whether messages of two writers alternated lately: within ``HOLD_S``, or before few messages.

        Args:
            now_s: Steady time, s.
        """
        age_s = now_s - self._took_turns_s
        return age_s < (HOLD_S if self._calm >= CALM_MESSAGES else LONGEST_HOLD_S)
