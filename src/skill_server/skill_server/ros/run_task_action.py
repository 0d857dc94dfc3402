"""The action ``run_task``: a whole task file, checked before any motion, on arms that it owns from start to end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handiwork_msgs.action import RunTask
from handiwork_msgs.msg import SkillResult, TaskEntry

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.robot.robot import Robot
from handiwork_ros.actions.skill_binding import ArmRequest, GoalRejected, SkillBinding
from handiwork_ros.conversions import outcome_to_msg
from skill_server.params.registry import Catalog
from skill_server.task.conditions import Conditions
from skill_server.task.model import Task, entries_of, further_arms
from skill_server.task.reading.entries import Site
from skill_server.task.reading.read import read_task
from skill_server.task.record import EntryEnd, TaskProgress, TaskRecord
from skill_server.task.run import TaskResult, run_task
from skill_server.task.scope import Ports
from skill_server.task.task_paths import TaskPath, starts

from .admission import Gate
from .result_encoding import feedback_to_msg, plan_to_msg, result_to_msg

ACTION = "run_task"
HOLDER = "run_task"


def run_task_binding(gate: Gate, catalog: Catalog, conditions: Conditions) -> SkillBinding[TaskResult]:
    """Return the binding of the action ``run_task``.

    Args:
        gate: Admission of goals.
        catalog: Known skills.
        conditions: Condition monitor.

    Returns:
        The binding for a ``SkillActionServer``.
    """

    def admit(goal: Any) -> ArmRequest[TaskResult]:
        newest = gate.source.snapshot
        site = Site(
            catalog, gate.robot, gate.world(), gate.source.world_T_base(), gate.roots, conditions, newest
        )
        task, begin = _checked(goal, site)
        if goal.check_only:
            raise GoalRejected(OK, TaskResult(OK, task, _untouched(task)))
        needed = _needed(task, begin, gate.robot)
        arms = tuple(name for name in gate.robot.arms if name in needed)

        def movable() -> list[str]:
            return sorted(name for name, one in newest().objects.items() if not one.is_static)

        if goal.plan_only:
            return gate.previews.task(task, begin, arms, movable)
        ports = Ports(
            lambda entry, own, note: gate.runs[entry.arm].run(
                entry.skill,
                entry.params,
                own,
                note,
                task.robot,
                [gate.runs[name] for name in further_arms(entry, task.robot or gate.robot)],
            ),
            next(iter(gate.runs.values())).clock,
            lambda arm: gate.runs[arm].held_now(),
            conditions,
            movable,
        )
        return ArmRequest(arms, lambda token, report: run_task(task, begin, ports, token, report))

    return SkillBinding(
        ACTION, RunTask, admit, _result, _feedback, lambda goal: f"{HOLDER} {goal.source}".strip()
    )


def _checked(goal: Any, site: Site) -> tuple[Task, dict[str, TaskPath]]:
    """Return the task, and where each arm begins."""
    source = goal.source or "task"
    try:
        task = read_task(goal.task, source, site, goal.seed if goal.use_seed else None)
    except ConfigError as error:
        count = len(error.faults)
        text = f"{source} has {count} fault{'s' if count > 1 else ''}: {' | '.join(error.faults)}"
        outcome = Outcome(Code.BAD_GOAL, text, "check", "task")
        raise GoalRejected(outcome, TaskResult(outcome, faults=error.faults)) from error
    try:
        return task, starts(task, goal.resume_from)
    except ValueError as error:
        raise GoalRejected(Outcome(Code.BAD_GOAL, str(error), "check", "resume_from")) from error


def _needed(task: Task, begin: Mapping[str, TaskPath], robot: Robot) -> set[str]:
    """Return the arms that have a part in the steps from which their skills begin on; all arms where none has."""
    first = {arm: task.index_of(place[0]) if place else 0 for arm, place in begin.items()}
    arms = {
        arm
        for i, node in enumerate(task.steps)
        for entry in entries_of(node)
        if i >= first[entry.arm]
        for arm in (entry.arm, *further_arms(entry, task.robot or robot))
    }
    return arms or set(first)


def _untouched(task: Task) -> tuple[EntryEnd, ...]:
    return TaskRecord(task, lambda _progress: None, lambda _arm: "").ends()


def _result(outcome: Outcome, ended: TaskResult | None) -> RunTask.Result:
    result = RunTask.Result(outcome=outcome_to_msg(outcome))
    if ended is None:
        return result
    result.faults = list(ended.faults)
    result.resume_from, result.duration = ended.resume_from, ended.duration_s
    result.entries = [_entry(end) for end in ended.entries]
    if ended.plan is not None:
        result.plan = plan_to_msg(ended.plan)
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
        message.count_is_bound = progress.is_bound
    return message
