"""The load of the machine of a run."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

BURN = "import os\nwhile os.getppid() == {parent}: pass"
"""It ends with its parent. Ctrl-C does not reach it, as it has a session of its own, and so it prints no traceback."""


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


def load_now() -> float:
    """Return the mean number of processes that were ready to run in the last minute."""
    return os.getloadavg()[0]
