"""Applies the fields of a robot file to a robot: replaces its changeable values and checks the others for agreement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from handiwork_core.config.dataclass_loader import ConfigError, nearest
from handiwork_core.model.geometry import frozen
from handiwork_core.robot.robot import ArmSpec, PhysxSolver, Robot

from .grip_fields import GripFields
from .joint_groups import JointGroups, arms_by_side, link_of, unknown_link
from .robot_fields import (
    NEEDED,
    OF_PATH,
    OF_SIDE,
    SIDES,
    RobotFields,
    read_fields,
)

BODIES = ("body", "head", "lift")
"""Groups of joints that belong to no arm and hold a posture."""
UNUSED = {
    "path": "is not read: the model is the robot's URDF; handiwork export-usd writes a USD stage of it",
    "robot_file": "is not read: spheres, pairs and limits are those of the robot's folder; "
    "handiwork new-robot --from-curobo takes those of a cuRobo file",
}


@dataclass(frozen=True)
class Configured:
    """A robot with the values of a robot file.

    Attributes:
        robot: The robot.
        notes: The fields without effect here, with their replacements.
    """

    robot: Robot
    notes: tuple[str, ...]


def configured(
    robot: Robot, data: Mapping[str, Any], source: str, *, folder: Path | None = None, whole: bool = True
) -> Configured:
    """Apply a robot file to a robot.

    Args:
        robot: The robot.
        data: Fields of the robot file.
        source: Name of the file in error texts.
        folder: Folder of the files that it names; None: it may name none.
        whole: True if it must have all fields that every robot needs; else it may be some fields of a file.

    Raises:
        ConfigError: The file has faults; the error lists all with field, value and remedy.
    """
    read = read_fields(data)
    reading = _Reading(robot, read.fields, [*read.faults], read.bad)
    if whole:
        reading.miss()
    made = reading.robot_of(folder)
    if reading.faults:
        raise ConfigError(source, reading.faults)
    notes = tuple(f"{name}: {why}" for name, why in UNUSED.items() if getattr(read.fields, name) is not None)
    return Configured(made, notes)


@dataclass
class _Reading:
    robot: Robot
    fields: RobotFields
    faults: list[str]
    bad: frozenset[str]

    def __post_init__(self) -> None:
        self.arms = arms_by_side(self.robot)
        self.groups = JointGroups(self.robot, self.faults)

    def given(self, name: str) -> Any:  # noqa: ANN401 of the field's own type
        return getattr(self.fields, name)

    def miss(self) -> None:
        names = [*NEEDED]
        for side in self.arms:
            names += [f"{side}_{name}" for name in OF_SIDE] + [f"{SIDES[side]}_{name}" for name in OF_PATH]
        for name in names:
            if self.given(name) is None and name not in self.bad:
                self.faults.append(f"{name}: missing; add it")

    def robot_of(self, folder: Path | None) -> Robot:
        self._check_class()
        self._refuse_other_arms()
        grip = GripFields(self.robot, self.fields, self.faults, folder)
        arms = dict(self.robot.arms)
        for side, arm in self.arms.items():
            arms[arm.name] = grip.applied(side, self._arm(side, arm), self.groups)
        posture = {**self.robot.posture, **self._posture()}
        return replace(self.robot, arms=arms, posture=posture, physx=self._solver())

    def _check_class(self) -> None:
        wanted, names = self.fields.target_class, self.robot.simbox
        if wanted is not None and names is not None and wanted not in (names.target_class, *names.also):
            self.faults.append(
                f"target_class: is {wanted!r}, and robot {self.robot.name!r} is {names.target_class!r}; "
                "write that, or use the robot that is meant"
            )

    def _refuse_other_arms(self) -> None:
        for side, prefix in SIDES.items():
            if side in self.arms:
                continue
            names = [f"{side}_{n}" for n in (*OF_SIDE, "joint_home_std")] + [f"{prefix}_{n}" for n in OF_PATH]
            self.faults += [
                f"{name}: robot {self.robot.name!r} has no {side} arm, its arms are {sorted(self.robot.arms)}; "
                "take it out"
                for name in names
                if self.given(name) is not None
            ]

    def _arm(self, side: str, arm: ArmSpec) -> ArmSpec:
        indices = self.given(f"{side}_joint_indices")
        if indices is not None:
            self.groups.take(f"{side}_joint_indices", indices)
            if self._counted(f"{side}_joint_indices", indices, arm):
                self.groups.compare(f"{side}_joint_indices", indices, arm.joint_names)
        for word, link in (("ee_path", arm.ee_link), ("base_path", arm.base_link)):
            self._same_link(f"{SIDES[side]}_{word}", link)
        forbidden = self._links(f"{SIDES[side]}_forbid_collision_paths", arm.forbid_collision_links)
        return replace(
            arm,
            home_q=frozen(self._home(f"{side}_joint_home", arm)),
            home_std=frozen(self._deviation(f"{side}_joint_home_std", arm)),
            forbid_collision_links=forbidden,
        )

    def _counted(self, name: str, values: tuple[Any, ...], arm: ArmSpec) -> bool:
        if len(values) != len(arm.joint_names):
            self.faults.append(
                f"{name}: is {list(values)}; write {len(arm.joint_names)}, one for each of {list(arm.joint_names)}"
            )
        return len(values) == len(arm.joint_names)

    def _same_link(self, name: str, link: str) -> None:
        path = self.given(name)
        if path is None:
            return
        found = link_of(self.robot, path)
        if found is None:
            self.faults.append(f"{name}: {unknown_link(self.robot, path)}")
        elif found != link:
            self.faults.append(f"{name}: is {path!r}, link {found!r}; the arm's is {link!r}, write that")

    def _links(self, name: str, default: tuple[str, ...]) -> tuple[str, ...]:
        if self.given(name) is None:
            return default
        found = []
        for i, path in enumerate(self.given(name)):
            link = link_of(self.robot, path)
            if link is None:
                self.faults.append(f"{name}[{i}]: {unknown_link(self.robot, path)}")
            else:
                found.append(link)
        return tuple(found)

    def _home(self, name: str, arm: ArmSpec) -> Any:  # noqa: ANN401 numbers
        home = self.given(name)
        if home is None or not self._counted(name, home, arm):
            return arm.home_q
        for i, (joint, value) in enumerate(zip(arm.joint_names, home, strict=True)):
            self._within(f"{name}[{i}]", joint, value)
        return home

    def _within(self, key: str, name: str, value: float) -> None:
        joint = self.robot.joints[name]
        if not joint.lower <= value <= joint.upper:
            limits = f"{joint.lower} to {joint.upper}"
            self.faults.append(f"{key}: is {value}, outside {name}'s limits {limits}; write one within")

    def _deviation(self, name: str, arm: ArmSpec) -> Any:  # noqa: ANN401 numbers
        deviation = self.given(name)
        if deviation is None or not self._counted(name, deviation, arm):
            return arm.home_std
        if np.min(deviation) < 0.0:
            self.faults.append(f"{name}: is {list(deviation)}; a deviation is 0 or more")
        return deviation

    def _posture(self) -> dict[str, float]:
        made: dict[str, float] = {}
        for word in BODIES:
            indices, home = self.given(f"{word}_indices"), self.given(f"{word}_home")
            if indices is None and home is None:
                continue
            if indices is None or home is None or len(indices) != len(home):
                self.faults.append(
                    f"{word}_home: is {home}, and {word}_indices {indices}; write both, of one length"
                )
                continue
            self.groups.take(f"{word}_indices", indices)
            joints = self.groups.joints(f"{word}_indices", indices)
            for i, (joint, value) in enumerate(zip(joints or (), home, strict=False)):
                if joint not in self.robot.posture:
                    known = list(self.robot.posture)
                    text = f"joint {joint!r} holds no posture; {nearest(joint, known)}"
                    self.faults.append(f"{word}_indices[{i}]: is {indices[i]}, and {text}")
                    continue
                self._within(f"{word}_home[{i}]", joint, value)
                made[joint] = value
        return made

    def _solver(self) -> PhysxSolver | None:
        given = {
            "position_iterations": "solver_position_iteration_count",
            "velocity_iterations": "solver_velocity_iteration_count",
            "stabilization_threshold": "stabilization_threshold",
        }
        values = {mine: self.given(name) for mine, name in given.items() if self.given(name) is not None}
        for mine, value in values.items():
            if value < 0 or (mine == "position_iterations" and value < 1):
                self.faults.append(f"{given[mine]}: is {value}; write more than 0")
        return replace(self.robot.physx or PhysxSolver(), **values) if values else self.robot.physx
