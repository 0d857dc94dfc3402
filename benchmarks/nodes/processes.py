"""Processes beside the one that measures."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

END_S = 15.0


@contextmanager
def process(*arguments: str) -> Iterator[int]:
    """Run a Python process within the block.

    Args:
        arguments: Its command line after the interpreter.

    Yields:
        Its process id.
    """
    started = subprocess.Popen([sys.executable, *arguments], start_new_session=True)
    try:
        yield started.pid
    finally:
        os.killpg(started.pid, signal.SIGINT)
        try:
            started.wait(END_S)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
