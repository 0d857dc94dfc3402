"""Reports of tasks, read from their messages."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from handiwork_msgs.action import RunTask
from handiwork_msgs.msg import TaskEntry as TaskEntryMsg

from handiwork_core.contracts.skill import Progress
from handiwork_core.model.outcome import Code, Outcome
from handiwork_ros.conversions import goal_outcome_from_msg

from .skill_report import SkillPreview, SkillReport, preview_from_msg, progress_from_msg, report_from_msg


class EntryState(IntEnum):
    """The state of one skill of a task; the numbers equal those in ``TaskEntry.msg``."""

    NOT_STARTED = TaskEntryMsg.NOT_STARTED
    RUNNING = TaskEntryMsg.RUNNING
    SUCCEEDED = TaskEntryMsg.SUCCEEDED
    FAILED = TaskEntryMsg.FAILED
    SKIPPED = TaskEntryMsg.SKIPPED


@dataclass(frozen=True)
class EntryReport:
    """One skill of a task.

    Attributes:
        path: Place of the skill in the task file.
        step: Name of its step.
        arm: Name of its arm.
        skill: Name of the skill.
        state: Its state.
        report: Its result; it has the code UNSET while there is none.
    """

    path: str
    step: str
    arm: str
    skill: str
    state: EntryState
    report: SkillReport


@dataclass(frozen=True)
class TaskReport:
    """The result of a task.

    Attributes:
        outcome: Outcome of the task.
        faults: Faults that the check found.
        notes: Remarks of the check that are no faults.
        entries: The skills of the task.
        resume_from: Where the next run should begin, as it takes it; empty for none.
        seed: Seed that repeats the episode.
        duration_s: Duration of the task, s.
        plan: What the task would do, after a goal with ``plan_only`` that found a way; else None.
    """

    outcome: Outcome
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    entries: tuple[EntryReport, ...] = ()
    resume_from: str = ""
    seed: int = 0
    duration_s: float = 0.0
    plan: SkillPreview | None = None

    @property
    def ok(self) -> bool:
        """True when every skill succeeded, or when the check found no fault."""
        return self.outcome.ok


@dataclass(frozen=True)
class TaskFeedback:
    """The skill that runs, and the progress of the task.

    Attributes:
        step: Name of the step.
        arm: Name of the arm; empty for a control node between steps.
        skill: Name of the skill; empty for a control node, whose stage says what it does.
        done: Number of skills that succeeded, now or in a run before.
        count: These, and the skills that may still run.
        progress: Progress of the skill that runs.
        count_is_bound: True when fewer may run, as conditions that are still to be decided say.
    """

    step: str
    arm: str
    skill: str
    done: int
    count: int
    progress: Progress
    count_is_bound: bool = False


def task_report_from_msg(status: int, message: RunTask.Result) -> TaskReport:
    """Read the result of a task's goal; see ``goal_outcome_from_msg``.

    Args:
        status: Status of ``action_msgs/msg/GoalStatus`` with which the goal ended.
        message: The result.

    Raises:
        ValueError: An entry is malformed.
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
        preview_from_msg(message.plan),
    )


def _entry_report(entry: TaskEntryMsg) -> SkillReport:
    """Return the report of a skill; that of a skill that has not ended has the code UNSET."""
    if entry.state in (EntryState.SUCCEEDED, EntryState.FAILED):
        return report_from_msg(entry.result)
    return SkillReport(Outcome(Code.UNSET))


def task_feedback_from_msg(message: RunTask.Feedback) -> TaskFeedback:
    """Convert a feedback message of a task.

    Args:
        message: The message.
    """
    progress = progress_from_msg(message.feedback)
    numbers = (message.done, message.count, progress, message.count_is_bound)
    return TaskFeedback(message.step, message.arm, message.skill, *numbers)
