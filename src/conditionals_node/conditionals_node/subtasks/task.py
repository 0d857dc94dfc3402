"""Stages with their conditions from the section ``task``, with strict checks. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from conditionals_node.arguments.arguments import several
from conditionals_node.composites import StepSpec
from conditionals_node.events.task_event import EventRules
from conditionals_node.expressions.definitions import Definitions
from conditionals_node.expressions.expression import Expression
from conditionals_node.expressions.tree import positive_leaves
from conditionals_node.predicates.containment import ObjectEnclosed, ObjectInContainer
from conditionals_node.predicates.support import ObjectOnTop
from conditionals_node.verdicts.rest import moved_by
from handiwork_core.config.dataclass_loader import ConfigError, mapping_from_yaml, parse
from handiwork_core.intake.limits import PREDICATES, TASK_ENTRIES, TASK_YAML

from .specs import SubtaskSpec, TaskSpec
from .stages import Group, Step, SubtaskStage
from .success import Goal, SuccessRules

PLACES = (ObjectInContainer, ObjectEnclosed, ObjectOnTop)
"""Predicates whose reference is a place where objects are put."""


@dataclass(frozen=True, slots=True)
class Aims:
    """The aims of one stage.

    Attributes:
        moved: Objects to be moved, by group.
        goals: Objects that they are moved to.
    """

    moved: tuple[frozenset[str], ...]
    goals: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class WatchedTask:
    """A task that can be watched.

    Attributes:
        name: Name of the task.
        stages: The stages in order.
        expressions: Conditions by the key of a step.
        aims: Aims by stage.
        rules: The limits of events.
        success: The options of success.
        goals: The places where the task puts objects.
        max_flip: Largest probability that noise turns one of its conditions that is not left open; None: the node's.
    """

    name: str
    stages: tuple[SubtaskStage, ...]
    expressions: Mapping[str, Expression]
    aims: tuple[Aims, ...]
    rules: EventRules
    success: SuccessRules
    goals: tuple[Goal, ...]
    max_flip: float | None = None


def read_task(text: str, definitions: Definitions) -> WatchedTask:
    """Read a task from YAML.

    Args:
        text: The section ``task``.
        definitions: The conditions that have a name.

    Returns:
        The task.

    Raises:
        ConfigError: The text has faults; lists every one.
    """
    data = mapping_from_yaml(text, "task", TASK_YAML)
    return build_task(parse(TaskSpec, data, "task"), definitions)


def build_task(spec: TaskSpec, definitions: Definitions) -> WatchedTask:
    """Build a task with the expressions of all steps.

    Args:
        spec: The section ``task``.
        definitions: The conditions that have a name.

    Returns:
        The task.

    Raises:
        ConfigError: There are faults; lists every fault of every step.
    """
    faults: list[str] = []
    expressions: dict[str, Expression] = {}
    stages, aims = [], []
    for i, subtask in enumerate(spec.subtasks):
        where, before = f"subtasks[{i}]", len(faults)
        groups = {
            name: _steps(steps, f"{where}.groups.{name}", definitions, expressions, faults)
            for name, steps in subtask.expanded().items()
        }
        aims.append(_aims(subtask, list(groups.values()), expressions))
        if len(faults) > before:
            continue
        try:
            made = tuple(Group(name, steps, subtask.skip) for name, steps in groups.items())
            lasts = subtask.composite is not None or subtask is spec.subtasks[-1]
            lasts = lasts if subtask.lasts is None else subtask.lasts
            stages.append(SubtaskStage(subtask.name, made, subtask.logical, subtask.K, subtask.score, lasts))
        except ValueError as error:
            faults.append(f"{where}.{error}")
    if len(expressions) > TASK_ENTRIES:
        faults.append(f"subtasks: hold {len(expressions)} conditions; at most {TASK_ENTRIES} are taken")
    predicates = {leaf.key for made in expressions.values() for leaf in made.leaves()}
    if len(predicates) > PREDICATES:
        faults.append(f"subtasks: hold {len(predicates)} predicates; at most {PREDICATES} are taken")
    if faults:
        raise ConfigError("task", faults)
    goals = _goals(stages, expressions, spec.events.surfaces)
    of = (spec.name, tuple(stages), expressions, tuple(aims), spec.events, spec.success, goals)
    return WatchedTask(*of, spec.max_flip)


def _steps(
    specs: Sequence[StepSpec],
    where: str,
    definitions: Definitions,
    expressions: dict[str, Expression],
    faults: list[str],
) -> tuple[Step, ...]:
    found = []
    for i, spec in enumerate(specs):
        expression = _expression(spec.expression, f"{where}[{i}]", definitions, faults)
        if expression is not None:
            expressions[expression.key] = expression
            found.append(Step(expression.key, spec.score, spec.releases))
    return tuple(found)


def _expression(text: str, where: str, definitions: Definitions, faults: list[str]) -> Expression | None:
    try:
        return definitions.make("", "", text or " ", 0.0).expression
    except ConfigError as error:
        faults += [f"{where}.{fault}" for fault in error.faults]
        return None


def _aims(
    subtask: SubtaskSpec, groups: Sequence[Sequence[Step]], expressions: Mapping[str, Expression]
) -> Aims:
    moved: list[frozenset[str]] = []
    seen: set[str] = set()
    for steps in groups:
        leaves = [leaf for step in steps for leaf in expressions[step.key].leaves()]
        seen.update(name for leaf in leaves for name in leaf.predicate.subjects())
        own = {name for leaf in leaves for name in moved_by(leaf.predicate)}
        moved.append(frozenset(own & set(subtask.objects) if subtask.objects else own))
    extra = frozenset(subtask.objects).difference(*moved)
    moved = [names | extra for names in moved]
    return Aims(tuple(moved), frozenset(seen).difference(*moved))


def _goals(
    stages: Sequence[SubtaskStage], expressions: Mapping[str, Expression], surfaces: Collection[str]
) -> tuple[Goal, ...]:
    """Return the places that the last conditions of lasting stages name, each with all objects that belong there."""
    found: dict[tuple[str, ...], Goal] = {}
    for stage in stages:
        for group in stage.groups if stage.lasts else ():
            for leaf in positive_leaves(expressions[group.steps[-1].key]):
                predicate = leaf.predicate
                places = predicate.references() if isinstance(predicate, PLACES) else ()
                if isinstance(predicate, PLACES) and not set(places) & set(surfaces):
                    kind = (leaf.name, *places)
                    allowed = found[kind].allowed if kind in found else frozenset()
                    found[kind] = Goal(predicate, allowed | set(several(predicate.object)))
    return tuple(found.values())
