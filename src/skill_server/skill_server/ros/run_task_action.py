"""The action ``run_task``: a whole task file, checked before any motion, on arms that it owns from start to end."""

from __future__ import annotations

from typing import Any

from handiwork_msgs.action import RunTask
from handiwork_msgs.msg import SkillResult, TaskEntry

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_ros.actions.skill_binding import ArmRequest, GoalRejected, SkillBinding
from handiwork_ros.conversions import outcome_to_msg
from skill_server.params.registry import Catalog
from skill_server.task.model import Task
from skill_server.task.read import Site, read_task
from skill_server.task.resume import skipped
from skill_server.task.run import (
    EntryEnd,
    TaskEntryState,
    TaskProgress,
    TaskResult,
    run_task,
)

from .admission import Gate
from .result_encoding import feedback_to_msg, result_to_msg

ACTION = "run_task"
HOLDER = "run_task"


def run_task_binding(gate: Gate, catalog: Catalog) -> SkillBinding[TaskResult]:
    """Return the binding of the action ``run_task``.

    Args:
        gate: Admission of goals.
        catalog: Known skills.

    Returns:
        The binding for a ``SkillActionServer``.
    """

    def admit(goal: Any) -> ArmRequest[TaskResult]:
        site = Site(catalog, gate.robot, gate.world(), gate.source.world_T_base(), gate.roots)
        task, done = _checked(goal, site)
        if goal.check_only:
            raise GoalRejected(OK, TaskResult(OK, task, _untouched(task)))
        arms = {entry.arm for entry in task.entries if entry.path not in done}
        clock = next(iter(gate.runs.values())).clock
        return ArmRequest(
            tuple(name for name in gate.robot.arms if name in arms),
            lambda token, report: run_task(
                task,
                done,
                lambda entry, own, note: gate.runs[entry.arm].run(
                    entry.skill, entry.params, own, note, task.robot
                ),
                token,
                report,
                clock.now_s,
                lambda arm: gate.runs[arm].held_now(),
            ),
        )

    return SkillBinding(
        ACTION, RunTask, admit, _result, _feedback, lambda goal: f"{HOLDER} {goal.source}".strip()
    )


def _checked(goal: Any, site: Site) -> tuple[Task, frozenset[str]]:
    """Return the task, and the paths of the skills that do not run."""
    source = goal.source or "task"
    try:
        task = read_task(goal.task, source, site, goal.seed if goal.use_seed else None)
    except ConfigError as error:
        count = len(error.faults)
        text = f"{source} has {count} fault{'s' if count > 1 else ''}: {' | '.join(error.faults)}"
        outcome = Outcome(Code.BAD_GOAL, text, "check", "task")
        raise GoalRejected(outcome, TaskResult(outcome, faults=error.faults)) from error
    try:
        return task, skipped(task, goal.resume_from)
    except ValueError as error:
        raise GoalRejected(Outcome(Code.BAD_GOAL, str(error), "check", "resume_from")) from error


def _untouched(task: Task) -> tuple[EntryEnd, ...]:
    return tuple(EntryEnd(entry, TaskEntryState.NOT_STARTED) for entry in task.entries)


def _result(outcome: Outcome, ended: TaskResult | None) -> RunTask.Result:
    result = RunTask.Result(outcome=outcome_to_msg(outcome))
    if ended is None:
        return result
    result.faults = list(ended.faults)
    result.resume_from, result.duration = ended.resume_from, ended.duration_s
    result.entries = [_entry(end) for end in ended.entries]
    if ended.task is not None:
        result.notes, result.seed = list(ended.task.notes), ended.task.seed
    return result


def _entry(end: EntryEnd) -> TaskEntry:
    entry = end.entry
    message = TaskEntry(
        path=entry.path, step=entry.step, arm=entry.arm, skill=entry.skill.name, state=int(end.state)
    )
    message.result = SkillResult() if end.run is None else result_to_msg(end.run.outcome, end.run, "")
    return message


def _feedback(progress: Any) -> RunTask.Feedback:
    message = RunTask.Feedback(feedback=feedback_to_msg(progress))
    if isinstance(progress, TaskProgress):
        message.step, message.arm, message.skill = progress.step, progress.arm, progress.skill
        message.done, message.count = progress.done, progress.total
    return message
