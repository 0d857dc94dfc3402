"""The fields of a robot file under their documented names, each read separately, so that a fault hides no other."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from handiwork_core.config.dataclass_loader import ConfigError, parse
from handiwork_core.intake.limits import JSON_BYTES
from handiwork_core.intake.regular_files import FileRefused, read_bytes

Numbers = tuple[float, ...]
Names = tuple[str, ...]
Row = tuple[float, float, float]

SIDES = {"left": "fl", "right": "fr"}
"""Prefix of the fields of joints -> prefix of the fields of paths."""


@dataclass(frozen=True, slots=True)
class KeypointFields:
    """Points in the EE frame, m, of three numbers, or of four with a 1 at the end."""

    tool_head: Numbers
    tool_tail: Numbers
    tool_side: Numbers

    def __post_init__(self) -> None:
        for name in ("tool_head", "tool_tail", "tool_side"):
            point = getattr(self, name)
            if len(point) not in (3, 4) or point[3:] not in ((), (1.0,)):
                raise ValueError(f"{name}: is {list(point)}; write x, y, z and 1 [m]")


@dataclass(frozen=True, slots=True)
class RobotFields:
    """The fields of a robot file; None: not given.

    Widths, offsets and keypoints are in m, homes and their deviations in rad or m.
    """

    target_class: str | None = None
    path: str | None = None
    robot_file: str | Names | None = None
    gripper_max_width: float | None = None
    gripper_min_width: float | None = None
    tcp_offset: float | None = None
    solver_position_iteration_count: int | None = None
    solver_velocity_iteration_count: int | None = None
    stabilization_threshold: float | None = None
    left_joint_indices: tuple[int, ...] | None = None
    right_joint_indices: tuple[int, ...] | None = None
    left_gripper_indices: tuple[int, ...] | None = None
    right_gripper_indices: tuple[int, ...] | None = None
    body_indices: tuple[int, ...] | None = None
    head_indices: tuple[int, ...] | None = None
    lift_indices: tuple[int, ...] | None = None
    fl_ee_path: str | None = None
    fr_ee_path: str | None = None
    fl_base_path: str | None = None
    fr_base_path: str | None = None
    fl_gripper_keypoints: KeypointFields | None = None
    fr_gripper_keypoints: KeypointFields | None = None
    fl_filter_paths: Names | None = None
    fr_filter_paths: Names | None = None
    fl_forbid_collision_paths: Names | None = None
    fr_forbid_collision_paths: Names | None = None
    R_ee_graspnet: tuple[Row, Row, Row] | None = None
    ee_axis: str | None = None
    extra_depth_file: str | dict[str, Any] | None = None
    left_joint_home: Numbers | None = None
    right_joint_home: Numbers | None = None
    left_joint_home_std: Numbers | None = None
    right_joint_home_std: Numbers | None = None
    left_gripper_home: Numbers | None = None
    right_gripper_home: Numbers | None = None
    body_home: Numbers | None = None
    head_home: Numbers | None = None
    lift_home: Numbers | None = None


FIELDS = tuple(field.name for field in fields(RobotFields))
NEEDED = ("target_class", "gripper_max_width", "gripper_min_width", "tcp_offset", "R_ee_graspnet", "ee_axis")
"""Fields that every whole file needs."""
OF_SIDE = ("joint_indices", "gripper_indices", "joint_home", "gripper_home")
OF_PATH = ("ee_path", "base_path", "gripper_keypoints", "filter_paths", "forbid_collision_paths")
"""Fields of every arm; ``OF_SIDE`` follows ``left_`` and ``right_``, ``OF_PATH`` follows ``fl_`` and ``fr_``."""
TASK_LEVEL = ("name", "robot_config_file", "euler", "translation", "ignore_substring")
"""Fields of an entry of ``robots`` in a task file."""


@dataclass(frozen=True, slots=True)
class ReadFields:
    """The readable fields, the faults of the others, and their names."""

    fields: RobotFields
    faults: tuple[str, ...]
    bad: frozenset[str]


def read_fields(data: Mapping[str, Any]) -> ReadFields:
    """Read all fields that can be read; a null counts as a missing field.

    Args:
        data: The robot file.

    Returns:
        The fields with the faults of the others.
    """
    given = {str(key): value for key, value in data.items() if value is not None}
    try:
        return ReadFields(parse(RobotFields, given, ""), (), frozenset())
    except ConfigError as error:
        faults = tuple(_reworded(fault) for fault in error.faults)
    bad = frozenset(re.split(r"[.\[:]", fault, maxsplit=1)[0] for fault in faults)
    return ReadFields(parse(RobotFields, {k: v for k, v in given.items() if k not in bad}, ""), faults, bad)


def _reworded(fault: str) -> str:
    name = fault.partition(":")[0]
    if name in TASK_LEVEL:
        return f"{name}: belongs to the entry of robots in a task file; take it out here"
    if "unknown key; use one of" in fault:
        return f"{name}: is no field of a robot file; take it out (docs/reference/robot-files.md lists all)"
    return fault


def depth_rows(value: object) -> tuple[tuple[float, float], ...]:
    """Return rows of grasp width and additional depth.

    Args:
        value: The mapping of a depth file; the format ignores its first entry.

    Returns:
        Rows of width and depth, m, widths rising.

    Raises:
        ValueError: An entry is wrong; the message gives the fault and the remedy.
    """
    entries = list(value.values())[1:] if isinstance(value, Mapping) else []
    rows = [(entry.get("width"), entry.get("offset")) for entry in entries if isinstance(entry, Mapping)]
    numbers = [[float(x) for x in row if type(x) in (int, float)] for row in rows]  # type: ignore[arg-type]
    if len(rows) != len(entries) or any(len(row) != 2 for row in numbers):
        raise ValueError('has an entry that is not {"width": ..., "offset": ...} [m]; correct it')
    made = tuple(sorted((row[0], row[1]) for row in numbers))
    if len(made) < 4 or len({width for width, _ in made}) < len(made):
        raise ValueError(f"holds {len(made)} rows behind the first; give four or more, each of another width")
    return made


def json_of(path: Path) -> object:
    """Return the content of a JSON file.

    Args:
        path: The file.

    Raises:
        ValueError: The file cannot be read; the message gives the reason and the remedy.
    """
    try:
        return json.loads(read_bytes(path, JSON_BYTES))
    except FileRefused as error:
        remedy = "or leave the field out: grasps then go as deep as their rows say"
        raise ValueError(f"{path} {error}, {remedy}") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no JSON: {error}; correct it") from error
