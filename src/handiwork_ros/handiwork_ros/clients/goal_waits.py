"""The threads that wait for the goals of one client, so that its end ends their waits first."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class GoalWaits:
    """Counts the waits of a client; ``close`` returns when the last one has ended, so that none uses a destroyed node.

    Attributes:
        closing: Set by ``close``; every wait looks at it before it uses the node.
    """

    def __init__(self) -> None:
        self.closing = threading.Event()
        self._ended = threading.Condition()
        self._count = 0

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Count a wait while it lasts.

        Yields:
            Nothing.
        """
        with self._ended:
            self._count += 1
        try:
            yield
        finally:
            with self._ended:
                self._count -= 1
                self._ended.notify_all()

    def close(self) -> None:
        """End all waits, and return once they have ended."""
        self.closing.set()
        with self._ended:
            self._ended.wait_for(lambda: self._count == 0)
