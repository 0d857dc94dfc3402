"""The figures that the engine is built to reach on the Panda's problems, beside those that it reached."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .rows import Row, markdown

FASTER = {"roboplan": 60.0}
"""Wanted ratio of a peer's time for the bare search to the product's."""
SIMPLIFY_FASTER = 50.0
"""Wanted ratio for search and simplification, against every peer."""


@dataclass(frozen=True, slots=True)
class Target:
    """``value`` should be at most, or at least, ``bound``."""

    name: str
    value: float
    bound: float
    at_least: bool = False

    @property
    def line(self) -> list[str]:
        """The row of the table."""
        met = self.value >= self.bound if self.at_least else self.value <= self.bound
        sign = ">=" if self.at_least else "<="
        return [self.name, f"{sign} {self.bound:g}", f"{self.value:.4g}", "yes" if met else "no"]


def targets(rows: Sequence[Row], peers: Mapping[str, Sequence[Row]]) -> str:
    """Return a table; percentiles are those of solved attempts, shares those of all.

    Args:
        rows: The product's attempts.
        peers: Attempts of each peer.
    """
    paths = [row for row in rows if row.path is not None]
    motions = [row for row in rows if row.motion is not None]
    found = [
        Target(
            "solved within 1 s, %", 100.0 * _mean([r.plan_s <= 1.0 for r in paths], len(rows)), 99.7, True
        ),
        Target(
            "paths clean, %", 100.0 * _mean([r.path.clean for r in paths if r.path], len(paths)), 100.0, True
        ),
        Target(
            "trajectories clean, %",
            100.0 * _mean([m.motion.clean for m in motions if m.motion], len(motions)),
            100.0,
            True,
        ),
        Target("plan p95, ms", _ms(paths, 95, lambda r: r.plan_s), 1.5),
        Target(
            "plan p50 in cage, ms", _ms([r for r in paths if r.scene == "cage"], 50, lambda r: r.plan_s), 1.0
        ),
        Target("path length p50, rad", _percentile([r.path.length_rad for r in paths if r.path], 50), 4.9),
        Target("full plan p50, ms", _ms(motions, 50, lambda r: r.full_s), 5.0),
        Target("full plan p99, ms", _ms(motions, 99, lambda r: r.full_s), 100.0),
    ]
    for name, theirs in peers.items():
        good = [row for row in theirs if row.path is not None]
        for what, bound, pick in (
            ("plan", FASTER.get(name), _plan_s),
            ("plan and simplify", SIMPLIFY_FASTER, _simplified_s),
        ):
            if bound is not None:
                ratio = _ms(good, 50, pick) / _ms(paths, 50, pick)
                found.append(Target(f"{what} p50, times faster than {name}", ratio, bound, True))
    return markdown(("target", "bound", "measured", "met"), [target.line for target in found])


def _plan_s(row: Row) -> float:
    return row.plan_s


def _simplified_s(row: Row) -> float:
    return row.simplified_s


def _mean(good: Sequence[bool], of: int) -> float:
    return sum(good) / of if of else float("nan")


def _ms(rows: Sequence[Row], p: int, pick: Callable[[Row], float]) -> float:
    return 1e3 * _percentile([pick(row) for row in rows], p)


def _percentile(values: Sequence[float], p: int) -> float:
    return float(np.percentile(values, p)) if values else float("nan")
