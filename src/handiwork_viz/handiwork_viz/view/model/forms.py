"""Forms of skills, generated from their parameters: the fields, and the goal's parameters from what was filled in."""

from __future__ import annotations

import dataclasses
import inspect
import re
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import yaml

from handiwork_core.config.dataclass_loader import ConfigError, mapping_from_yaml
from handiwork_core.contracts.skill import Skill
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.params.checks import Bounds, observed_bounds
from skill_server.params.parsing import object_fields

COMMON = {field.name for field in dataclasses.fields(SkillParams)}
"""The parameters that every skill has: they come last."""
ARM_FIELDS = ("to_arm",)
UNSET = ""
"""The choice of a name that is left out."""


class FieldKind(Enum):
    """How a field is filled in."""

    SWITCH = "switch"
    WHOLE = "whole number"
    NUMBER = "number"
    WORD = "word"
    CHOICE = "choice"
    VECTOR = "three numbers"
    POSES = "poses"
    YAML = "YAML"


@dataclass(frozen=True, slots=True)
class FormField:
    """One parameter of a skill.

    Attributes:
        name: Name of the parameter.
        kind: How it is filled in.
        default: Its default as a plain value; for a required field the first value that is shown.
        is_required: True when it has no default.
        low: Least value.
        high: Greatest value.
        choices: Valid words.
        hint: Meaning, unit and range, in words.
    """

    name: str
    kind: FieldKind
    default: Any
    is_required: bool
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """The form of one skill.

    Attributes:
        skill: Name of the skill.
        about: Its description, one sentence.
        fields: Its parameters: required ones first, common ones last.
        pose_fields: Fields that a pose dragged in the scene fills; none where the skill has no pose.
    """

    skill: str
    about: str
    fields: tuple[FormField, ...]
    pose_fields: tuple[str, ...] = ()

    def is_prominent(self, field: FormField) -> bool:
        """Return True for a field that is always shown; the others are folded away.

        Args:
            field: A field of this form.
        """
        return field.is_required or field.name in self.pose_fields or field.name in ("object", "container")


def form_of(skill: Skill[Any], robot: Robot, arm: ArmSpec, world: World) -> Form:
    """Generate the form of a skill for an arm in the present world.

    Args:
        skill: The skill, built in or of a plug-in.
        robot: The robot.
        arm: The arm that the goal is for.
        world: The present world: its objects are the choices of fields that name one.

    Returns:
        The form. Ranges and choices are those by which ``skill.is_feasible`` checks a goal.
    """
    kind = skill.params_type
    bounds = _bounds(skill, robot, arm, world)
    hints, about = typing.get_type_hints(kind), _attribute_docs(kind)
    objects = {*object_fields(skill), *(name for name, one in bounds.items() if one.is_object)}
    names = tuple(sorted(world.objects))
    made = []
    for field in dataclasses.fields(kind):
        if field.name == "arm":  # chosen for the whole page
            continue
        choices = (
            _choices(field.name, objects, names, robot, world) or bounds.get(field.name, Bounds()).choices
        )
        choices = choices or _words(hints[field.name])
        one = _field(field, hints[field.name], bounds.get(field.name), choices, about.get(field.name, ""))
        if one.name == "object" and one.is_required:
            one = dataclasses.replace(one, default=_first_movable(world))
        made.append(one)
    made.sort(key=lambda field: (not field.is_required, field.name in COMMON))
    given = {field.name: field.kind for field in made}
    poses = tuple(name for name, one in given.items() if one is FieldKind.POSES)
    if given.get("position") is FieldKind.VECTOR:
        poses = ("position", "quaternion") if "quaternion" in given else ("position",)
    return Form(skill.name, _first_line(type(skill)), tuple(made), poses)


