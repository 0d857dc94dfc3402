"""Stacks bins for some seeds and says how well they stand: ``python -m benchmarks.stacking --help``."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from decider_node.network.picture import draw
from decider_node.stacking.cell import FULL, SMALL

from .disturbances import Disturbance, Kind
from .episode import Episode, Result
from .video import Filming

VIEW_S = 0.5
TIER = replace(SMALL, layers=1)


def view(episode: Episode) -> str:
    """The network with its active path, and the logical state."""
    state = f"t {episode.time_s:6.1f} s   {episode.context.status}"
    return f"{state}\n{draw(episode.network)}"


class LiveView:
    """Draws twice per simulated second, over the last picture."""

    def __init__(self) -> None:
        self._next_s, self._lines = 0.0, 0

    def __call__(self, episode: Episode) -> None:
        """Draws if it is time."""
        if episode.time_s < self._next_s:
            return
        self._next_s = episode.time_s + VIEW_S
        text = view(episode)
        back = f"\033[{self._lines}F\033[J" if self._lines and sys.stdout.isatty() else ""
        print(f"{back}{text}", flush=True)
        self._lines = text.count("\n") + 1


def in_words(result: Result, wall_s: float) -> str:
    """How a stack ended, as a sentence."""
    if not result.good:
        return (
            f"The stack is not as it shall be: {result.stacked} of {result.places} bins are in their places."
        )
    off = f"{result.worst_m * 1e3:.1f} mm and {result.worst_deg:.1f} degrees"
    speed = f"{result.simulated_s:.0f} s of the cell took {wall_s:.0f} s"
    return f"All {result.places} bins are stacked, open side down, none is farther from its place than {off}; {speed}."


def run_seed(seed: int, arguments: argparse.Namespace, kind: Kind) -> tuple[Result, bool, float]:
    """One episode, whether it was disturbed as wanted, and the processor time that it took."""
    begin = time.process_time()
    layout = FULL if arguments.full else TIER if arguments.tier else SMALL
    episode = Episode(layout, seed, corrects=not arguments.no_correction)
    disturb = Disturbance(kind, seed, len(layout))
    watchers: list[Callable[[Episode], None]] = [disturb]
    filming = Filming()
    if arguments.view:
        watchers.append(LiveView())
    if arguments.video is not None:
        watchers.append(filming)

    def watch(episode: Episode) -> None:
        for watcher in watchers:
            watcher(episode)

    result = episode.run(watch)
    if arguments.video is not None:
        filming.write(episode, arguments.video)
    if episode.fault:
        print(f"seed {seed}: {episode.fault}")
    if not disturb.done:
        print(f"seed {seed}: the moment for {kind.value} never came")
    return result, disturb.done, time.process_time() - begin


def main() -> int:
    """Runs all seeds; the exit status is 1 where one was not good."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stacking", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1, help="how many")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--full", action="store_true", help="36 bins instead of 12")
    parser.add_argument("--tier", action="store_true", help="one layer of 4 bins instead of 12")
    parser.add_argument("--no-correction", action="store_true", help="place without the measured correction")
    parser.add_argument("--disturb", choices=[k.value for k in Kind] + ["all"], default="none")
    parser.add_argument("--view", action="store_true", help="draw the network while it runs")
    parser.add_argument("--video", type=Path, help="film the (last) seed into this .webp, 15 times as fast")
    parser.add_argument("--out", type=Path, help="write the results as JSON lines")
    arguments = parser.parse_args()
    kinds = [k for k in Kind if k is not Kind.NONE]
    good = 0
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
        begin_s = time.monotonic()
        kind = kinds[seed % len(kinds)] if arguments.disturb == "all" else Kind(arguments.disturb)
        result, happened, cpu_s = run_seed(seed, arguments, kind)
        is_good = happened and result.good and (kind is not Kind.NONE or result.dropped == 0)
        good += is_good
        print(
            f"seed {seed} {kind.value}: {'good' if is_good else 'NOT GOOD'}, {result.stacked} of "
            f"{result.places} stacked, worst {result.worst_m * 1e3:.2f} mm {result.worst_deg:.2f} deg, "
            f"dropped {result.dropped}, upside up {result.upside_up}, {result.simulated_s:.0f} s "
            f"simulated, {cpu_s:.0f} s of processor",
            flush=True,
        )
        if arguments.out is not None:
            with arguments.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"seed": seed, "disturbance": kind.value, **vars(result)}) + "\n")
        if arguments.view:
            print(in_words(result, time.monotonic() - begin_s))
    print(f"{good} of {arguments.seeds} good")
    return 0 if good == arguments.seeds else 1


if __name__ == "__main__":
    raise SystemExit(main())
