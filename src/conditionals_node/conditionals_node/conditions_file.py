"""The file of the conditions that are watched from the start."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from handiwork_core.config.dataclass_loader import ConfigError, load

from .expressions.build import Condition
from .expressions.definitions import ConditionSpec, Definitions
from .subtasks.specs import TaskSpec
from .subtasks.task import WatchedTask, build_task


@dataclass(frozen=True, slots=True)
class ConditionsFile:
    """Conditions, and at most one task."""

    conditions: tuple[ConditionSpec, ...] = ()
    task: TaskSpec | None = None


def load_conditions(path: Path, definitions: Definitions) -> tuple[list[Condition], WatchedTask | None]:
    """Read the conditions of a file, and its task.

    Args:
        path: The YAML file.
        definitions: Builds the conditions, and keeps the names that the file gives to them.

    Returns:
        The conditions, and the task or None.

    Raises:
        ConfigError: The file has faults; lists every fault of every entry.
    """
    file, faults = load(ConditionsFile, path), list[str]()
    found, task = definitions.read(file.conditions, faults), None
    if file.task is not None:
        try:
            task = build_task(file.task, definitions)
        except ConfigError as error:
            faults += [f"task.{fault}" for fault in error.faults]
    if faults:
        raise ConfigError(str(path), faults)
    return found, task
