"""The findings of a soak run in numbers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import binomtest

from handiwork_cli.processes.interrupts import INTERRUPTED
from handiwork_cli.processes.memory import MemoryWatch, memory_lines
from handiwork_core.contracts.skill import Progress

NEEDED_RATE = 0.98
WAITING = "waiting for"
"""The first words of the stage of an arm that waits for another one."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed episode, with the reason."""

    episode: int
    seed: int
    stage: str
    code: str
    message: str

    @property
    def text(self) -> str:
        """The stage, the code, and the message."""
        return f"{self.stage}: {self.code}: {self.message}"


@dataclass
class Tally:
    """The results of all episodes so far. Times are in seconds.

    Attributes:
        wanted: Number of requested episodes; fewer were run when the stack died.
        episodes: Number of episodes that were run.
        failures: Failed episodes.
        planning_s: Planning time of each skill.
        episode_s: Wall time of each episode from its first goal to its verdict.
        waits_s: Times in which the feedback of an arm reported that it waits for another.
        waited_for: The reasons that it reported.
        stop_world_s: World times from the request to cancel to standstill.
        stop_wall_s: Wall times from the request to cancel to standstill.
        memory: Memory of each process of the stack; None before the stack is active.
        is_cut_short: True when the run was ended from outside.
    """

    wanted: int = 0
    episodes: int = 0
    failures: list[Failure] = field(default_factory=list)
    planning_s: list[float] = field(default_factory=list)
    episode_s: list[float] = field(default_factory=list)
    waits_s: list[float] = field(default_factory=list)
    waited_for: set[str] = field(default_factory=set)
    stop_world_s: list[float] = field(default_factory=list)
    stop_wall_s: list[float] = field(default_factory=list)
    memory: MemoryWatch | None = None
    is_cut_short: bool = False

    @property
    def rate(self) -> float:
        """The share of the episodes that succeeded; 0 when there are none."""
        failed = len({failure.episode for failure in self.failures})
        return (self.episodes - failed) / self.episodes if self.episodes else 0.0

    @property
    def good(self) -> bool:
        """True when all episodes ran and the rate is high enough."""
        return self.rate >= NEEDED_RATE and self.episodes >= self.wanted

    @property
    def exit_code(self) -> int:
        """The exit code of a command: 0 exactly when it is good, ``INTERRUPTED`` for a run that was cut short."""
        return INTERRUPTED if self.is_cut_short else 0 if self.good else 1

    @property
    def causes(self) -> str:
        """The codes of the failures with their seeds, such as ``NOT_REACHED (3, 17)``; a dash when there are none."""
        seeds: dict[str, list[str]] = {}
        for failure in self.failures:
            seeds.setdefault(failure.code, []).append(str(failure.seed))
        return ", ".join(f"{code} ({', '.join(found)})" for code, found in seeds.items()) or "-"

    @property
    def cells(self) -> list[str]:
        """The cells of a table: success, rate, median and 95th percentile of an episode's time, waits, causes."""
        won = round(self.rate * self.episodes)
        times = [
            f"{float(np.percentile(self.episode_s, rank)):.1f} s" if self.episode_s else "-"
            for rank in (50, 95)
        ]
        waits = f"{len(self.waits_s)}, {sum(self.waits_s):.1f} s"
        return [f"{won}/{self.episodes}", f"{100 * self.rate:.1f} %", *times, waits, self.causes]

    def lines(self) -> list[str]:
        """Return the report."""
        cut = [
            f"ended early by a signal, after {self.episodes} of {self.wanted} episodes"
        ] * self.is_cut_short
        if not self.episodes:
            return [*cut, "no episode ran"]
        won = round(self.rate * self.episodes)
        interval = binomtest(won, self.episodes).proportion_ci(0.95, method="wilson")
        return [
            *cut,
            f"success {won}/{self.episodes} = {100 * self.rate:.1f} %, 95 % interval "
            f"{100 * interval.low:.1f} to {100 * interval.high:.1f} % (Wilson)",
            f"planning time per skill: {_percentiles(self.planning_s, (50, 95, 99))}",
            f"time per episode: {_percentiles(self.episode_s, (50, 95))}",
            *(
                [f"waited {len(self.waits_s)} times: {'; '.join(sorted(self.waited_for))}"]
                if self.waits_s
                else []
            ),
            f"cancel to standstill, world time: {_percentiles(self.stop_world_s, (50, 99))}",
            f"cancel to standstill, wall time: {_percentiles(self.stop_wall_s, (50, 99))}",
            *(memory_lines(self.memory.found) if self.memory else []),
            *(f"episode {f.episode} seed {f.seed}: {f.text}" for f in self.failures),
        ]


class Waits:
    """Feedback callback of one arm's goal: adds to a tally how long it waited for another arm, and why.

    Args:
        tally: The results to add to.
        clock: Returns the time, s.
    """

    def __init__(self, tally: Tally, clock: Callable[[], float] = time.monotonic) -> None:
        self._tally, self._clock = tally, clock
        self._since_s: float | None = None

    def __call__(self, progress: Progress) -> None:
        """Take one feedback."""
        if not progress.stage.startswith(WAITING):
            self.end()
        else:
            self._since_s = self._clock() if self._since_s is None else self._since_s
            self._tally.waited_for.add(progress.stage.removeprefix(WAITING).strip())

    def end(self) -> None:
        """End a wait, if there is one: the goal has ended or continues."""
        if self._since_s is not None:
            self._tally.waits_s.append(self._clock() - self._since_s)
            self._since_s = None


def _percentiles(values: Sequence[float], ranks: tuple[int, ...]) -> str:
    if not values:
        return "none measured"
    parts = (f"p{rank} {1e3 * float(np.percentile(values, rank)):.0f} ms" for rank in ranks)
    return f"{', '.join(parts)} (n = {len(values)})"
