"""Turns a mapping, or its YAML text, into the typed parameters of a skill, or into one error with every fault."""

from __future__ import annotations

import dataclasses
import math
import typing
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from handiwork_core.config.dataclass_loader import (
    ConfigError,
    mapping_from_yaml,
    parse,
    shown,
)
from handiwork_core.contracts.skill import Skill
from handiwork_core.contracts.skill_params import SKILL
from handiwork_core.intake.limits import GOAL_YAML
from handiwork_core.model.geometry import Pose, Rotation

from .simbox_format import OBJECT_FIELDS, translated

P = TypeVar("P")

LARGEST_SEED = 2**63 - 1
POSE_KEYS = ("position", "quaternion_wxyz", "yaw_deg", "rpy_deg")


def parameters_from_yaml(skill: Skill[P], text: str, arm: str, source: str) -> P:
    """Parse the YAML text of a mapping into the parameters of a skill.

    Args:
        skill: Skill whose ``params_type`` is made.
        text: YAML mapping.
        arm: Arm that was named outside of the parameters; empty for none.
        source: Name of the text in error messages.

    Returns:
        An instance of ``skill.params_type``.

    Raises:
        ConfigError: The text is no valid mapping; lists every fault with its key and the correction.
    """
    return parameters_from(skill, mapping_from_yaml(text, source, GOAL_YAML), arm, source)


def parameters_from(skill: Skill[P], data: Mapping[str, Any], arm: str, source: str) -> P:
    """Parse a mapping into the parameters of a skill.

    Args:
        skill: Skill whose ``params_type`` is made.
        data: Fields, or keys of the SimBox format, with their values.
        arm: Arm that was named outside of the parameters; empty for none.
        source: Name of the mapping in error messages.

    Returns:
        An instance of ``skill.params_type``.

    Raises:
        ConfigError: Lists every fault with its key and the correction.
    """
    made, faults = _fields_from(skill.params_type, data, object_fields(skill), skill.name, arm)
    return _parsed(skill.params_type, made, faults, source)


def _fields_from(
    kind: type[Any], data: Mapping[str, Any], objects: Sequence[str], skill: str, arm: str
) -> tuple[dict[str, Any], list[str]]:
    """Translate parameters, also those of other skills in them, into fields; return them and the faults so far."""
    fields = dataclasses.fields(kind)
    names = tuple(f.name for f in fields)
    made, faults = translated(data, names, objects, skill)
    if "arm" in names and arm:
        if made.get("arm", "") not in ("", arm):
            faults.append(f"arm: is {shown(made['arm'])} where the goal says {arm!r}; name the arm once")
        made["arm"] = arm
    seed = made.get("seed", 0)
    if type(seed) is int and abs(seed) > LARGEST_SEED:
        faults.append(f"seed: is {shown(seed)}; use -{LARGEST_SEED} to {LARGEST_SEED}")
    for field in fields:
        inner, other = made.get(field.name), field.metadata.get(SKILL)
        if other and isinstance(inner, Mapping):
            of_other = OBJECT_FIELDS.get(other, ())
            made[field.name], more = _fields_from(nested_kind(kind, field.name), inner, of_other, other, arm)
            faults += [f"{field.name}.{fault}" for fault in more]
    return made, faults


def _parsed(kind: type[P], made: Mapping[str, Any], faults: list[str], source: str) -> P:
    try:
        params = parse(kind, made, source, READERS)
    except ConfigError as error:
        faults.extend(error.faults)
    if faults:
        raise ConfigError(source, faults)
    return params


def nested_kind(kind: type[Any], name: str) -> type[Any]:
    """Return the dataclass of a field that holds the parameters of another skill.

    Args:
        kind: Dataclass with the field.
        name: Name of the field.
    """
    args = typing.get_args(typing.get_type_hints(kind)[name])
    return next(arg for arg in args if dataclasses.is_dataclass(arg))  # type: ignore[return-value]


def nested_parameters_from_yaml(kind: type[P], skill: str, text: str, arm: str, source: str) -> P:
    """Parse the YAML text of parameters that are a field of another skill's; see ``skill_field``.

    Args:
        kind: Dataclass of the parameters.
        skill: Name of the skill whose parameters they are.
        text: YAML mapping.
        arm: Arm of the goal; empty for none.
        source: Name of the text in error messages.

    Returns:
        The parameters.

    Raises:
        ConfigError: Lists every fault with its key and the correction.
    """
    data = mapping_from_yaml(text, source, GOAL_YAML)
    made, faults = _fields_from(kind, data, OBJECT_FIELDS.get(skill, ()), skill, arm)
    return _parsed(kind, made, faults, source)


def object_fields(skill: Skill[Any]) -> tuple[str, ...]:
    """Return the fields that the list ``objects`` of the SimBox format fills.

    Args:
        skill: Skill whose parameters are filled.

    Returns:
        Names of the fields, in the order of the list.
    """
    return skill.object_fields or OBJECT_FIELDS.get(skill.name, ())


def pose_from(data: object) -> Pose:
    """Parse a pose from a position and at most one orientation.

    Args:
        data: ``{position: [x, y, z]}`` in m, with ``quaternion_wxyz``, ``yaw_deg`` or ``rpy_deg`` in deg; without an
            orientation it is the identity.

    Returns:
        The pose, in the frame that the caller's field has.

    Raises:
        ValueError: The mapping is wrong; says the fault and the correction.
    """
    if not isinstance(data, Mapping):
        raise ValueError(f"is {shown(data)}; write {{position: [x, y, z], yaw_deg: 0.0}}")
    unknown = sorted(str(key)[:40] for key in data if key not in POSE_KEYS)
    if unknown:
        raise ValueError(f"has unknown keys {unknown}; use {', '.join(POSE_KEYS)}")
    turns = [key for key in POSE_KEYS[1:] if key in data]
    if len(turns) > 1:
        raise ValueError(f"has {' and '.join(turns)}; keep one")
    position = _numbers(data.get("position"), 3, "position")
    return Pose.of(position, _rotation(data, turns[0]) if turns else Rotation.identity())


def rotation_from(data: object) -> Rotation:
    """Parse a quaternion ``[w, x, y, z]``.

    Args:
        data: List of four numbers.

    Returns:
        The rotation of the normalised quaternion.

    Raises:
        ValueError: The list is wrong; says the fault and the correction.
    """
    return Rotation.from_wxyz(_numbers(data, 4, "quaternion"))


def _rotation(data: Mapping[str, Any], key: str) -> Rotation:
    if key == "quaternion_wxyz":
        return Rotation.from_wxyz(_numbers(data[key], 4, key))
    if key == "rpy_deg":
        roll, pitch, yaw = (math.radians(angle) for angle in _numbers(data[key], 3, key))
        return Rotation.from_rpy(roll, pitch, yaw)
    return Rotation.from_rpy(0.0, 0.0, math.radians(_numbers([data[key]], 1, key)[0]))


def _numbers(value: object, count: int, key: str) -> tuple[float, ...]:
    numbers = value if isinstance(value, list) else []
    good = [float(n) for n in numbers if type(n) in (int, float) and math.isfinite(n) and abs(n) < 1e6]
    if len(numbers) == len(good) == count:
        return tuple(good)
    raise ValueError(f"{key} is {shown(value)}; write {count} finite number{'s' if count > 1 else ''}")


READERS = {Pose: pose_from, Rotation: rotation_from}
