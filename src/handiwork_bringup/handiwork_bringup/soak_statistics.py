"""What a soak run found, in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import binomtest

NEEDED_RATE = 0.98


@dataclass(frozen=True, slots=True)
class Failure:
    """One episode that went wrong, and why."""

    episode: int
    seed: int
    stage: str
    code: str
    message: str


@dataclass
class Tally:
    """Grows with each episode. Times in seconds; a stop lasts from cancel request to standstill, world and wall."""

    episodes: int = 0
    failures: list[Failure] = field(default_factory=list)
    planning_s: list[float] = field(default_factory=list)
    stop_world_s: list[float] = field(default_factory=list)
    stop_wall_s: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Share of the episodes that succeeded; 0 when there are none."""
        failed = len({failure.episode for failure in self.failures})
        return (self.episodes - failed) / self.episodes if self.episodes else 0.0

    @property
    def good(self) -> bool:
        """True when the rate reaches the needed one."""
        return self.rate >= NEEDED_RATE

    def lines(self) -> list[str]:
        """The report."""
        if not self.episodes:
            return ["no episode ran"]
        won = round(self.rate * self.episodes)
        interval = binomtest(won, self.episodes).proportion_ci(0.95, method="wilson")
        return [
            f"success {won}/{self.episodes} = {100 * self.rate:.1f} %, 95 % interval "
            f"{100 * interval.low:.1f} to {100 * interval.high:.1f} % (Wilson)",
            f"planning time per skill: {_percentiles(self.planning_s, (50, 95, 99))}",
            f"cancel to standstill, world time: {_percentiles(self.stop_world_s, (50, 99))}",
            f"cancel to standstill, wall time: {_percentiles(self.stop_wall_s, (50, 99))}",
            *(f"episode {f.episode} seed {f.seed}: {f.stage}: {f.code}: {f.message}" for f in self.failures),
        ]


def _percentiles(values: Sequence[float], ranks: tuple[int, ...]) -> str:
    if not values:
        return "none measured"
    parts = (f"p{rank} {1e3 * float(np.percentile(values, rank)):.0f} ms" for rank in ranks)
    return f"{', '.join(parts)} (n = {len(values)})"
