"""A straight line through the memory of a process, with the standard error of its slope."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array

MB = 1e6
LEAST_SAMPLES = 5


@dataclass(frozen=True)
class Growth:
    """A line through the memory of one process.

    Attributes:
        samples: Number of samples after the warm-up.
        first_mb: Memory at the first of them, MB.
        last_mb: Memory at the last of them, MB.
        slope_mb_h: Slope of the line, MB/h.
        error_mb_h: Standard error of the slope, MB/h, for residuals that follow each other as in an AR(1) process.
        hours: Time from the first to the last sample, h.
    """

    samples: int
    first_mb: float
    last_mb: float
    slope_mb_h: float
    error_mb_h: float
    hours: float = 0.0


def growth(times_s: Array, rss_bytes: Array, warm_up_s: float) -> Growth | None:
    """Fit a line by least squares.

    Args:
        times_s: Time since the process was first seen, (n,), s.
        rss_bytes: Its memory, (n,), bytes.
        warm_up_s: Earlier samples do not count, s.

    Returns:
        The line; None with fewer than ``LEAST_SAMPLES`` samples after the warm-up.
    """
    used = times_s >= warm_up_s
    if int(used.sum()) < LEAST_SAMPLES:
        return None
    hours, mb = times_s[used] / 3600.0, rss_bytes[used] / MB
    centred = hours - hours.mean()
    spread = float(centred @ centred)
    slope = float(centred @ mb) / spread
    left = mb - mb.mean() - slope * centred
    error = float(np.sqrt(left @ left / max(len(mb) - 2, 1) / spread)) * correlation_factor(left)
    return Growth(len(mb), float(mb[0]), float(mb[-1]), slope, error, float(hours[-1] - hours[0]))


def correlation_factor(residuals: Array) -> float:
    """Return the factor of a standard error for residuals that are alike when they are close in time.

    Args:
        residuals: Residuals at equal intervals, (n,).

    Returns:
        sqrt((1 + r) / (1 - r)) with r, the correlation of neighbours; at least 1.
    """
    power = float(residuals @ residuals)
    if power <= 0.0:
        return 1.0
    r = float(np.clip(residuals[1:] @ residuals[:-1] / power, 0.0, 0.999))
    return float(np.sqrt((1.0 + r) / (1.0 - r)))


def table(growths: dict[str, Growth], goals_h: float = 0.0) -> str:
    """Return the growths as Markdown.

    Args:
        growths: Growth of each process.
        goals_h: Goals per hour; 0 if they were not counted.
    """
    lines = [
        "| process | samples | hours | first, MB | last, MB | slope, MB/h | standard error | MB/1,000 goals |"
    ]
    lines.append("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, g in growths.items():
        each = f"{1e3 * g.slope_mb_h / goals_h:+.2f}" if goals_h > 0.0 else "-"
        lines.append(
            f"| {name} | {g.samples} | {g.hours:.2f} | {g.first_mb:.1f} | {g.last_mb:.1f} | {g.slope_mb_h:+.2f} "
            f"| {g.error_mb_h:.2f} | {each} |"
        )
    return "\n".join(lines)
