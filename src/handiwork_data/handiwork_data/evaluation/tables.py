"""Tables of results as Markdown, with columns that line up. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from .rows import EpisodeRow
from .statistics import Share, wilson

Results = Mapping[str, Sequence[EpisodeRow]]
"""Rows by task."""
ALL = "all"
FAULTS = ("wrong_object", "dropped", "bumped")
"""Events that are faults."""
TASK_COLUMNS = (
    "task", "episodes", "success", "rate %", "95 % interval", "at peak", "score", "score peak", "first true s",
    "confirmed s", "duration s", "path m", "speed m/s", "SPARC",
)  # fmt: skip


def tables(results: Results) -> str:
    """Return the tables of tasks, subtasks and failures.

    Args:
        results: Rows by task.
    """
    parts = {
        "Tasks": task_table(results),
        "Subtasks": subtask_table(results),
        "Failures": failure_table(results),
        "Time": time_table(results),
    }
    return "\n\n".join(f"{title}\n\n{text}" for title, text in parts.items() if text)


def task_table(results: Results) -> str:
    """Return one line for each task, and one for all.

    Args:
        results: Rows by task.
    """
    lines = [[name, *_task_cells(rows)] for name, rows in _with_all(results)]
    return markdown(TASK_COLUMNS, lines)


def _task_cells(rows: Sequence[EpisodeRow]) -> list[str]:
    rate = wilson(sum(row.success for row in rows), len(rows))
    return [
        str(len(rows)),
        str(rate.count),
        percent(rate.value),
        interval(rate),
        str(sum(row.success_at_peak for row in rows)),
        _mean([row.score for row in rows]),
        _mean([row.score_peak for row in rows]),
        _mean([row.success_first_hold_s for row in rows]),
        _mean([row.success_confirmed_s for row in rows]),
        _mean([row.duration for row in rows]),
        _mean([row.metrics.get("ee_path_length") for row in rows]),
        _mean([row.metrics.get("ee_speed_mean") for row in rows]),
        _mean([row.metrics.get("ee_sparc") for row in rows]),
    ]


def subtask_table(results: Results) -> str:
    """Return one line for each subtask of each task: how often it was TRUE at some time, and at the end.

    Args:
        results: Rows by task.
    """
    lines = list[list[str]]()
    for name, rows in results.items():
        texts = dict.fromkeys(one.condition for row in rows for one in row.subtasks)
        for text in texts:
            of = [one for row in rows for one in row.subtasks if one.condition == text]
            reached = wilson(sum(one.first_true_s is not None for one in of), len(of))
            at_end = sum(one.is_true for one in of)
            first = _mean([one.first_true_s for one in of])
            lines.append(
                [name, text, f"{reached.count} of {reached.total}", percent(reached.value), interval(reached),
                 str(at_end), first]
            )  # fmt: skip
    columns = ("task", "subtask", "reached", "rate %", "95 % interval", "true at end", "first true s")
    return markdown(columns, lines) if lines else ""


def failure_table(results: Results) -> str:
    """Return for each task how its failures ended, and how many of them have which event.

    Args:
        results: Rows by task.
    """
    lines = list[list[str]]()
    for name, rows in _with_all(results):
        failed = [row for row in rows if not row.success]
        if not failed:
            continue
        ends = Counter(row.end for row in failed)
        said = ", ".join(f"{end} {count}" for end, count in ends.most_common())
        with_event = [str(sum(row.events.get(kind, 0) > 0 for row in failed)) for kind in FAULTS]
        never = str(sum(not row.events.get("grasped", 0) for row in failed))
        lost = str(sum(row.success_at_peak for row in failed))
        lines.append([name, str(len(failed)), never, *with_event, lost, said])
    columns = ("task", "failed", "no grasp", "wrong object", "dropped", "bumped", "success lost", "ends")
    return markdown(columns, lines) if lines else ""


def time_table(results: Results) -> str:
    """Return for each task the latency of the policy, late steps and what the guard changed.

    Args:
        results: Rows by task.
    """
    lines = list[list[str]]()
    for name, rows in _with_all(results):
        latency = [value for row in rows for value in row.inference_ms]
        p50, p95 = np.percentile(latency, [50, 95]) if latency else (float("nan"), float("nan"))
        steps = sum(row.episode_step for row in rows)
        late, changed = sum(row.late_steps for row in rows), sum(sum(row.guard.values()) for row in rows)
        wall = _mean([row.wall_s for row in rows])
        lines.append(
            [name, str(len(latency)), f"{p50:.1f}", f"{p95:.1f}", str(steps), str(late), str(changed), wall]
        )
    columns = ("task", "answers", "p50 ms", "p95 ms", "steps", "late steps", "guard changes", "wall s")
    return markdown(columns, lines)


@dataclass(frozen=True)
class Summary:
    """Numbers of an evaluation for one line.

    Attributes:
        rate: Share of successes.
        episodes: Number of episodes.
    """

    rate: Share
    episodes: int


def summary(rows: Iterable[EpisodeRow]) -> Summary:
    """Return the numbers of some rows.

    Args:
        rows: The rows.
    """
    kept = list(rows)
    return Summary(wilson(sum(row.success for row in kept), len(kept)), len(kept))


def markdown(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table whose columns line up; numbers are at the right.

    Args:
        columns: Heads of the columns.
        lines: Cells.
    """
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in line] for line in (columns, *lines)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    right = [all(_is_number(line[i]) for line in cells[1:]) for i in range(len(widths))]

    def joined(line: Sequence[str]) -> str:
        parts = (
            one.rjust(width) if is_right else one.ljust(width)
            for one, width, is_right in zip(line, widths, right, strict=True)
        )
        return f"| {' | '.join(parts)} |"

    rule = "|".join(
        f"{'-' * (width + 1)}{':' if is_right else '-'}"
        for width, is_right in zip(widths, right, strict=True)
    )
    return "\n".join([joined(cells[0]), f"|{rule}|", *map(joined, cells[1:])])


def percent(share: float) -> str:
    """Return a share in percent.

    Args:
        share: The share, -1 to 1.
    """
    return f"{100.0 * share:.1f}"


def interval(share: Share) -> str:
    """Return the interval of a share in percent.

    Args:
        share: The share.
    """
    return f"{100.0 * share.low:.1f} to {100.0 * share.high:.1f}"


def _with_all(results: Results) -> list[tuple[str, Sequence[EpisodeRow]]]:
    """Return the tasks, and their sum where there are several."""
    found = list(results.items())
    if len(found) > 1:
        found.append((ALL, [row for rows in results.values() for row in rows]))
    return found


def _mean(values: Sequence[float | None]) -> str:
    kept = [value for value in values if value is not None]
    return f"{fmean(kept):.2f}" if kept else "-"


def _is_number(text: str) -> bool:
    return text == "-" or text.replace(".", "", 1).replace("-", "", 1).isdigit()