def parameters_of(form: Form, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a goal: what was filled in and differs from the defaults.

    Args:
        form: The form.
        values: Value of each field, as it was filled in.

    Returns:
        Parameters by name, for ``run_skill``.

    Raises:
        ConfigError: A required field is empty, or a text is no YAML; one fault for each.
    """
    made, faults = dict[str, Any](), list[str]()
    for field in form.fields:
        value = values.get(field.name, field.default)
        if field.kind in (FieldKind.YAML, FieldKind.POSES) or (
            field.kind is FieldKind.WORD and field.default is None
        ):
            try:
                value = (
                    mapping_from_yaml(f"value: {value}", field.name)["value"] if str(value).strip() else None
                )
            except ConfigError as error:
                faults += [f"{field.name}: {fault}" for fault in error.faults]
                continue
        elif field.kind is FieldKind.VECTOR:
            value = [round(float(number), 6) for number in value]
        if field.is_required and value in (None, UNSET):
            faults.append(f"{field.name}: is empty; give a value")
        elif value not in (None, UNSET) and (field.is_required or value != field.default):
            made[field.name] = value
    if faults:
        raise ConfigError(f"form of {form.skill}", faults)
    return made


def pose_values(form: Form, base_T_tool: Pose, world_T_tool: Pose) -> dict[str, Any]:
    """Return the values that a dragged pose gives to the form's pose fields.

    Args:
        form: The form.
        base_T_tool: The pose in the arm's base, for ``position`` and ``quaternion``.
        world_T_tool: The same pose in the world, for lists of poses.

    Returns:
        Values by field.
    """
    found = dict[str, Any]()
    for name in form.pose_fields:
        if name == "position":
            found[name] = tuple(round(float(x), 4) for x in base_T_tool.translation_m)
        elif name == "quaternion":
            found[name] = _flow([round(float(x), 5) for x in base_T_tool.rotation.wxyz])
        else:
            position = [round(float(x), 4) for x in world_T_tool.translation_m]
            turn = [round(float(x), 5) for x in world_T_tool.rotation.wxyz]
            found[name] = _flow([{"position": position, "quaternion_wxyz": turn}])
    return found


def _field(
    field: dataclasses.Field[Any], hint: Any, bounds: Bounds | None, choices: tuple[str, ...], about: str
) -> FormField:
    is_required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    default = None if is_required else _default(field)
    kind = _kind(hint, default, is_required, choices)
    low = high = None
    if bounds is not None and kind in (FieldKind.NUMBER, FieldKind.WHOLE):
        low, high = (None if abs(end) == float("inf") else end for end in (bounds.low, bounds.high))
    if isinstance(default, (int, float)):  # 0 often means "none", outside of the range
        low = low if low is None else min(low, default)
        high = high if high is None else max(high, default)
    if kind is FieldKind.CHOICE:
        first = default if default in choices else (UNSET if not is_required else choices[0])
        choices = choices if first in choices else (first, *choices)
        default = first
    elif is_required:
        default = _first(kind, low, high)
    elif kind in (FieldKind.YAML, FieldKind.POSES):
        default = None if default is None else _plain(default)
    words = [about, _range_text(bounds) if low is not None or high is not None else ""]
    return FormField(
        field.name, kind, default, is_required, low, high, choices, " ".join(filter(None, words))
    )


def _kind(hint: Any, default: Any, is_required: bool, choices: tuple[str, ...]) -> FieldKind:
    if hint is str or _words(hint):
        return FieldKind.CHOICE if choices else FieldKind.WORD
    for one, kind in ((bool, FieldKind.SWITCH), (int, FieldKind.WHOLE), (float, FieldKind.NUMBER)):
        if hint is one:
            return kind
    if hint == tuple[float, float, float] and (is_required or default is not None):
        return FieldKind.VECTOR
    return FieldKind.POSES if hint == tuple[Pose, ...] else FieldKind.YAML


def _words(hint: Any) -> tuple[str, ...]:
    """Return the values of an enumeration; empty for other types."""
    is_words = isinstance(hint, type) and issubclass(hint, Enum)
    return tuple(str(one.value) for one in hint) if is_words else ()


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is dataclasses.MISSING:
        assert field.default_factory is not dataclasses.MISSING
        return field.default_factory()
    default: Any = field.default
    if isinstance(default, Enum):
        return default.value
    return list(default) if isinstance(default, tuple) else default


def _first(kind: FieldKind, low: float | None, high: float | None) -> Any:
    if kind in (FieldKind.NUMBER, FieldKind.WHOLE):
        value = min(max(0.0, low if low is not None else 0.0), high if high is not None else 0.0)
        return int(value) if kind is FieldKind.WHOLE else value
    return {FieldKind.SWITCH: False, FieldKind.VECTOR: [0.0, 0.0, 0.0]}.get(kind, UNSET)


def _choices(
    name: str, objects: set[str], known: tuple[str, ...], robot: Robot, world: World
) -> tuple[str, ...]:
    """Return the names that a field can have: objects, frames, tools or arms."""
    if name in objects:
        return (UNSET, *known)
    links = tuple(f"{robot.name}/{link}" for link in robot.links)
    if name == "frame":
        return ("base", "world", *known, *links)
    if name == "tool":
        return (
            UNSET,
            *robot.tool_frames,
            *robot.links,
            *(name for name in known if not world.objects[name].is_static),
        )
    return (UNSET, *robot.arms) if name in ARM_FIELDS else ()


def _bounds(skill: Skill[Any], robot: Robot, arm: ArmSpec, world: World) -> dict[str, Bounds]:
    """Return what the skill's own check accepts in each field, found by checking the defaults."""
    placeholder = next((name for name in world.objects if name in world.states), "object")
    values: dict[str, Any] = {}
    hints = typing.get_type_hints(skill.params_type)
    for field in dataclasses.fields(skill.params_type):
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            values[field.name] = _placeholder(hints[field.name], placeholder)
    with observed_bounds() as found:
        try:
            skill.is_feasible(skill.params_type(**values), robot, arm, world)
        except Exception:  # noqa: BLE001 - code of a plug-in, and placeholders that it need not expect
            return found
    return found


def _placeholder(hint: Any, name: str) -> Any:
    if hint is str:
        return name
    if hint in (int, float, bool):
        return hint(0)
    inner = typing.get_args(hint)
    return () if not inner or inner[-1] is Ellipsis else tuple(_placeholder(one, name) for one in inner)


def _first_movable(world: World) -> str:
    return next((name for name, item in world.objects.items() if not item.is_static), UNSET)


def _range_text(bounds: Bounds | None) -> str:
    return f"{bounds.low:g} to {bounds.high:g} {bounds.unit}".strip() if bounds else ""


def _plain(value: Any) -> Any:
    """Return a value as YAML writes it: dataclasses as mappings, tuples as lists."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def text_of(value: Any) -> str:
    """Return a value as the text of its field.

    Args:
        value: A plain value; None for none.

    Returns:
        YAML in one line; empty for None.
    """
    return "" if value is None or value == [] else _flow(_plain(value))


def _flow(value: Any) -> str:
    return str(yaml.safe_dump(value, default_flow_style=True, width=10_000)).removesuffix("\n...\n").strip()


def _attribute_docs(kind: type[Any]) -> dict[str, str]:
    """Return what the docstrings of a dataclass and its bases say of their attributes."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        text = inspect.getdoc(one) or ""
        _, _, section = text.partition("Attributes:\n")
        for match in re.finditer(r"^    (\w+): (.*(?:\n {8}.*)*)", section, re.MULTILINE):
            found[match[1]] = " ".join(match[2].split())
    return found


def _first_line(kind: type[Any]) -> str:
    return (inspect.getdoc(kind) or "").partition("\n")[0]


def changed_choices(before: Sequence[str], world: World) -> bool:
    """Return True when the objects that a form offers are not those of the world any more.

    Args:
        before: Names of the objects when the form was made.
        world: The present world.
    """
    return tuple(before) != tuple(sorted(world.objects))
