"""The output of running skills for a person: stages as they end, then a table."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from handiwork_core.contracts.skill import Progress
    from handiwork_ros.actions.skill_report import SkillPreview
    from handiwork_ros.clients.skill_client import SkillReport


class StageLines:
    """Feedback callback that prints each stage when it ends: wall time and planning time.

    The planning time of a stage may arrive just after the start of the next one, so a line waits for one more feedback.

    Args:
        write: Receives the lines.
    """

    def __init__(self, write: Callable[[str], None] = print) -> None:
        self._write = write
        self._since_s = time.monotonic()
        self._now: Progress | None = None
        self._took_s = 0.0
        self._ended = ""
        self._planning_s: dict[str, float] = {}

    def __call__(self, progress: Progress) -> None:
        """Take one feedback."""
        stage = progress.stage
        self._planning_s[stage] = max(progress.planning_time_s, self._planning_s.get(stage, 0.0))
        if self._now is None:
            self._now = progress
        elif progress.index > self._now.index:
            self._flush()
            self._close(self._now)
            self._now = progress
        elif stage == self._ended:
            self._flush()

    def end(self, report: SkillReport) -> None:
        """Print the remaining line: the last stage, with the outcome when it failed.

        Args:
            report: Result of the skill.
        """
        self._flush()
        if self._now is not None:
            self._close(self._now)
            self._flush("" if report.ok else f"  {report.outcome.code.name}")

    def _close(self, stage: Progress) -> None:
        now_s = time.monotonic()
        self._took_s, self._since_s, self._ended = now_s - self._since_s, now_s, stage.stage

    def _flush(self, note: str = "") -> None:
        if self._ended:
            planning_ms = 1e3 * self._planning_s[self._ended]
            self._write(f"  {self._ended:<22}{self._took_s:>6.2f} s, planning {planning_ms:>4.0f} ms{note}")
            self._ended = ""


def print_table(reports: Mapping[str, SkillReport]) -> None:
    """Print each stage of each skill: duration in the world's time, planning time, result.

    Args:
        reports: Name of the skill -> its result.
    """
    wide = max([6, *(len(skill) for skill in reports)]) + 1
    print(f"\n{'skill':<{wide}}{'stage':<22}{'duration':>10}{'planning':>11}  result")
    for skill, report in reports.items():
        for stage in report.stages:
            times = f"{stage.duration_s:>8.2f} s{1e3 * stage.planning_time_s:>8.0f} ms"
            print(f"{skill:<{wide}}{stage.name:<22}{times}  {stage.code.name}")
        total = f"{report.duration_s:>8.2f} s{1e3 * report.planning_time_s:>8.0f} ms"
        outcome = report.outcome
        print(
            f"{skill:<{wide}}{'in all':<22}{total}  {outcome.code.name} {outcome.message}".rstrip(),
            flush=True,
        )
        if report.bundle:
            print(f"what happened: handiwork explain {report.bundle}", flush=True)


def print_preview(plan: SkillPreview | None) -> None:
    """Print the motions of a preview, and how to execute it; nothing without one.

    Args:
        plan: Plan of a skill or of a task.
    """
    if plan is None:
        return
    wide = max([20, *(len(motion.name) for motion in plan.motions)]) + 2
    print(f"\n{'motion':<{wide}}{'duration':>10}{'tool path':>13}")
    for motion in plan.motions:
        duration_s, length_mm = motion.trajectory.duration_s, 1e3 * motion.path_length_m
        print(f"{motion.name:<{wide}}{duration_s:>8.2f} s{length_mm:>10.0f} mm")
    print(f"{'in all':<{wide}}{plan.motion_time_s:>8.2f} s{1e3 * plan.path_length_m:>10.0f} mm")
    print(f"within {plan.kept_for_s:.0f} s: handiwork execute {plan.plan_id}", flush=True)
