"""The machine of a run: its load, and the memory of its processes."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

BURN = "import os\nwhile os.getppid() == {parent}: pass"
"""It ends with its parent. Ctrl-C does not reach it, as it has a session of its own, and so it prints no traceback."""
KILO = 1024


@contextlib.contextmanager
def burners(count: int) -> Iterator[None]:
    """Keep processes busy while the context lasts.

    Args:
        count: Number of processes.
    """
    command = [sys.executable, "-c", BURN.format(parent=os.getpid())]
    started = [subprocess.Popen(command, start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def resident_bytes(pid: int) -> float | None:
    """Return the resident memory of a process that belongs to no file.

    Args:
        pid: The process id.

    Returns:
        Memory in bytes; None when the process has ended.
    """
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return None
    rows = [line.split() for line in text.splitlines() if line.startswith("RssAnon:")]
    return float(rows[0][1]) * KILO if rows else None


def load_now() -> float:
    """Return the mean number of processes that were ready to run in the last minute."""
    return os.getloadavg()[0]
