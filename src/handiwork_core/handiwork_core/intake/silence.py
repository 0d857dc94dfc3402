"""The silence of a thread, without the delays that a busy machine causes to it and to its observer. No ROS."""

from __future__ import annotations

import time
from collections.abc import Callable

LONGEST_LOOK_S = 1.0
"""Largest time between two calls of ``look`` that counts, s: more shows that the observer itself did not run."""


class Silence:
    """Counts the silence of one thread of a process. ``beat`` may be called from another thread than ``look``.

    Args:
        waited_s: Returns the total time for which the thread has waited for a processor, s.
        steady_s: Returns steady time, s.
    """

    def __init__(self, waited_s: Callable[[], float], steady_s: Callable[[], float] = time.monotonic) -> None:
        self._waited_s, self._steady_s = waited_s, steady_s
        self._beats, self._seen_beats = 0, 0
        self._silence_s = 0.0
        self._last_s, self._last_waited_s = steady_s(), waited_s()

    def beat(self) -> None:
        """Record a sign of life."""
        self._beats += 1

    def look(self) -> float:
        """Return the silence up to now, s. Call it several times a second."""
        now_s, waited_s = self._steady_s(), self._waited_s()
        passed_s = min(now_s - self._last_s, LONGEST_LOOK_S)
        held_up_s = max(0.0, waited_s - self._last_waited_s)
        self._last_s, self._last_waited_s = now_s, waited_s
        if self._beats != self._seen_beats:
            self._seen_beats, self._silence_s = self._beats, 0.0
        else:
            self._silence_s += max(0.0, passed_s - held_up_s)
        return self._silence_s


def processor_wait_s(pid: int) -> float:
    """Return the time for which the main thread of a process has been ready to run without a processor.

    Source: the second field of ``/proc/PID/schedstat``, in ns.

    Args:
        pid: Process id.

    Returns:
        Time since the process began, s; 0 if it is unknown.
    """
    try:
        # Not by Path: it interns each part of a path, and this is read so often that the table of interned strings is
        # made again and again, 4 MB each time.
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:  # noqa: PTH123
            return 1e-9 * int(file.read().split()[1])
    except (OSError, IndexError, ValueError):
        return 0.0
