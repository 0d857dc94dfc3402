"""One skill of a task file: found, parsed and judged; and what the reading of a file knows so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import count
from typing import Any, TypeVar

from handiwork_core.config.dataclass_loader import ConfigError, nearest, shown
from handiwork_core.contracts.skill import Skill
from handiwork_core.intake.regular_files import DataRoots
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.robot_files.simbox.joint_groups import arm_of_side
from handiwork_core.robot_files.simbox.robot_fields import SIDES
from skill_server.params.located_files import judged_with_files
from skill_server.params.registry import Catalog, UnknownSkill
from skill_server.params.simbox_defaults import with_format_defaults
from skill_server.params.validation import in_words, judged_parameters
from skill_server.task.conditions import Conditions, Examined
from skill_server.task.model import Entry
from skill_server.task.seeds import derived_seed

from .variables import Scope

P = TypeVar("P")


@dataclass(frozen=True)
class Site:
    """The stack in which a task is to run.

    Attributes:
        catalog: Known skills.
        robot: Robot.
        world: World; None: the names of objects are not checked.
        world_T_root: Pose of the robot; None: the pose that the task gives is not checked.
        roots: Folders below which the files of entries must lie; None: anywhere.
        conditions: Condition monitor; None: conditions are not checked.
        newest: Returns the newest world, for what a loop selects while the task runs; None: ``world``.
    """

    catalog: Catalog
    robot: Robot
    world: World | None = None
    world_T_root: Pose | None = None
    roots: DataRoots | None = None
    conditions: Conditions | None = None
    newest: Callable[[], World] | None = None


@dataclass
class Reading:
    """A file that is being read.

    Attributes:
        site: Stack in which the task is to run.
        seed: Seed of the task.
        faults: Faults so far.
        notes: Parts without a meaning so far.
        names: Names of the robot in this task.
        ignore_substring: Default of each skill that gives none itself.
        is_simbox: True when the defaults of the SimBox format hold.
        scope: Variables that may be used here.
        examined: Conditions that were checked, by their text.
        items: Counts the skills and control nodes that were read, once for each object of the loops around them.
    """

    site: Site
    seed: int
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    names: tuple[str, ...] = ()
    ignore_substring: tuple[str, ...] = ()
    is_simbox: bool = False
    scope: Scope = field(default_factory=Scope)
    examined: dict[str, Examined] = field(default_factory=dict)
    items: Iterator[int] = field(default_factory=count)

    def note(self, path: str, text: str) -> None:
        """Add a note.

        Args:
            path: Place in the file.
            text: The note.
        """
        self.notes.append(f"{path}: {text}")

    def fault(self, path: str, text: str) -> None:
        """Add a fault.

        Args:
            path: Place in the file.
            text: What is wrong, and the correction.
        """
        self.faults.append(f"{path}: {text}")

    def filled(self, data: object, path: str) -> Any:  # noqa: ANN401 - any YAML value
        """Return a value with the values of variables in it; see ``Scope.filled``.

        Args:
            data: A YAML value.
            path: Its place in the file.
        """
        return self.scope.filled(data, path, self.fault)

    def with_variable(self, name: str, value: str, *, world: World | None) -> Reading:
        """Return a reading of a part in which one more variable is known, with faults of its own.

        Args:
            name: Name of the variable.
            value: Its value.
            world: World in which the part is judged; None: the names of objects are not checked.
        """
        site = replace(self.site, world=world)
        return replace(self, site=site, faults=[], notes=[], scope=self.scope.bound(name, value))

    def arm(self, word: str) -> ArmSpec | None:
        """Return the arm of a name or side of the robot.

        Args:
            word: Name or side.
        """
        return arm_of(self.site.robot, word)

    def arm_words(self) -> list[str]:
        """Return the names and sides by which arms are called."""
        return [*self.site.robot.arms, *(side for side in SIDES if self.arm(side))]

    def examine(self, text: str, path: str) -> None:
        """Check a condition with the monitor, and its objects with the world.

        Args:
            text: The expression.
            path: Its place in the file.
        """
        if self.site.conditions is None:
            return
        if any(one.is_silent for one in self.examined.values()):
            # One fault says that the monitor is silent; each further question would wait as long.
            return
        if text not in self.examined:
            self.examined[text] = self.site.conditions.examine(text)
        found, world = self.examined[text], self.site.world
        for fault in found.faults:
            self.fault(path, fault)
        for name in found.subjects if world is not None else ():
            if world is not None and name not in world.objects:
                self.fault(path, f"no object {name[:80]!r}; {nearest(name[:80], sorted(world.objects))}")


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


def read_entry(
    data: object, path: str, label: str, arm: ArmSpec, index: int, reading: Reading
) -> Entry | None:
    """Read one skill.

    Args:
        data: Mapping with ``name`` and parameters.
        path: Its place in the file.
        label: Label of its step.
        arm: Arm of the list in which it is.
        index: Index in that list.
        reading: Receives the faults.

    Returns:
        The skill; None when it has faults that leave no parameters.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("name"), str):
        reading.fault(path, f"is {shown(data)}; write {{name: <skill>, <parameters>}}")
        return None
    faults = len(reading.faults)
    filled: dict[str, Any] = reading.filled(data, path)
    if len(reading.faults) > faults:
        return None
    try:
        skill = reading.site.catalog.find(str(filled["name"]))
    except UnknownSkill as error:
        reading.fault(f"{path}.name", str(error))
        return None
    given = {str(key): value for key, value in filled.items() if key != "name"}
    return _judged(skill, given, path, label, arm, index, reading)


def _judged(
    skill: Skill[Any],
    given: dict[str, Any],
    path: str,
    label: str,
    arm: ArmSpec,
    index: int,
    reading: Reading,
) -> Entry | None:
    given = with_format_defaults(skill.name, dict(given)) if reading.is_simbox else dict(given)
    if reading.ignore_substring and any(f.name == "ignore_substring" for f in fields(skill.params_type)):
        given.setdefault("ignore_substring", list(reading.ignore_substring))
    draws = "seed" not in given
    values = {"seed": derived_seed(reading.seed, label, arm.name, index), **given}
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
    reading.faults += [
        f"{path}.{fault}" if one.field_name else f"{path}: {fault}"
        for one in verdict.all
        for fault in in_words(one)
    ]
    return Entry(path, label, arm.name, skill, located, given, draws)


def _verdict(skill: Skill[P], params: P, arm: ArmSpec, path: str, reading: Reading) -> Outcome:
    """Return the verdict of the skill itself; OK when the world is not known."""
    if reading.site.world is None:
        return OK
    try:
        return skill.is_feasible(params, reading.site.robot, arm, reading.site.world)
    except Exception as error:  # noqa: BLE001 - the border of plug-in code
        text = f"skill {skill.name!r} raised {error!r} in its check; correct the skill"
        return Outcome(Code.INTERNAL, text)
