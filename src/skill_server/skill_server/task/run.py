"""Runs a task to its end or to the failure that no branch of it takes up."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace

from handiwork_core.contracts.skill import Token
from handiwork_core.model.outcome import Code, Outcome
from skill_server.preview.skill_plan import SkillPlan

from .interpreter import Interpreter
from .model import Task, arms_of
from .record import EntryEnd, Report, TaskRecord
from .resume import resume_text
from .scope import Ports
from .task_paths import TaskPath

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class TaskResult:
    """The end of a task.

    Attributes:
        outcome: Outcome; the first failure.
        task: Task; None when it could not be read.
        entries: Every skill with its end.
        resume_from: Where to begin next time, as ``task_paths.starts`` reads it; empty after success.
        duration_s: Duration in the robot's time, s.
        faults: Faults of the task file.
        plan: What the task would do, after a preview that found a way; else None.
    """

    outcome: Outcome
    task: Task | None = None
    entries: tuple[EntryEnd, ...] = ()
    resume_from: str = ""
    duration_s: float = 0.0
    faults: tuple[str, ...] = ()
    plan: SkillPlan | None = None


def run_task(
    task: Task, begin: Mapping[str, TaskPath], ports: Ports, token: Token, report: Report
) -> TaskResult:
    """Run a task to the end or the first failure; never raises.

    Args:
        task: Task.
        begin: Place of each arm to begin at; see ``task_paths.starts``. One that is left out begins at the beginning.
        ports: The robot and the monitor.
        token: Ends the task when it is set.
        report: Takes the progress.

    Returns:
        The outcome, with the end of every skill.
    """
    begin = {arm: begin.get(arm, ()) for node in task.steps for arm in arms_of(node)}
    begun_s, record = ports.clock.now_s(), TaskRecord(task, report, ports.held)
    text = ""
    try:
        outcome = Interpreter(task, ports, record).run(begin, token)
    except Exception as error:  # the arms are at rest; the caller needs to know which skills ran
        outcome = Outcome(Code.INTERNAL, f"the task raised {error!r}; see the skill server's log")
        log.exception("task %r raised", task.name)
    if not outcome.ok:
        text, asks = resume_text(task, record.ran, record.stopped_at, begin, ports.held)
        if asks:
            ask = f"{' and '.join(asks)}: change that before the task goes on"
            outcome = replace(outcome, message=f"{outcome.message}; {ask}")
    return TaskResult(outcome, task, record.ends(), text, ports.clock.now_s() - begun_s)
