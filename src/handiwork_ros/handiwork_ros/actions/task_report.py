"""How a task ended, as values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from handiwork_msgs.action import RunTask
from handiwork_msgs.msg import TaskEntry as TaskEntryMsg

from handiwork_core.contracts.skill import Progress
from handiwork_core.model.outcome import Code, Outcome
from handiwork_ros.conversions import goal_outcome_from_msg

from .skill_report import SkillReport, progress_from_msg, report_from_msg


class EntryState(IntEnum):
    """What became of one skill of a task; numbers equal those in ``TaskEntry.msg``."""

    NOT_STARTED = TaskEntryMsg.NOT_STARTED
    RUNNING = TaskEntryMsg.RUNNING
    SUCCEEDED = TaskEntryMsg.SUCCEEDED
    FAILED = TaskEntryMsg.FAILED
    SKIPPED = TaskEntryMsg.SKIPPED


@dataclass(frozen=True)
class EntryReport:
    """One skill of a task: where it stands in the file, and how it ended."""

    path: str
    step: str
    arm: str
    skill: str
    state: EntryState
    report: SkillReport


@dataclass(frozen=True)
class TaskReport:
    """How a task ended; ``resume_from`` is the step to begin at next time, ``seed`` repeats the episode."""

    outcome: Outcome
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    entries: tuple[EntryReport, ...] = ()
    resume_from: str = ""
    seed: int = 0
    duration_s: float = 0.0

    @property
    def ok(self) -> bool:
        """True when every skill succeeded, or the check found nothing."""
        return self.outcome.ok


@dataclass(frozen=True)
class TaskFeedback:
    """The skill that runs, and how many of all have ended."""

    step: str
    arm: str
    skill: str
    done: int
    count: int
    progress: Progress


def task_report_from_msg(status: int, message: RunTask.Result) -> TaskReport:
    """Read the result of a goal that ended with ``status``; see ``goal_outcome_from_msg``.

    Raises:
        ValueError: an entry is malformed.
    """
    entries = (
        EntryReport(e.path, e.step, e.arm, e.skill, EntryState(e.state), _entry_report(e))
        for e in message.entries
    )
    return TaskReport(
        goal_outcome_from_msg(status, message.outcome),
        tuple(message.faults),
        tuple(message.notes),
        tuple(entries),
        message.resume_from,
        message.seed,
        message.duration,
    )


def _entry_report(entry: TaskEntryMsg) -> SkillReport:
    """Return how a skill ended; the report of one that has not ended has the code UNSET."""
    if entry.state in (EntryState.SUCCEEDED, EntryState.FAILED):
        return report_from_msg(entry.result)
    return SkillReport(Outcome(Code.UNSET))


def task_feedback_from_msg(message: RunTask.Feedback) -> TaskFeedback:
    """One to one."""
    progress = progress_from_msg(message.feedback)
    return TaskFeedback(message.step, message.arm, message.skill, message.done, message.count, progress)
