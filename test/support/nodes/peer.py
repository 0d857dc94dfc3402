"""Scripts of this folder in processes of their own, with their printed lines."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

FOLDER = Path(__file__).parent
EVENT_S = 60.0
"""Longest wait for something that takes a second or two on an idle machine."""


class Peer:
    """One process; ``errors`` is the content of its standard error."""

    def __init__(self, script: str, *options: str, **environment: str) -> None:
        self._lines: queue.Queue[str] = queue.Queue()
        self.errors = ""
        self.process = subprocess.Popen(
            [sys.executable, str(FOLDER / script), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        self._readers = [
            threading.Thread(target=read, daemon=True) for read in (self._read, self._read_errors)
        ]
        for reader in self._readers:
            reader.start()

    def wait(self, event: str, timeout_s: float = EVENT_S) -> float:
        """Wait for a line; the lines before it are dropped. Return the steady time [s]."""
        end_s = time.monotonic() + timeout_s
        while self._lines.get(timeout=max(0.01, end_s - time.monotonic())) != event:
            pass
        return time.monotonic()

    def has(self, event: str) -> bool:
        """Check whether a line is among those that were not awaited; these are dropped."""
        found = False
        while not self._lines.empty():
            found = self._lines.get() == event or found
        return found

    def signal(self, number: signal.Signals) -> float:
        """Send a signal, and return its steady time [s]."""
        os.kill(self.process.pid, number)
        return time.monotonic()

    def exit_code(self, timeout_s: float = EVENT_S) -> int:
        """Wait for the end."""
        code = self.process.wait(timeout_s)
        for reader in self._readers:
            reader.join(timeout_s)
        return code

    def close(self) -> None:
        """Kill the process if it still runs."""
        self.process.kill()
        self.exit_code()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.strip())

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.errors += line


def until(what: str, is_so: Callable[[], bool], timeout_s: float = EVENT_S) -> None:
    """Wait in steady time."""
    end_s = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < end_s, f"not in {timeout_s:g} s: {what}"
        threading.Event().wait(0.005)


def record(what: str, since_s: float) -> None:
    """Show a duration; ``pytest -rP`` prints it."""
    sys.stdout.write(f"{what} after {time.monotonic() - since_s:.2f} s\n")
