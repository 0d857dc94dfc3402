"""One row per attempt, and the tables made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .referee import Ruling

PERCENTILES = (50, 95, 99)
NAN = float("nan")


@dataclass(frozen=True, slots=True)
class Row:
    """One attempt at one problem. Times [s] are of the planner's own clock; ``nan`` if there is none.

    ``path`` and ``motion``: the referee's ruling on the geometric path and the timed trajectory, None if not found.
    """

    id: str
    scene: str
    plan_s: float
    simplified_s: float
    full_s: float
    path: Ruling | None
    motion: Ruling | None
    duration_s: float = NAN
    why: str = ""


def markdown(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table; the first column is text, the others are numbers.

    Args:
        heads: Heads of the columns.
        lines: Cells of the rows.
    """
    rule = ["---", *["---:"] * (len(heads) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in (heads, rule, *lines))


def percentiles(seconds: Sequence[float]) -> list[str]:
    """Return p50, p95, p99 in ms, without nan; ``-`` if nothing is left.

    Args:
        seconds: Times, s.
    """
    values = np.array([s for s in seconds if np.isfinite(s)])
    if len(values) == 0:
        return ["-"] * len(PERCENTILES)
    return [f"{1e3 * value:.3g}" for value in np.percentile(values, PERCENTILES)]


def share(part: Sequence[bool]) -> str:
    """Return the share of True, %.

    Args:
        part: Truth values.
    """
    return f"{100.0 * sum(part) / len(part):.1f}" if part else "-"


PATH_HEADS = (
    "geometric",
    "n",
    "solved %",
    "clean %",
    *(f"plan p{p}" for p in PERCENTILES),
    *(f"and simplify p{p}" for p in PERCENTILES),
    "length p50",
    "depth mm",
)
FULL_HEADS = (
    "full plan",
    "n",
    "solved %",
    "clean %",
    "in rates %",
    *(f"p{p}" for p in PERCENTILES),
    "length p50",
    "depth mm",
    "motion s p50",
)


def tables(rows: Sequence[Row], limit_s: float) -> str:
    """Return tables with one line per scene and one for all; times in ms, lengths in rad, deepest penetration in mm.

    Args:
        rows: The attempts.
        limit_s: Largest time of a solved attempt, s.
    """
    scenes = list(dict.fromkeys(row.scene for row in rows))
    parts = [*((scene, [row for row in rows if row.scene == scene]) for scene in scenes), ("**all**", rows)]
    found = []
    if any(np.isfinite(row.plan_s) for row in rows):
        found.append(markdown(PATH_HEADS, [_path_line(name, part, limit_s) for name, part in parts]))
    if any(np.isfinite(row.full_s) for row in rows):
        found.append(markdown(FULL_HEADS, [_full_line(name, part, limit_s) for name, part in parts]))
    return "\n\n".join(found)


def _path_line(name: str, rows: Sequence[Row], limit_s: float) -> list[str]:
    good = [row for row in rows if row.path is not None]
    return [
        name,
        str(len(rows)),
        share([row.path is not None and row.plan_s <= limit_s for row in rows]),
        share([row.path.clean for row in rows if row.path is not None]),
        *percentiles([row.plan_s for row in good]),
        *percentiles([row.simplified_s for row in good]),
        *_shape([row.path for row in good]),
    ]


def _full_line(name: str, rows: Sequence[Row], limit_s: float) -> list[str]:
    good = [row for row in rows if row.motion is not None]
    return [
        name,
        str(len(rows)),
        share([row.motion is not None and row.full_s <= limit_s for row in rows]),
        share([row.motion.clean for row in rows if row.motion is not None]),
        share([row.motion.in_rates for row in rows if row.motion is not None]),
        *percentiles([row.full_s for row in good]),
        *_shape([row.motion for row in good]),
        f"{np.median([row.duration_s for row in good]):.2f}" if good else "-",
    ]


def _shape(rulings: Sequence[Ruling | None]) -> list[str]:
    """Return the median length [rad] and the deepest penetration [mm]."""
    known = [r for r in rulings if r is not None]
    if not known:
        return ["-", "-"]
    return [f"{np.median([r.length_rad for r in known]):.2f}", f"{1e3 * max(r.depth_m for r in known):.1f}"]


def faults(rows: Sequence[Row], most: int = 12) -> list[str]:
    """Return the attempts that were not solved, not clean or too fast, with reasons, as a list.

    Args:
        rows: The attempts.
        most: Largest number of lines.
    """
    found = [f"{row.id}: {row.why}" for row in rows if row.why]
    for row in rows:
        for what, ruling in (("path", row.path), ("motion", row.motion)):
            if ruling is not None and not (ruling.clean and ruling.in_rates):
                found.append(f"{row.id}: {what}: {_words(ruling)}")
    return [f"- {line}" for line in found[:most]] + (
        [f"- ... and {len(found) - most} more"] if len(found) > most else []
    )


def _words(ruling: Ruling) -> str:
    wrong = [
        word
        for word, good in (("wrong end", ruling.ends), ("beyond joint limits", ruling.limits))
        if not good
    ]
    rates = [f"{name} {value:.3g}" for name, value in ruling.rates.items()]
    deep = f"world {1e3 * ruling.world_m:.1f} mm, self {1e3 * ruling.self_m:.1f} mm"
    return ", ".join([*wrong, deep, *rates])


RATIO_HEADS = (
    "times slower than Handiwork",
    *(f"{what} p{p}" for what in ("plan", "and simplify", "full") for p in (50, 95)),
    "solved %",
    "clean %",
    "motions clean %",
)


def ratios(name: str, rows: Sequence[Row], ours: Sequence[Row], limit_s: float) -> list[str]:
    """Return one line: ``rows`` against ``ours`` at the median and at p95, and their quality.

    Args:
        name: Label of the line.
        rows: A planner's attempts.
        ours: The product's attempts.
        limit_s: Largest time of a solved attempt, s.
    """
    picks = (
        lambda r: r.plan_s if r.path else NAN,
        lambda r: r.simplified_s if r.path else NAN,
        lambda r: r.full_s if r.motion else NAN,
    )
    return [
        name,
        *(_ratio(rows, ours, pick, p) for pick in picks for p in (50, 95)),
        share([r.path is not None and r.plan_s <= limit_s for r in rows]),
        share([r.path.clean for r in rows if r.path is not None]),
        share([r.motion.clean for r in rows if r.motion is not None]),
    ]


def _ratio(rows: Sequence[Row], ours: Sequence[Row], pick: Callable[[Row], float], p: int) -> str:
    theirs, mine = ([v for v in map(pick, part) if np.isfinite(v)] for part in (rows, ours))
    return f"{np.percentile(theirs, p) / np.percentile(mine, p):.1f}" if theirs and mine else "-"
