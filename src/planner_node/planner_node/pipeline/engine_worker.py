"""The one thread that calls the engine, and its short queue."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

QUEUE_LIMIT = 4


class EngineWorker:
    """Runs jobs in order, one at a time. A job must not raise. Other threads call only ``submit`` and ``close``.

    Args:
        name: Name of the thread.
    """

    def __init__(self, name: str) -> None:
        self._jobs: queue.Queue[Callable[[], None] | None] = queue.Queue()
        self._lock = threading.Lock()
        self._open = 0
        self.stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def submit(self, job: Callable[[], None]) -> bool:
        """Queue a job.

        Args:
            job: The job; it must not raise.

        Returns:
            False when ``QUEUE_LIMIT`` jobs are under way already, or the worker is closed.
        """
        with self._lock:
            if self._open >= QUEUE_LIMIT or self.stopping.is_set():
                return False
            self._open += 1
        self._jobs.put(job)
        return True

    @property
    def is_idle(self) -> bool:
        """True when no job waits or runs."""
        with self._lock:
            return self._open == 0

    def close(self, timeout_s: float) -> bool:
        """End after the jobs under way, which see ``stopping``.

        Args:
            timeout_s: Longest wait for the thread, s.

        Returns:
            Whether the thread has ended in time.
        """
        self.stopping.set()
        self._jobs.put(None)
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            finally:
                with self._lock:
                    self._open -= 1
