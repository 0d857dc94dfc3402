"""Progress of long work: a bar in a terminal, and a plain line now and then where the output goes to a file."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterable, Iterator
from typing import TextIO, TypeVar

from tqdm import tqdm

DELAY_S = 2.0
"""Shorter work shows nothing, s."""
LINES_S = 15.0
"""The time between two plain lines, s."""

T = TypeVar("T")


def progress(
    items: Iterable[T], what: str, *, total: int | None = None, unit: str = "", stream: TextIO | None = None
) -> Iterator[T]:
    """Yield the items, and show how many of them are done.

    Args:
        items: The items.
        what: What is done with them, in a few words.
        total: Their number; None: that of a collection, or not known.
        unit: Word for one item.
        stream: Where it is shown; None: stderr, which leaves tables on stdout as they are.

    Yields:
        The items.
    """
    out = sys.stderr if stream is None else stream
    if total is None and isinstance(items, Collection):
        total = len(items)
    if out.isatty():
        yield from tqdm(items, what, total=total, unit=unit or "it", delay=DELAY_S, leave=False, file=out)
        return
    begun_s = told_s = time.monotonic()
    for done, item in enumerate(items):
        now_s = time.monotonic()
        if now_s - told_s >= (LINES_S if told_s > begun_s else DELAY_S):
            told_s = now_s
            share = f"{done}" if total is None else f"{done} of {total}"
            print(
                f"{' '.join(filter(None, (what + ':', share, unit)))}, {now_s - begun_s:.0f} s",
                file=out,
                flush=True,
            )
        yield item


class Steps:
    """Named steps of unequal length: a bar in a terminal, and a line for each elsewhere.

    Args:
        what: What is done.
        count: Number of steps; None: not known.
        stream: Where they are shown; None: stderr.
    """

    def __init__(self, what: str, count: int | None = None, *, stream: TextIO | None = None) -> None:
        self._out = sys.stderr if stream is None else stream
        self._begun_s, self._number = time.monotonic(), 0
        self._bar = tqdm(
            total=count, desc=what, unit=" steps", leave=False, file=self._out, disable=not self._out.isatty()
        )

    def begin(self, name: str) -> None:
        """End the step before, and begin the next one.

        Args:
            name: Its name.
        """
        self._bar.update(min(1, self._number))  # the first one has none before it
        self._number += 1
        self._bar.set_postfix_str(name)
        if self._bar.disable:
            print(f"{time.monotonic() - self._begun_s:5.1f} s: {name}", file=self._out, flush=True)

    def __enter__(self) -> Steps:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()
