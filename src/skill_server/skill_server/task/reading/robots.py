"""The key ``robots`` of a task file: the named robot, its pose, and the changes that its robot file makes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from handiwork_core.config.dataclass_loader import (
    ConfigError,
    nearest,
    parse,
    shown,
)
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.simbox.configured import configured
from handiwork_core.robot_files.simbox.robot_fields import FIELDS, TASK_LEVEL

from .robot_files import CONTENT, FILE

TURN_RAD, SHIFT_M = 0.01, 0.005
"""The largest angle and distance of the robot from the pose that the task gives."""
ReportText = Callable[[str, str], None]
STAGE = ("solver_position_iteration_count", "solver_velocity_iteration_count", "stabilization_threshold")


@dataclass(frozen=True, slots=True)
class RobotEntry:
    """One entry of ``robots``.

    Attributes:
        name: Name of the robot.
        robot_config_file: Name of its robot file.
        robot_config: Content of that file; None when it was not found.
        euler: Fixed-axis roll, pitch and yaw of the base in the world, deg; None: not given.
        translation: Position of the base in the world, m; None: not given.
        ignore_substring: Parts of the names of objects that are no obstacles.
    """

    name: str
    robot_config_file: str = ""
    robot_config: dict[str, Any] | None = None
    euler: tuple[float, float, float] | None = None
    translation: tuple[float, float, float] | None = None
    ignore_substring: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class MeantRobot:
    """The robot of a task.

    Attributes:
        robot: Robot with the changes of the file.
        names: Names that the task may use for it.
        ignore_substring: Default of each skill that gives none itself.
    """

    robot: Robot
    names: tuple[str, ...]
    ignore_substring: tuple[str, ...] = ()


@dataclass(frozen=True)
class RobotReading:
    """The stack in which a task is to run, and the receivers of faults and notes.

    Attributes:
        robot: Robot of the stack.
        world: World; None when it is not known.
        world_T_root: Pose of the robot; None when it is not known.
        fault: Takes the path and the text of a fault.
        note: Takes the path and the text about a part that has no effect.
    """

    robot: Robot
    world: World | None
    world_T_root: Pose | None
    fault: ReportText
    note: ReportText

    def meant(self, entries: object, path: str) -> MeantRobot:
        """Read ``robots``, which has one entry, as a stack has one robot.

        Args:
            entries: Value of the key.
            path: Path of the key in the file.

        Returns:
            The robot of the task; the robot of the stack after a fault.
        """
        alone = MeantRobot(self.robot, (self.robot.name,))
        if not isinstance(entries, list) or len(entries) != 1 or not isinstance(entries[0], Mapping):
            self.fault(path, f"is {shown(entries)}; write a list of one entry, as one robot runs here")
            return alone
        given = {str(key): value for key, value in entries[0].items() if value is not None}
        own = {key: value for key, value in given.items() if key in (*TASK_LEVEL, CONTENT)}
        fields = {key: value for key, value in given.items() if key in FIELDS}
        for key in given:
            if key not in own and key not in fields:
                near = nearest(key[:80], [*TASK_LEVEL, *FIELDS])
                self.fault(f"{path}[0].{key[:80]}", f"unknown key; {near}")
        try:
            entry = parse(RobotEntry, own, "")
        except ConfigError as error:
            for fault in error.faults:
                self.fault(f"{path}[0].{fault.partition(': ')[0]}", fault.partition(": ")[2])
            return alone
        return self._meant(entry, fields, f"{path}[0]")

    def _meant(self, entry: RobotEntry, fields: Mapping[str, Any], path: str) -> MeantRobot:
        file = self._file(entry, path)
        known = entry.name == self.robot.name or bool({**file, **fields}.get("target_class"))
        if not known:
            names = f"the robot here is {self.robot.name!r}"
            self.fault(f"{path}.name", f"is {entry.name!r}; {names}, write that, or its target_class beside")
        self._check_place(entry, path)
        for word in entry.ignore_substring:
            self._note_ignored(word, f"{path}.ignore_substring")
        robot = self._configured(entry, file, fields, path)
        return MeantRobot(robot, (self.robot.name, entry.name), entry.ignore_substring)

    def _file(self, entry: RobotEntry, path: str) -> Mapping[str, Any]:
        if entry.robot_config_file and entry.robot_config is None:
            found = "was found neither beside the task file nor above it"
            remedy = "put it there and use `handiwork task`, or remove the key: the robot's own files apply"
            self.fault(f"{path}.{FILE}", f"is {entry.robot_config_file!r}, which {found}; {remedy}")
        return entry.robot_config or {}

    def _configured(
        self, entry: RobotEntry, file: Mapping[str, Any], fields: Mapping[str, Any], path: str
    ) -> Robot:
        if not file and not fields:
            return self.robot

        def where(fault: str) -> str:
            is_own = fault.partition(":")[0].partition("[")[0].partition(".")[0] in fields
            return path if is_own else f"{path}.{FILE} {entry.robot_config_file}"

        try:
            made = configured(self.robot, {**file, **fields}, "", whole=bool(file))
        except ConfigError as error:
            for fault in error.faults:
                name, _, text = fault.partition(": ")
                self.fault(f"{where(fault)}.{name}", text)
            return self.robot
        for note in made.notes:
            name, _, text = note.partition(": ")
            self.note(f"{where(note)}.{name}", text)
        self._report_standing(made.robot, {**file, **fields}, lambda name: f"{where(name)}.{name}")
        return made.robot

    def _report_standing(self, wanted: Robot, given: Mapping[str, Any], where: Callable[[str], str]) -> None:
        """Report changes that need a start of the robot."""
        start = "start the stack with a robot that is `like` this one (docs/reference/robot-files.md)"
        for joint, value in wanted.posture.items():
            held = self.robot.posture[joint]
            if abs(value - held) > TURN_RAD:
                name = next(n for n in ("body_home", "head_home", "lift_home") if n in given)
                self.fault(
                    where(name), f"wants {joint} at {value}, and the robot holds it at {held}; {start}"
                )
        for name in STAGE:
            if given.get(name) is not None:
                self.note(where(name), "is for stages that handiwork export-usd writes, of a robot like this")
        for name in ("left_joint_home_std", "right_joint_home_std"):
            if given.get(name) is not None and np.any(given[name]):
                self.note(where(name), f"draws homes where the simulation begins; {start}")

    def _check_place(self, entry: RobotEntry, path: str) -> None:
        here = self.world_T_root
        for name in ("euler", "translation"):
            if getattr(entry, name) is not None and here is None:
                self.note(
                    f"{path}.{name}", "is not checked: the pose of the robot is not known without a scene"
                )
        if here is None:
            return
        turn = None if entry.euler is None else Rotation.from_rpy(*np.radians(entry.euler))
        if turn is not None and turn.angle_to(here.rotation) > TURN_RAD:
            words = f"robot {self.robot.name!r} is turned by {_orientation(here.rotation)}"
            remedy = f"take a scene whose robot_base has {_orientation(turn)}, or leave it out"
            self.fault(f"{path}.euler", f"is {list(entry.euler or ())} deg; {words}: {remedy}")
        place = here.translation_m if entry.translation is None else np.array(entry.translation)
        if np.linalg.norm(place - here.translation_m) > SHIFT_M:
            words = f"robot {self.robot.name!r} is at {np.round(here.translation_m, 3).tolist()}"
            remedy = "take a scene whose robot_base has that position, or leave it out"
            self.fault(f"{path}.translation", f"is {place.tolist()} m; {words}: {remedy}")

    def _note_ignored(self, word: str, path: str) -> None:
        if self.world is None:
            return
        found = sorted(name for name in self.world.objects if word and word in name)
        text = f"{found} are no obstacles to any skill of this task" if found else "is in no object's name"
        self.note(path, f"{word!r}: {text}")


def _orientation(rotation: Rotation) -> str:
    matrix = rotation.matrix()
    if matrix[2, 2] > 1.0 - 1e-9:
        return f"yaw: {math.atan2(matrix[1, 0], matrix[0, 0]):.4f}"
    return f"quaternion_wxyz: {np.round(rotation.wxyz, 4).tolist()}"
