"""Lets a command that runs long end early with its report, by SIGINT as well as by SIGTERM."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130
"""The exit code of a command that was ended early, as of a shell for a program that SIGINT has ended."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt in the main thread at the first SIGINT or SIGTERM; further ones do nothing.

    A shell without job control starts background jobs with SIGINT ignored, and Python leaves it so; here it counts.
    The first signal alone counts, so that a second one does not end the end of a stack in its middle.

    Yields:
        Nothing.
    """

    def interrupt(number: int, _frame: FrameType | None) -> None:
        for one in SIGNALS:  # not SIG_IGN, which processes that are started now would inherit
            signal.signal(one, lambda *_: None)
        raise KeyboardInterrupt(signal.Signals(number).name)

    before = {one: signal.signal(one, interrupt) for one in SIGNALS}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, signal.SIG_DFL if handler is None else handler)
