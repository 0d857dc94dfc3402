"""Previews a task: its skills one after the other, up to the first node whose way is not known before it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from handiwork_core.contracts.composite import CompositeSkill, Steps
from handiwork_core.contracts.predicate import Truth
from handiwork_core.contracts.skill import Context, Token
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.preview.rehearsal import previewed
from skill_server.preview.rehearsed_run import PreviewResult, RehearsedRun
from skill_server.preview.skill_plan import PlannedStep

from .interpreter import Interpreter
from .model import Condition, Entry, Task, TaskStep, arms_of, entries_of
from .record import Report, TaskRecord
from .resume import resume_text
from .run import TaskResult
from .scope import Ports, Scope
from .task_paths import TaskPath

Movable = Callable[[], Sequence[str]]
"""Returns the names of the movable objects of the world, in order."""


class TaskSkills(CompositeSkill[SkillParams]):
    """Stands for the skills of a task in a plan, which has them as steps."""

    name = "task"
    params_type = SkillParams

    def is_feasible(self, params: SkillParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``; each skill of the task checks its own goal."""
        return OK

    def steps(self, params: SkillParams, context: Context) -> Steps:
        """Yield none: the steps are those of the plan."""
        yield from ()

    def is_success(self, params: SkillParams, before: World, after: World, context: Context) -> Outcome:
        """See ``Skill``; each skill of the task judges the world itself."""
        return Outcome(Code.OK, "the task was executed as previewed")


class _Rehearsed(Interpreter):
    """Walks a task as far as its way is known; ``end``: why it goes no further, empty where it does."""

    end = ""

    def _step(self, step: TaskStep, label: str, scope: Scope) -> Outcome:
        working = [
            arm for arm, block in step.arms.items() if any(True for node in block for _ in entries_of(node))
        ]
        if len(working) > 1:
            return self._ends(label, scope, f"{' and '.join(working)} work at the same time there")
        return super()._step(step, label, scope)

    def _ask(self, condition: Condition, label: str, scope: Scope) -> tuple[Truth, Outcome]:
        why = f"condition {condition.text!r} is decided when the task is there"
        return Truth.UNKNOWN, self._ends(label, scope, why)

    def _ends(self, label: str, scope: Scope, why: str) -> Outcome:
        self.end = f"step {label}: {why}"
        return self._failed(Code.CONDITION_UNKNOWN, label, scope, why)


def preview_task(
    task: Task,
    begin: Mapping[str, TaskPath],
    run: RehearsedRun,
    movable: Movable,
    token: Token,
    report: Report,
) -> TaskResult:
    """Plan a task up to its end, or up to what is not known before it runs; nothing moves.

    Args:
        task: Task.
        begin: Place of each arm to begin at; see ``task_paths.starts``.
        run: Rehearsal on the arms of the task.
        movable: Returns the names of the movable objects of the world.
        token: Ends the preview when it is set.
        report: Takes the progress.

    Returns:
        OK with the plan, and, where it ends before the task, with why, and where the task goes on; UNSUPPORTED where
        nothing of the task can be previewed; else the failure that the execution would have had.
    """
    begin = {arm: begin.get(arm, ()) for node in task.steps for arm in arms_of(node)}
    record, made = TaskRecord(task, report, run.held), list[PlannedStep]()

    def do(entry: Entry, own: Token, note: Report) -> PreviewResult:
        result = run.do(entry.skill, entry.params, entry.arm, own, note)
        if result.plan is not None:
            made.append(PlannedStep(f"{entry.step} {entry.skill.name}", result.plan))
        return result

    ports = Ports(do, next(iter(run.world.cells.values())), run.held, None, movable)
    walk = _Rehearsed(task, ports, record)
    outcome = walk.run(begin, token)
    end = walk.end or (outcome.message if outcome.code is Code.UNSUPPORTED else "")
    if not outcome.ok and not end:
        return TaskResult(outcome, task, record.ends())
    if not made:
        text = end or "the task has no skill that is left to do"
        return TaskResult(Outcome(Code.UNSUPPORTED, f"nothing can be previewed: {text}"), task, record.ends())
    goes_on = "" if outcome.ok else resume_text(task, record.ran, record.stopped_at, begin, run.held)[0]
    plan = run.joined(TaskSkills(), SkillParams(), task.seed, _counted(made), task.robot)
    words = f" in {len(made)} skills"
    if end:
        words += f", up to {end}; execute the plan, then go on with resume_from {goes_on}"
    ended = previewed(task.name or TaskSkills.name, plan.motions, words)
    return TaskResult(ended, task, record.ends(), goes_on, plan.motion_time_s, plan=plan)


def _counted(made: Sequence[PlannedStep]) -> tuple[PlannedStep, ...]:
    """Return the steps with the number of those that follow."""
    return tuple(PlannedStep(one.label, one.plan, len(made) - 1 - i) for i, one in enumerate(made))
