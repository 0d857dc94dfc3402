"""Ends a process whose executor does not run any more, so that its supervisor starts it again. Without ROS."""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
from collections.abc import Callable

from handiwork_core.intake.silence import Silence, processor_wait_s

EXIT_CODE = os.EX_SOFTWARE
LOOK_S = 0.5
"""The period of the checks, s."""
HARD_FACTOR = 2.0
"""The number of limits after which the process ends if Python is blocked, as in an endless regular expression."""


class Watchdog:
    """A thread that ends the process when ``beat`` was not called for the time of the limit.

    Before that it writes the traceback of every thread to stderr. A timer of ``faulthandler``, which runs without
    Python, does the same after twice the limit if some C code never releases Python's lock.

    Args:
        name: Name of the node, for the message.
        limit_s: Returns the longest accepted silence, s of steady time without delays by a busy machine.
        end: Called after the message with the exit code; ends the process.
    """

    def __init__(
        self, name: str, limit_s: Callable[[], float], end: Callable[[int], object] = os._exit
    ) -> None:
        self._name, self._limit_s, self._end = name, limit_s, end
        self._silence = Silence(lambda: processor_wait_s(os.getpid()))
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._arm()
        self._thread.start()

    def beat(self) -> None:
        """Note that the executor has run."""
        self._silence.beat()

    def close(self, end_limit_s: float = 0.0) -> None:
        """Stop watching the executor.

        Args:
            end_limit_s: Time after which the process is ended with all tracebacks if it has not ended by itself, s; 0
                for no limit.
        """
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()
        faulthandler.cancel_dump_traceback_later()
        if end_limit_s > 0.0:
            faulthandler.dump_traceback_later(end_limit_s, exit=True)

    def _watch(self) -> None:
        while not self._over.wait(LOOK_S):
            if self._silence.look() > self._limit_s():
                self._bite()
                return
            self._arm()

    def _arm(self) -> None:
        faulthandler.dump_traceback_later(HARD_FACTOR * self._limit_s(), exit=True)

    def _bite(self) -> None:
        text = f"fatal: the executor of {self._name} has not turned for {self._limit_s():g} s"
        sys.stderr.write(f"{text}; ending the process so that it is started again. All threads:\n")
        faulthandler.dump_traceback(all_threads=True)
        sys.stderr.flush()
        self._end(EXIT_CODE)
