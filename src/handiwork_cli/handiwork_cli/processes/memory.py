"""The memory of processes over time, and how fast it grows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

WARM_UP_S = 120.0
"""The age from which a process's memory is evaluated [s]: before, it loads and fills its caches."""
LEAST_SPAN_S = 60.0
"""The shortest time of samples for a slope of memory, s."""
KILO = 1024
BYTES_PER_MB = 1e6
SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Memory:
    """Resident memory of one process over steady time.

    Attributes:
        node: Name of the node.
        pid: Its process id.
        samples: Steady time [s] and memory [bytes], in the order of time.
        warm_up_share: Share of the samples' time that is left out, beside ``WARM_UP_S``: the heap still rises
            to its greatest size in it.
    """

    node: str
    pid: int
    samples: tuple[tuple[float, float], ...]
    warm_up_share: float = 0.0

    @property
    def span_s(self) -> float:
        """Time from the first to the last sample, s."""
        return self.samples[-1][0] - self.samples[0][0] if self.samples else 0.0

    @property
    def slope_mb_per_h(self) -> float:
        """Growth by least squares after the warm-up [MB/h]; nan when the process did not live long enough."""
        if not self.samples:
            return float("nan")
        begin_s = self.samples[0][0] + max(WARM_UP_S, self.warm_up_share * self.span_s)
        rows = np.array([sample for sample in self.samples if sample[0] >= begin_s])
        if len(rows) < 3 or rows[-1, 0] - rows[0, 0] < LEAST_SPAN_S:
            return float("nan")
        slope = np.polyfit(rows[:, 0] - rows[0, 0], rows[:, 1], 1)[0]
        return float(slope) * SECONDS_PER_HOUR / BYTES_PER_MB


class MemoryWatch:
    """Samples the memory of nodes; a node that was started again is another process.

    Args:
        nodes: Names of the nodes.
        pid_of: Returns the process id of a node; None while it does not run.
        warm_up_share: See ``Memory``.
        clock: Returns steady time, s.
    """

    def __init__(
        self,
        nodes: Sequence[str],
        pid_of: Callable[[str], int | None],
        warm_up_share: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._nodes, self._pid_of, self._clock = nodes, pid_of, clock
        self._warm_up_share = warm_up_share
        self._samples: dict[tuple[str, int], list[tuple[float, float]]] = {}

    def sample(self) -> None:
        """Take one sample of each node that runs."""
        now_s = self._clock()
        for node in self._nodes:
            pid = self._pid_of(node)
            size = None if pid is None else resident_bytes(pid)
            if pid is not None and size is not None:
                self._samples.setdefault((node, pid), []).append((now_s, size))

    @property
    def found(self) -> list[Memory]:
        """The memory of each process so far."""
        return [
            Memory(node, pid, tuple(samples), self._warm_up_share)
            for (node, pid), samples in self._samples.items()
        ]


def memory_lines(found: Iterable[Memory]) -> list[str]:
    """Return one line for each process that lived long enough for a slope.

    Args:
        found: The memory of the processes.
    """
    return [
        f"memory of {one.node} ({one.pid}): {one.slope_mb_per_h:+.1f} MB/h over {one.span_s:.0f} s"
        for one in found
        if one.slope_mb_per_h == one.slope_mb_per_h
    ]


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
