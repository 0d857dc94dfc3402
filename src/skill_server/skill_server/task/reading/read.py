"""Parses the text of a task file into a ``Task``, or into one error with every fault, its path and the correction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from handiwork_core.config.dataclass_loader import (
    ConfigError,
    mapping_from_yaml,
    nearest,
    shown,
)
from handiwork_core.intake.limits import TASK_ENTRIES, TASK_RUNS, TASK_YAML
from skill_server.params.parsing import LARGEST_SEED
from skill_server.task.budget import budget_of, visits_of
from skill_server.task.looking_ahead import looking_ahead
from skill_server.task.model import Block, Task, entries_of

from .blocks import read_block
from .entries import Reading, Site
from .file_format import is_simbox
from .robots import RobotReading
from .variables import read_variables

KEYS = ("name", "seed", "format", "robots", "variables", "skills", "episodes")
"""Keys of a task; ``handiwork generate`` reads ``episodes``."""
UNUSED = (
    *(
        "asset_root",
        "task",
        "task_id",
        "offset",
        "render",
        "arena_file",
        "env_map",
        "objects",
        "regions",
    ),
    *("cameras", "data", "distractors", "neglect_collision_names", "fluid", "random_region_list"),
)
"""Keys of the SimBox format that describe the scene and the recording; here a scene file describes them."""


def read_task(text: str, source: str, site: Site, seed: int | None = None) -> Task:
    """Parse and check a task.

    Args:
        text: YAML text of the task file.
        source: Name of the file in error messages.
        site: Stack in which the task is to run.
        seed: Replaces the seed of the file; None keeps it.

    Returns:
        The task.

    Raises:
        ConfigError: Lists every fault with its path and the correction.
    """
    data = mapping_from_yaml(text, source, TASK_YAML)
    reading = Reading(site, 0, names=(site.robot.name,))
    prefix, body = _body(data, reading)
    name, steps, labels = "", Block(), list[str]()
    if body is not None:
        name = _top(body, prefix, reading, seed)
        if body.get("robots") is not None:
            _robots(body["robots"], f"{prefix}robots", reading)
        reading.is_simbox = is_simbox(body, prefix, reading.fault, reading.note)
        count = _count(body.get("skills"))
        if count > TASK_ENTRIES:
            text = f"has {count} entries; at most {TASK_ENTRIES} are taken, split the task"
            raise ConfigError(source, [f"{prefix}skills: {text}"])
        _variables(body, prefix, reading)
        steps, labels = _groups(body.get("skills"), f"{prefix}skills", reading)
        _check_use(f"{prefix}variables", reading)
        _check_runs(steps, f"{prefix}skills", reading)
    if reading.faults:
        raise ConfigError(source, reading.faults)
    return Task(name, reading.seed, steps, tuple(reading.notes), reading.site.robot, tuple(labels))


def _variables(body: Mapping[str, Any], prefix: str, reading: Reading) -> None:
    reading.scope.literal = reading.is_simbox
    if "variables" in body:
        reading.scope.values = read_variables(body["variables"], f"{prefix}variables", reading.fault)


def _check_use(path: str, reading: Reading) -> None:
    for name in reading.scope.values:
        if name not in reading.scope.used:
            reading.fault(f"{path}.{name}", f"is used nowhere; write ${name} where it is meant, or remove it")


def _check_runs(steps: Block, path: str, reading: Reading) -> None:
    """Check that a task ends within a time that somebody can wait for, whatever its conditions are."""
    if not reading.faults and not any(True for node in steps for _ in entries_of(node)):
        reading.fault(path, "have no skill; add one, or ask for conditions with `handiwork why`")
    most = max(budget_of(*steps).most, visits_of(*steps))
    if most > TASK_RUNS and not reading.faults:
        text = f"may run {most} skills and control nodes; at most {TASK_RUNS} are taken, lower times or max of loops"
        reading.fault(path, text)


def _robots(entries: object, path: str, reading: Reading) -> None:
    """Read ``robots``; from here on the robot is that of the task."""
    site = reading.site
    found = RobotReading(site.robot, site.world, site.world_T_root, reading.fault, reading.note)
    meant = found.meant(entries, path)
    reading.site = replace(site, robot=meant.robot)
    reading.names, reading.ignore_substring = meant.names, meant.ignore_substring


def _body(data: Mapping[str, Any], reading: Reading) -> tuple[str, Mapping[str, Any] | None]:
    """Return the one task of the file, which is below ``tasks`` or at the top."""
    if "tasks" not in data:
        return "", data
    for key in data:
        if key != "tasks":
            reading.fault(str(key)[:80], "is given beside tasks; move it into the task")
    tasks = data["tasks"]
    if not isinstance(tasks, list) or len(tasks) != 1 or not isinstance(tasks[0], Mapping):
        reading.fault("tasks", f"is {shown(tasks)}; write a list of exactly one task")
        return "tasks[0].", None
    return "tasks[0].", tasks[0]


def _top(body: Mapping[str, Any], prefix: str, reading: Reading, seed: int | None) -> str:
    for key in body:
        word = str(key)[:80]
        if key in UNUSED:
            reading.note(f"{prefix}{word}", "is not used; the scene comes from a scene file")
        elif key not in KEYS:
            reading.fault(f"{prefix}{word}", f"unknown key; {nearest(word, [*KEYS, *UNUSED])}")
    name, given = body.get("name", "task"), body.get("seed", 0)
    if not isinstance(name, str):
        reading.fault(f"{prefix}name", f"is {shown(name)}; write text")
    reading.seed = given if seed is None else seed
    if type(reading.seed) is not int or abs(reading.seed) > LARGEST_SEED:
        reading.fault(f"{prefix}seed", f"is {shown(reading.seed)}; write a whole number of at most 63 bits")
        reading.seed = 0
    return str(name)


def _groups(groups: object, path: str, reading: Reading) -> tuple[Block, list[str]]:
    """Return the steps and control nodes of all groups, and their labels."""
    if not isinstance(groups, list) or not groups:
        reading.fault(path, f"is {shown(groups)}; write a list of groups, each {{robot: [steps]}}")
        return (), []
    steps, labels = Block(), list[str]()
    robot = reading.site.robot.name
    for g, group in enumerate(groups):
        where = f"{path}[{g}]"
        if not isinstance(group, Mapping) or not group:
            reading.fault(where, f"is {shown(group)}; write {{{robot}: [steps]}}")
            continue
        for key in group:
            if key not in reading.names:
                reading.fault(f"{where}.{str(key)[:80]}", f"is no robot here; the robot is {robot!r}")
        for key in group:
            if key in reading.names:
                block = read_block(group[key], f"{where}.{key}", f"{g + 1}", None, reading)
                steps += block
                labels += [f"{g + 1}.{i + 1}" for i in range(len(block))]
    return looking_ahead(steps), labels


def _count(groups: object) -> int:
    """Return the number of entries, whatever else is wrong with them."""
    if isinstance(groups, list):
        return sum(_count(one) for one in groups)
    if not isinstance(groups, Mapping):
        return 0
    return 1 if "name" in groups else sum(_count(one) for one in groups.values())
