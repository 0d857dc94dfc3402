"""Parses the text of a task file into a ``Task``, or into one error with every fault, its path and the correction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from handiwork_core.config.dataclass_loader import (
    ConfigError,
    mapping_from_yaml,
    nearest,
    shown,
)
from handiwork_core.contracts.skill import Skill
from handiwork_core.intake.limits import TASK_ENTRIES, TASK_YAML
from handiwork_core.intake.regular_files import DataRoots
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.robot_files.simbox.joint_groups import arm_of_side
from handiwork_core.robot_files.simbox.robot_fields import SIDES
from skill_server.params.located_files import judged_with_files
from skill_server.params.parsing import LARGEST_SEED
from skill_server.params.registry import Catalog, UnknownSkill
from skill_server.params.simbox_defaults import with_format_defaults
from skill_server.params.validation import in_words, judged_parameters

from .file_format import is_simbox
from .looking_ahead import looking_ahead
from .model import Entry, Task, TaskStep, derived_seed
from .robots import RobotReading

P = TypeVar("P")

KEYS = ("name", "seed", "format", "robots", "skills")
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


@dataclass(frozen=True)
class Site:
    """The stack in which a task is to run.

    Attributes:
        catalog: Known skills.
        robot: Robot.
        world: World; None: the names of objects are not checked.
        world_T_root: Pose of the robot; None: the pose that the task gives is not checked.
        roots: Folders below which the files of entries must lie; None: anywhere.
    """

    catalog: Catalog
    robot: Robot
    world: World | None = None
    world_T_root: Pose | None = None
    roots: DataRoots | None = None


@dataclass
class _Reading:
    site: Site
    seed: int
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    names: tuple[str, ...] = ()
    ignore_substring: tuple[str, ...] = ()
    is_simbox: bool = False

    def note(self, path: str, text: str) -> None:
        self.notes.append(f"{path}: {text}")

    def fault(self, path: str, text: str) -> None:
        self.faults.append(f"{path}: {text}")


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
    reading = _Reading(site, 0, names=(site.robot.name,))
    prefix, body = _body(data, reading)
    name, steps = "", tuple[TaskStep, ...]()
    if body is not None:
        name = _top(body, prefix, reading, seed)
        if body.get("robots") is not None:
            _robots(body["robots"], f"{prefix}robots", reading)
        reading.is_simbox = is_simbox(body, prefix, reading.fault, reading.note)
        count = _count(body.get("skills"))
        if count > TASK_ENTRIES:
            text = f"has {count} entries; at most {TASK_ENTRIES} are taken, split the task"
            raise ConfigError(source, [f"{prefix}skills: {text}"])
        steps = _groups(body.get("skills"), f"{prefix}skills", reading)
    if reading.faults:
        raise ConfigError(source, reading.faults)
    return Task(name, reading.seed, looking_ahead(steps), tuple(reading.notes), reading.site.robot)


def _robots(entries: object, path: str, reading: _Reading) -> None:
    """Read ``robots``; from here on the robot is that of the task."""
    site = reading.site
    found = RobotReading(site.robot, site.world, site.world_T_root, reading.fault, reading.note)
    meant = found.meant(entries, path)
    reading.site = replace(site, robot=meant.robot)
    reading.names, reading.ignore_substring = meant.names, meant.ignore_substring


def _body(data: Mapping[str, Any], reading: _Reading) -> tuple[str, Mapping[str, Any] | None]:
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


def _top(body: Mapping[str, Any], prefix: str, reading: _Reading, seed: int | None) -> str:
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


def _groups(groups: object, path: str, reading: _Reading) -> tuple[TaskStep, ...]:
    if not isinstance(groups, list) or not groups:
        reading.fault(path, f"is {shown(groups)}; write a list of groups, each {{robot: [steps]}}")
        return ()
    steps: list[TaskStep] = []
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
                steps += _steps(group[key], f"{where}.{key}", g, reading)
    return tuple(steps)


def _count(groups: object) -> int:
    """Return the number of entries, whatever else is wrong with them."""
    if isinstance(groups, list):
        return sum(_count(one) for one in groups)
    if not isinstance(groups, Mapping):
        return 0
    return 1 if "name" in groups else sum(_count(one) for one in groups.values())


def _steps(steps: object, path: str, group: int, reading: _Reading) -> list[TaskStep]:
    if not isinstance(steps, list) or not steps:
        reading.fault(path, f"is {shown(steps)}; write a list of steps, each {{arm: [skills]}}")
        return []
    made = []
    for s, step in enumerate(steps):
        where, label = f"{path}[{s}]", f"{group + 1}.{s + 1}"
        if not isinstance(step, Mapping) or not step:
            arms = sorted(reading.site.robot.arms)
            reading.fault(where, f"is {shown(step)}; write {{arm: [skills]}} with arms of {arms}")
            continue
        made.append(_step(step, where, label, reading))
    return made


def _step(step: Mapping[str, Any], path: str, label: str, reading: _Reading) -> TaskStep:
    arms: dict[str, tuple[Entry, ...]] = {}
    for word, skills in step.items():
        where = f"{path}.{str(word)[:80]}"
        arm = arm_of(reading.site.robot, str(word))
        if arm is None:
            known = [*reading.site.robot.arms, *(side for side in SIDES if arm_of(reading.site.robot, side))]
            reading.fault(
                where, f"is no arm of {reading.site.robot.name!r}; {nearest(str(word)[:80], known)}"
            )
        elif arm.name in arms:
            reading.fault(where, f"names arm {arm.name!r} twice in one step; join the two lists")
        elif not isinstance(skills, list) or not skills:
            reading.fault(
                where, f"is {shown(skills)}; write a list of at least one skill, or leave the arm out"
            )
        else:
            found = (_entry(one, f"{where}[{i}]", label, arm, i, reading) for i, one in enumerate(skills))
            arms[arm.name] = tuple(entry for entry in found if entry is not None)
    return TaskStep(label, arms)


def arm_of(robot: Robot, word: str) -> ArmSpec | None:
    """Return the arm of a name, or of ``left`` or ``right``.

    Args:
        robot: Robot with the arms.
        word: Name or side.

    Returns:
        The arm; None when there is none.
    """
    if word in robot.arms:
        return robot.arms[word]
    return arm_of_side(robot, word) if word in SIDES else None


def _entry(data: object, path: str, label: str, arm: ArmSpec, index: int, reading: _Reading) -> Entry | None:
    if not isinstance(data, Mapping) or not isinstance(data.get("name"), str):
        reading.fault(path, f"is {shown(data)}; write {{name: <skill>, <parameters>}}")
        return None
    try:
        skill = reading.site.catalog.find(data["name"])
    except UnknownSkill as error:
        reading.fault(f"{path}.name", str(error))
        return None
    values = {str(key): value for key, value in data.items() if key != "name"}
    if reading.is_simbox:
        values = with_format_defaults(skill.name, values)
    values.setdefault("seed", derived_seed(reading.seed, label, arm.name, index))
    if reading.ignore_substring and any(f.name == "ignore_substring" for f in fields(skill.params_type)):
        values.setdefault("ignore_substring", list(reading.ignore_substring))
    try:
        params = judged_parameters(
            skill, values, arm.name, path, lambda made: _verdict(skill, made, arm, path, reading)
        )
    except ConfigError as error:
        reading.faults += [f"{path}.{fault}" for fault in error.faults]
        return None
    located, verdict = judged_with_files(
        params, reading.site.roots, lambda made: _verdict(skill, made, arm, path, reading)
    )
    entry = Entry(path, label, arm.name, skill, located)
    reading.faults += [
        f"{path}.{fault}" if one.field_name else f"{path}: {fault}"
        for one in verdict.all
        for fault in in_words(one)
    ]
    return entry


def _verdict(skill: Skill[P], params: P, arm: ArmSpec, path: str, reading: _Reading) -> Outcome:
    """Return the verdict of the skill itself; OK when the world is not known."""
    if reading.site.world is None:
        return OK
    try:
        return skill.is_feasible(params, reading.site.robot, arm, reading.site.world)
    except Exception as error:  # noqa: BLE001 - the border of plug-in code
        text = f"skill {skill.name!r} raised {error!r} in its check; correct the skill"
        return Outcome(Code.INTERNAL, text)
