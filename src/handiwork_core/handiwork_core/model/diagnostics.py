"""The content of ``/diagnostics`` of a node, as values; levels are those of ``diagnostic_msgs``. No ROS."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from handiwork_core.intake.counters import IntakeStatistics

DELAY_WARN_S = 0.1
"""A node whose timers come this late answers late [s]."""
DELAY_ERROR_S = 0.5
"""A node whose timers come this late misses deadlines of others [s]."""


class Level(IntEnum):
    """Severity; numbers equal those in ``diagnostic_msgs/msg/DiagnosticStatus``."""

    OK = 0
    WARN = 1
    ERROR = 2
    STALE = 3


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One component of a node: its level, one sentence, and named values as text."""

    name: str
    level: Level
    message: str
    values: Mapping[str, str] = field(default_factory=dict)


class RateMeter:
    """Rates of counters between two calls."""

    def __init__(self) -> None:
        self._before: dict[str, tuple[float, int]] = {}

    def rate_hz(self, name: str, count: int, now_s: float) -> float:
        """Return the rise of a counter per second since the last call.

        Args:
            name: Name of the counter.
            count: Its present value.
            now_s: Steady time, s.

        Returns:
            Rate, 1/s; nan at the first call.
        """
        before = self._before.get(name)
        self._before[name] = (now_s, count)
        if before is None or now_s <= before[0]:
            return math.nan
        return (count - before[1]) / (now_s - before[0])


def delay_diagnosis(delay_s: float) -> Diagnosis:
    """Return the diagnosis of the scheduling of a node.

    Args:
        delay_s: The greatest scheduling delay, s.
    """
    values = {"greatest delay [s]": f"{delay_s:.3f}"}
    if delay_s > DELAY_ERROR_S:
        text = f"callbacks came up to {delay_s:.2f} s late; give the machine less to do"
        return Diagnosis("scheduling", Level.ERROR, text, values)
    if delay_s > DELAY_WARN_S:
        return Diagnosis("scheduling", Level.WARN, f"callbacks came up to {delay_s:.2f} s late", values)
    return Diagnosis("scheduling", Level.OK, "callbacks are served in time", values)


def intake_diagnosis(found: IntakeStatistics, rate_hz: float, dropped_hz: float) -> Diagnosis:
    """Return the diagnosis of one topic that a node subscribes to.

    Args:
        found: Its counts.
        rate_hz: Rate of its messages, 1/s; nan if it is not known yet.
        dropped_hz: Rate of dropped messages, 1/s; nan if it is not known yet.
    """
    values = {
        "rate [Hz]": f"{rate_hz:.1f}",
        "age [s]": f"{found.good_age_s:.2f}",
        "received": str(found.received),
        "dropped": str(found.dropped),
        "last fault": found.last_fault,
        "publishers": ", ".join(str(one) for one in found.publishers),
    }
    name = f"intake of {found.topic}"
    if found.good_age_s == math.inf:
        return Diagnosis(name, Level.STALE, "no good message has come", values)
    if dropped_hz > 0.0:
        text = f"{dropped_hz:.0f} messages per second are dropped: {found.last_fault}"
        return Diagnosis(name, Level.ERROR, text, values)
    return Diagnosis(name, Level.OK, f"{rate_hz:.0f} messages per second", values)
