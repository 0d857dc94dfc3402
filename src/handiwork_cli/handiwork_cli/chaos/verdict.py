"""The findings of a chaos run: endings, motions, recoveries and memory, and whether they are as promised. No ROS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from handiwork_cli.processes.interrupts import INTERRUPTED
from handiwork_cli.processes.memory import Memory, memory_lines
from handiwork_core.model.outcome import Code

from .trials import FaultKind, Trial

LOSSES = frozenset(
    {Code.UNRESPONSIVE, Code.ROBOT_LOST, Code.PLANNER_LOST, Code.STALE_WORLD, Code.NOT_ACTIVE, Code.INTERNAL}
)
"""Codes that report the loss of a node, the robot or the world."""

BOUND_S = 60.0
"""A goal must have ended within this steady time."""
RECOVERY_BOUND_S = 60.0
"""Every node must be active again this long after the last fault was over [s of steady time]."""
SETTLE_S = 0.5
"""The steady time after the end of a goal in which measurements of its motion may still arrive, s."""


@dataclass(frozen=True, slots=True)
class TrialEnding:
    """The end of one trial. Times are steady [s].

    Attributes:
        trial: The trial.
        code: Reported code.
        message: Reported message.
        took_s: Time from the goal to its end.
        contradiction: Reason why the reported OK is false; empty when it is true.
        succeeded_later: Whether the server reported success after the client had given the goal up.
        recovery_s: Time until every node was active again; None when one was not.
    """

    trial: Trial
    code: Code
    message: str
    took_s: float
    contradiction: str = ""
    succeeded_later: bool = False
    recovery_s: float | None = None

    @property
    def is_false_ok(self) -> bool:
        """True when OK was reported for a goal that is not done."""
        return self.code is Code.OK and bool(self.contradiction)

    @property
    def is_false_end(self) -> bool:
        """True when the goal was given up without need."""
        blamed = self.code in LOSSES and not self.trial.may_be_lost
        return (self.succeeded_later and not self.trial.is_cut_off) or blamed

    @property
    def is_lost(self) -> bool:
        """True when the goal did not end in time."""
        return self.took_s > BOUND_S

    @property
    def faults(self) -> tuple[str, ...]:
        """The faults of this end as texts."""
        found = []
        if self.is_false_ok:
            found.append(f"false OK: {self.contradiction}")
        if self.is_false_end:
            later = "the server reported success later" if self.succeeded_later else "nothing was lost"
            found.append(f"false end: {self.code.name}: {self.message} ({later})")
        if self.is_lost:
            found.append(f"no end within {BOUND_S:.0f} s")
        if self.recovery_s is None:
            found.append(f"a node was not active {RECOVERY_BOUND_S:.0f} s after the last fault")
        return tuple(found)


@dataclass(frozen=True, slots=True)
class UnaskedMotion:
    """A joint that moved while no goal ran.

    Attributes:
        trial: Index of the trial before which it moved.
        joint: Name of the joint.
        speed: Greatest speed, rad/s or m/s.
    """

    trial: int
    joint: str
    speed: float


@dataclass
class Findings:
    """All findings of a run so far."""

    seed: int
    endings: list[TrialEnding] = field(default_factory=list)
    motions: list[UnaskedMotion] = field(default_factory=list)
    greatest_force_n: float = 0.0
    force_bodies: tuple[str, str] | None = None
    memory: list[Memory] = field(default_factory=list)
    not_injected: dict[str, str] = field(default_factory=dict)
    """Faults that could not be injected, with the reason."""
    not_as_promised: dict[str, str] = field(default_factory=dict)
    """Faults at which the stack accepted a bad request or did not serve again, with what it did."""
    greatest_wall_force_n: float = 0.0
    """The greatest force of the arm on a wall that appeared, N; it may have appeared within the arm."""
    is_cut_short: bool = False
    """True when the run was ended from outside."""

    def counts(self) -> Mapping[str, int]:
        """Return the numbers that must be zero, by name."""
        return {
            "false OK": sum(end.is_false_ok for end in self.endings),
            "false endings": sum(end.is_false_end for end in self.endings),
            "lost": sum(end.is_lost for end in self.endings),
            "motions without a goal": len(self.motions),
            "not recovered": sum(end.recovery_s is None for end in self.endings),
            "not as promised": len(self.not_as_promised),
        }

    @property
    def is_good(self) -> bool:
        """True when goals ran and every count is zero."""
        return bool(self.endings) and not any(self.counts().values())

    @property
    def exit_code(self) -> int:
        """The exit code: 1 when a promise was broken, else ``INTERRUPTED`` for a run that was cut short."""
        if self.is_cut_short and not any(self.counts().values()):
            return INTERRUPTED
        return 0 if self.is_good else 1

    def lines(self) -> list[str]:
        """Return the report."""
        ends = Counter(end.code.name for end in self.endings)
        faults = Counter(fault.kind.value for end in self.endings for fault in end.trial.faults)
        recoveries = [
            end.recovery_s for end in self.endings if end.recovery_s is not None and end.trial.faults
        ]
        force = f" ({' and '.join(self.force_bodies)})" if self.force_bodies else ""
        cut = ["ended early by a signal; the report is of the goals before it"] if self.is_cut_short else []
        return [
            *cut,
            f"{len(self.endings)} goals, seed {self.seed}: "
            + ", ".join(f"{count} {name}" for name, count in self.counts().items()),
            "endings: " + ", ".join(f"{name} {count}" for name, count in ends.most_common()),
            "faults: " + (", ".join(f"{name} {count}" for name, count in sorted(faults.items())) or "none"),
            *(f"not injected: {name}: {why}" for name, why in sorted(self.not_injected.items())),
            *(f"not as promised: {name}: {why}" for name, why in sorted(self.not_as_promised.items())),
            f"time to the end: {_percentiles([end.took_s for end in self.endings])}",
            f"recovery of all nodes after the last fault: {_percentiles(recoveries)}",
            f"greatest force of the arm on a fixture: {self.greatest_force_n:.0f} N{force}",
            *_wall_lines(faults, self.greatest_wall_force_n),
            *memory_lines(self.memory),
            *(f"trial {m.trial}: {m.joint} moved at {m.speed:.2f} without a goal" for m in self.motions),
            *(
                f"trial {end.trial.index} ({end.trial.goal.value}; "
                f"{'; '.join(fault.text for fault in end.trial.faults) or 'no fault'}): {text}"
                for end in self.endings
                for text in end.faults
            ),
        ]


def _wall_lines(faults: Counter[str], force_n: float) -> list[str]:
    count = faults[FaultKind.WALL.value]
    return (
        [f"greatest force of the arm on a wall that appeared: {force_n:.0f} N (n = {count})"] if count else []
    )


def _percentiles(values: Sequence[float]) -> str:
    if not values:
        return "none measured"
    parts = (f"p{rank} {float(np.percentile(values, rank)):.2f} s" for rank in (50, 95, 100))
    return f"{', '.join(parts)} (n = {len(values)})"
