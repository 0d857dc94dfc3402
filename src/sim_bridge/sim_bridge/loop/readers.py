"""Threads that read files, so that neither the executor nor the physics waits for a disk. Knows no ROS."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")

MOST_READERS = 4
"""The largest number of reads at the same time."""


class TooManyReaders(RuntimeError):
    """No further read can start; the message is a sentence for the client."""


class Readers:
    """Runs each read on a thread of its own."""

    def __init__(self) -> None:
        self._free = threading.BoundedSemaphore(MOST_READERS)

    def submit(self, read: Callable[[], T]) -> Future[T]:
        """Start a read.

        Args:
            read: The function that reads.

        Returns:
            The future of what ``read`` returns or raises.

        Raises:
            TooManyReaders: MOST_READERS reads run already; reads from a disk that does not answer never end.
        """
        if not self._free.acquire(blocking=False):
            raise TooManyReaders(f"{MOST_READERS} requests are reading files; ask again when they have ended")
        job: Future[T] = Future()

        def work() -> None:
            try:
                value = read()
            except BaseException as error:  # noqa: BLE001  # passed on to the thread that waits
                failure = error
                self._free.release()
                job.set_exception(failure)
            else:
                self._free.release()
                job.set_result(value)

        # A daemon, so that a read that never returns cannot keep the process from ending.
        threading.Thread(target=work, name="file-reader", daemon=True).start()
        return job
