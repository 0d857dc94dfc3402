"""One seed after the other, or side by side in processes."""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context

import numpy as np

from decider_node.stacking.cell import FULL, SMALL, STANDARD
from decider_node.stacking.layout_file import load_cell, load_layout
from decider_node.stacking.reach import check_reach
from handiwork_cli.processes.progress import progress
from handiwork_core.robot_files.loader import load_robot
from sim_bridge.mujoco.cup_slip import CupSlip

from .disturbances import Disturbance, Kind
from .episode import Episode, Result
from .video import Filming
from .view import LiveView

TIER = replace(SMALL, layers=1)
KINDS = [kind for kind in Kind if kind is not Kind.NONE]


@dataclass(frozen=True)
class Run:
    """The result of one seed. ``happened``: the cell was disturbed as wanted."""

    seed: int
    kind: Kind
    result: Result
    happened: bool
    fault: str
    cpu_s: float

    @property
    def outcome(self) -> str:
        """The outcome: ``good``, ``refused`` if the network named a true reason, else ``NOT GOOD``."""
        if not self.happened:
            return "NOT GOOD"
        if self.result.good and not (self.kind is Kind.NONE and self.result.dropped):
            return "good"
        return "refused" if self.result.refusal else "NOT GOOD"

    def text(self) -> str:
        """Return one line, and one more for each fault."""
        r = self.result
        lines = [
            f"seed {self.seed} {self.kind.value}: {self.outcome}, {r.stacked} of {r.places} stacked, worst "
            f"{r.worst_m * 1e3:.2f} mm {r.worst_deg:.2f} deg, dropped {r.dropped}, upside up {r.upside_up}, "
            f"{r.right} of {r.placings} placings right, "
            f"{r.simulated_s:.0f} s simulated, {self.cpu_s:.0f} s of processor"
        ]
        if self.fault:
            lines.append(f"seed {self.seed}: {self.fault}")
        if not self.happened:
            lines.append(f"seed {self.seed}: the moment for {self.kind.value} never came")
        return "\n".join(lines)

    def record(self) -> str:
        """Return the run as a JSON line."""
        about = {"seed": self.seed, "disturbance": self.kind.value, "outcome": self.outcome}
        return json.dumps({**about, **vars(self.result)})


def run_seed(task: tuple[int, Kind], arguments: argparse.Namespace) -> Run:
    """Run one episode.

    Args:
        task: Seed and disturbance.
        arguments: The command line.
    """
    begin = time.process_time()
    seed, kind = task
    layout = FULL if arguments.full else TIER if arguments.tier else SMALL
    site = replace(STANDARD, layout=layout) if arguments.cell is None else load_cell(arguments.cell)
    if arguments.layout is not None:
        site = replace(site, layout=load_layout(arguments.layout))
    layout = site.layout
    robot = load_robot(arguments.robot)
    check_reach(site, robot, robot.arm(""), str(arguments.layout or arguments.cell or "cell"))
    slip = CupSlip(arguments.slip / 1e3, np.radians(arguments.slip_deg), arguments.creep / 1e3, seed)
    is_slipping = max(arguments.slip, arguments.slip_deg, arguments.creep) > 0.0
    episode = Episode(
        None,
        seed,
        corrects=not arguments.no_correction,
        site=site,
        robot_dir=arguments.robot,
        slip=slip if is_slipping else None,
    )
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
    return Run(seed, kind, result, disturb.done, episode.fault, time.process_time() - begin)


def tasks(arguments: argparse.Namespace) -> list[tuple[int, Kind]]:
    """Return the seeds with their disturbances; with ``each``, a seed has all of them before the next one begins.

    Args:
        arguments: The command line.
    """
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    if arguments.disturb == "each":
        return [(seed, kind) for seed in seeds for kind in KINDS]
    if arguments.disturb == "all":
        return [(seed, KINDS[seed % len(KINDS)]) for seed in seeds]
    return [(seed, Kind(arguments.disturb)) for seed in seeds]


def run_all(arguments: argparse.Namespace) -> Iterator[Run]:
    """Run all seeds in ``--jobs`` processes.

    Args:
        arguments: The command line.

    Yields:
        The runs, in the order of the seeds.
    """
    one = partial(run_seed, arguments=arguments)
    if arguments.jobs == 1:
        yield from map(one, tasks(arguments))
        return
    with ProcessPoolExecutor(arguments.jobs, get_context("spawn")) as pool:
        yield from pool.map(one, tasks(arguments))


def table(runs: list[Run]) -> str:
    """Return a table of outcomes, by disturbance.

    Args:
        runs: The runs.
    """
    lines = ["| disturbance | runs | good | refused | not good | worst, mm | worst, degrees | on the floor |"]
    lines.append("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for kind in progress(Kind, "runs"):
        of_kind = [run for run in runs if run.kind is kind]
        if not of_kind:
            continue
        counts = Counter(run.outcome for run in of_kind)
        good = [run.result for run in of_kind if run.outcome == "good"]
        worst_mm = 1e3 * max((r.worst_m for r in good), default=0.0)
        worst_deg = max((r.worst_deg for r in good), default=0.0)
        dropped = sum(run.result.dropped for run in of_kind)
        lines.append(
            f"| {kind.value} | {len(of_kind)} | {counts['good']} | {counts['refused']} | {counts['NOT GOOD']} "
            f"| {worst_mm:.2f} | {worst_deg:.2f} | {dropped} |"
        )
    return "\n".join(lines)
