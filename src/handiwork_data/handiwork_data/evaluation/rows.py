"""The result of one episode as a line of JSON. Its names are RoboLab's, where that has one for the same thing."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from handiwork_core.config.dataclass_loader import ConfigError, parse
from handiwork_policy.loop.settings import PolicySettings
from handiwork_policy.verdicts.result import PolicyEvent, PolicyResult, SubtaskResult


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """The result of one episode.

    Attributes:
        env_name: Name of the task in the folder of results.
        policy: Name of the policy.
        episode: Number of the episode, its seed.
        instruction: The sentence that the policy got.
        success: The success condition was confirmed at the end.
        success_at_peak: It was confirmed at some time.
        score: Progress at the end, 0 to 1.
        score_peak: Greatest progress, 0 to 1.
        success_first_hold_s: Time at which the condition first was TRUE, s from the beginning; None: never.
        success_confirmed_s: Time at which it was first confirmed, s; None: never.
        end: How the run ended, such as ``time_over``.
        reason: Why it ended, in one sentence.
        verdict: The monitor's sentence at the end.
        duration: Time of the run, s of the world.
        episode_step: Number of commands.
        dt: Time of a command, s.
        chunks: Number of chunks.
        late_steps: Number of steps in which the arm braked for want of a command.
        subtasks: The subtasks.
        events: Number of events by kind.
        event_log: The events, in order.
        metrics: Numbers of the path of the EE; see ``path_metrics``.
        inference_ms: Latency of each answer, ms of steady time.
        guard: Number of commands that the guard changed, by kind.
        wall_s: Time that the episode took here, s of steady time.
    """

    env_name: str
    policy: str
    episode: int
    instruction: str
    success: bool
    success_at_peak: bool
    score: float
    score_peak: float
    success_first_hold_s: float | None
    success_confirmed_s: float | None
    end: str
    reason: str
    verdict: str
    duration: float
    episode_step: int
    dt: float
    chunks: int
    late_steps: int
    subtasks: tuple[SubtaskResult, ...]
    events: Mapping[str, int]
    event_log: tuple[PolicyEvent, ...]
    metrics: Mapping[str, float]
    inference_ms: tuple[float, ...]
    guard: Mapping[str, int]
    wall_s: float

    def __post_init__(self) -> None:
        if not 0 <= self.episode < 2**31:
            raise ValueError(f"episode is {self.episode}; a number has 0 to 2147483647")


def row_of(
    found: PolicyResult,
    task: str,
    policy: str,
    episode: int,
    settings: PolicySettings,
    metrics: Mapping[str, float],
    wall_s: float,
) -> EpisodeRow:
    """Return the row of a result.

    Args:
        found: The result.
        task: Name of the task in the folder of results.
        policy: Name of the policy.
        episode: Number of the episode.
        settings: How the policy was run.
        metrics: Numbers of the path of the EE; see ``path_metrics``.
        wall_s: Time that the episode took here, s of steady time.
    """
    return EpisodeRow(
        env_name=task,
        policy=policy,
        episode=episode,
        instruction=settings.instruction,
        success=found.success,
        success_at_peak=found.success_at_peak,
        score=found.final,
        score_peak=found.peak,
        success_first_hold_s=found.first_true_s,
        success_confirmed_s=found.confirmed_s,
        end=found.end,
        reason=found.message,
        verdict=found.verdict,
        duration=found.duration_s,
        episode_step=found.steps,
        dt=1.0 / settings.rate_hz,
        chunks=found.chunks,
        late_steps=found.late_steps,
        subtasks=found.subtasks,
        events=dict(Counter(event.kind for event in found.events)),
        event_log=found.events,
        metrics=metrics,
        inference_ms=found.answers_ms,
        guard=dict(found.guard),
        wall_s=round(wall_s, 3),
    )


def line_of(row: EpisodeRow) -> str:
    """Return the line of a row, with its end.

    Args:
        row: The row.
    """
    return json.dumps(asdict(row), sort_keys=True, allow_nan=False) + "\n"


def read_line(line: str) -> EpisodeRow | None:
    """Return the row of a line; None for a line that was cut, or is none of this version.

    Args:
        line: The line.
    """
    try:
        found = parse(EpisodeRow, json.loads(line), "row")
    except (ConfigError, ValueError, RecursionError):
        return None
    return found if all(map(math.isfinite, (found.score, found.score_peak, found.duration))) else None
