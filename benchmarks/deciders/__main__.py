"""Time a tick of the bin-stacking network and a cycle of the reactive controller: ``python -m benchmarks.deciders``.

Processor time of one thread [ms]; the cell is still and the arm follows its commands.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from benchmarks.stacking.episode import Episode
from benchmarks.stacking.simulated_cell import CYCLE_S
from decider_node.motion.command import MotionCommand
from decider_node.stacking.cell import FULL
from handiwork_core.model.geometry import Array

TICKS = 1000


def filled() -> Episode:
    """Return a cell with 35 of 36 bins in their places and one on the belt; its bins are read once."""
    episode = Episode(FULL, 0, spares=0)
    cell, names = episode.cell, [f"bin_{k}" for k in range(len(FULL))]
    for _ in range(300):
        if not cell.bins():
            cell.feed()
        cell.advance()
    first = cell.bins()["bin_0"]
    states = {name: replace(first, world_T_object=FULL.place(k)) for k, name in enumerate(names[:-1])}
    states[names[-1]] = first
    cell.bins = lambda: states  # type: ignore[method-assign]
    episode.context.places = dict(enumerate(names[:-1]))
    return episode


def say(what: str, times: list[float], limit: str) -> None:
    """Print the median and the 99th percentile.

    Args:
        what: Label of the row.
        times: Durations, s.
        limit: The wanted figure.
    """
    ms = 1e3 * np.array(times)
    print(f"{what}: median {np.median(ms):.3f} ms, p99 {np.percentile(ms, 99):.3f} ms (wanted: {limit})")


def main() -> None:
    """Measure both."""
    episode = filled()
    ticks, cycles = [], []
    q: Array = episode.cell.joints()
    for k in range(TICKS):
        begin = time.thread_time()
        episode.network.tick(k * CYCLE_S)
        ticks.append(time.thread_time() - begin)
        command: MotionCommand | None = episode.cell._command
        if command is None:
            continue
        flange = episode.cell._for_flange(command)
        begin = time.thread_time()
        reference = episode.cell.controller.step(flange, q, CYCLE_S)
        cycles.append(time.thread_time() - begin)
        q = reference.q
    say("tick of the network with monitors", ticks[20:], "median 0.3")
    say("cycle of the reactive controller", cycles[20:], "p99 1")


if __name__ == "__main__":
    main()
