"""Ends a process whose executor does not turn any more, so that whoever started it starts it again. No ROS."""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
from collections.abc import Callable

from handiwork_core.intake.silence import Silence, processor_wait_s

EXIT_CODE = os.EX_SOFTWARE
LOOK_S = 0.5
HARD_FACTOR = 2.0
"""Where Python itself stands still, as in an endless regular expression, the end comes after so many limits."""


class Watchdog:
    """A thread that ends the process when ``beat`` was not called for ``limit_s``.

    Before that it writes the traceback of every thread to stderr. A timer of ``faulthandler``, which needs no Python
    to run, does the same after twice the limit when some C code never gives Python's lock back.

    Args:
        name: of the node, for the message.
        limit_s: tells the accepted silence [s of steady time, without what a busy machine held the process up].
        end: called after the message; ends the process.
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
        """Note that the executor has turned."""
        self._silence.beat()

    def close(self, end_limit_s: float = 0.0) -> None:
        """Watch the executor no more; 0 is without a limit for the end of the process.

        Args:
            end_limit_s: the process is ended with all tracebacks when it has not ended by itself until then [s].
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
