"""The identity of a node's process, and the detection of its end on this machine."""

from __future__ import annotations

import os
import select
import socket
import weakref
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=1)
def host_name() -> str:
    """Return the name of this machine, for messages."""
    return socket.gethostname()


@lru_cache(maxsize=1)
def process_space() -> str:
    """Return an id that two processes share exactly when they share one table of process ids: boot id and namespace.

    Empty if the system does not provide it; an empty id equals no other.
    """
    try:
        boot_id = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot_id} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


class ProcessEndWatch:
    """Detects the end of a process of this machine, without waiting; processes of other machines are not known."""

    def __init__(self, pid: int, space: str) -> None:
        """Watch a process.

        Args:
            pid: Process id.
            space: ``process_space`` of the process.
        """
        self._is_here = bool(space) and space == process_space() and pid > 0
        self._has_ended = False
        self._poll: select.poll | None = None
        self._release: Callable[[], object] = lambda: None
        if self._is_here:
            try:
                self._open(os.pidfd_open(pid))
            except ProcessLookupError:
                self._has_ended = True
            except OSError:  # the kernel, or a sandbox, refuses
                self._is_here = False

    @property
    def is_known(self) -> bool:
        """True if ``has_ended`` can be relied on."""
        return self._is_here

    @property
    def has_ended(self) -> bool:
        """True once the process has ended, also as a zombie."""
        if self._poll is not None and not self._has_ended:
            self._has_ended = bool(self._poll.poll(0))
        return self._has_ended

    def close(self) -> None:
        """Close the descriptor; ``has_ended`` keeps its last value."""
        self._poll = None
        self._release()

    def _open(self, descriptor: int) -> None:
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)
        self._release = weakref.finalize(self, os.close, descriptor)
