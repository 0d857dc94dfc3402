"""Time a piece of work many times."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np

from benchmarks.mbm.rows import PERCENTILES
from handiwork_core.model.geometry import Array

T = TypeVar("T")
R = TypeVar("R")


def clocked(work: Callable[[T], R], items: Iterable[T]) -> tuple[list[R], Array]:
    """Apply ``work`` to each item.

    Args:
        work: The work.
        items: The items.

    Returns:
        The results, and the processor time of each, (n,), s.
    """
    made, spent = [], []
    for item in items:
        began = time.process_time()
        made.append(work(item))
        spent.append(time.process_time() - began)
    return made, np.array(spent)


def words(seconds: Array, unit_s: float = 1e-3) -> list[str]:
    """Return p50, p95 and p99 in the given unit; ``-`` without values.

    Args:
        seconds: Times, (n,), s.
        unit_s: The unit, s.
    """
    if len(seconds) == 0:
        return ["-"] * len(PERCENTILES)
    return [f"{value / unit_s:.3g}" for value in np.percentile(seconds, PERCENTILES)]


HEADS = tuple(f"p{p}" for p in PERCENTILES)
