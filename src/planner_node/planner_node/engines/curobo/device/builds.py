"""Builds of solvers on a thread of their own, while the CPU engine plans."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Thread


class Builds:
    """One build at a time.

    While one is under way nothing else may use the GPU: CUDA records a graph from the calls of all threads.

    Args:
        waits: Whether ``start`` returns when the build has ended, so that equal requests always meet equal solvers.
    """

    def __init__(self, *, waits: bool) -> None:
        self._waits = waits
        self.waited_s = 0.0
        """The sum of the times that ``start`` has waited, s."""
        self._thread: Thread | None = None
        self._error: Exception | None = None

    def start(self, build: Callable[[], None]) -> None:
        """Begin a build.

        Args:
            build: The work; it must be the only one that uses the GPU.

        Raises:
            RuntimeError: Another build is under way.
            Exception: With ``waits``, what ``build`` raised.
        """
        if self.is_busy():
            raise RuntimeError("another build is under way; wait until is_busy() is false")

        def work() -> None:
            try:
                build()
            except Exception as error:  # noqa: BLE001 - it is raised by the next call of is_busy
                self._error = error

        self._thread = Thread(target=work, name="build of GPU solvers", daemon=True)
        began_s = time.monotonic()
        self._thread.start()
        if self._waits:
            try:
                self.wait()
            finally:
                self.waited_s += time.monotonic() - began_s

    def is_busy(self) -> bool:
        """Check whether a build is under way.

        Raises:
            Exception: What the last build raised; it is raised once.
        """
        if self._thread is not None and self._thread.is_alive():
            return True
        self._thread = None
        error, self._error = self._error, None
        if error is not None:
            raise error
        return False

    def wait(self) -> None:
        """Wait for the end of the build, if one is under way.

        Raises:
            Exception: What the build raised.
        """
        if self._thread is not None:
            self._thread.join()
        self.is_busy()
