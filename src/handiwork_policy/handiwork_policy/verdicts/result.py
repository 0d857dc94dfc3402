"""The result of a run of a policy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

SUCCESS = "success"
TIME_OVER = "time_over"
GUARD_REFUSED = "guard_refused"
SERVER_SILENT = "server_silent"
SERVER_FAULT = "server_fault"
CAMERA_FAULT = "camera_fault"
STOPPED = "stopped"
CONTROLLER_REFUSED = "controller_refused"
"""Ends of a run."""
DATA = "; result: "
"""Text between the sentence and the JSON of a result in a message."""


@dataclass(frozen=True)
class SubtaskResult:
    """One subtask.

    Attributes:
        condition: Its condition.
        first_true_s: Time at which it first was TRUE, s from the beginning; None: never.
        is_true: It was TRUE at the end.
    """

    condition: str
    first_true_s: float | None
    is_true: bool


@dataclass(frozen=True)
class PolicyEvent:
    """Something that a judge of policies counts.

    Attributes:
        kind: ``grasped``, ``released``, ``dropped``, ``wrong_object`` or ``bumped``.
        what: The object, or the two bodies.
        time_s: Time, s from the beginning.
    """

    kind: str
    what: str
    time_s: float


@dataclass(frozen=True)
class PolicyResult:
    """How a run ended.

    Attributes:
        end: How the run ended: ``SUCCESS``, or another of the names above.
        message: The reason in one sentence.
        success: ``until`` was confirmed when the run ended.
        success_at_peak: It was confirmed at some time.
        first_true_s: Time at which ``until`` first was TRUE, s from the beginning; None: never.
        confirmed_s: Time at which it was first confirmed; None: never.
        peak: Greatest progress, 0 to 1.
        final: Progress at the end, 0 to 1.
        verdict: The monitor's sentence at the end.
        subtasks: The subtasks.
        events: Events, in order.
        duration_s: Time of the run, s.
        steps: Number of commands.
        chunks: Number of chunks.
        late_steps: Number of steps in which the arm braked for want of a command.
        inference_ms: Latency of the answers: p50, p95 and greatest, ms.
        step_ms: Time that a step of the loop takes from its look at the world to its command: p50, p95 and p99, ms.
            Only in lock-step it has the wait for the server in it.
        guard: Number of commands that the guard changed, by kind.
        guard_changed: Number of commands that it changed.
        guard_reasons: The commonest reasons with their counts.
        answers_ms: Latency of each answer, in order, ms.
    """

    end: str
    message: str
    success: bool
    success_at_peak: bool
    first_true_s: float | None
    confirmed_s: float | None
    peak: float
    final: float
    verdict: str
    subtasks: tuple[SubtaskResult, ...]
    events: tuple[PolicyEvent, ...]
    duration_s: float
    steps: int
    chunks: int
    late_steps: int
    inference_ms: tuple[float, float, float]
    step_ms: tuple[float, float, float] = (0.0, 0.0, 0.0)
    guard: Mapping[str, int] = field(default_factory=dict)
    guard_changed: int = 0
    guard_reasons: Mapping[str, int] = field(default_factory=dict)
    answers_ms: tuple[float, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return it as values that JSON can hold."""
        return asdict(self)


def policy_result(message: str) -> dict[str, Any] | None:
    """Return the result that the message of a goal of ``run_policy`` carries; None without one.

    Args:
        message: Message of the outcome.
    """
    _, found, data = message.partition(DATA)
    if not found:
        return None
    try:
        value = json.loads(data[: data.rindex("}") + 1])
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
