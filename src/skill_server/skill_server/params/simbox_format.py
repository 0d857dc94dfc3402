"""Translates parameters of the SimBox format into those of our skills; its angles count from the positive axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from handiwork_core.config.dataclass_loader import shown

from .simbox_keys import LEFT_OUT, NULLS, RENAMED

OBJECT_FIELDS: Mapping[str, tuple[str, ...]] = {"pick": ("object",), "place": ("object", "container")}
FILTERS = {"filter_x_dir": "x", "filter_y_dir": "y", "filter_z_dir": "z"}
POSITIVE = ("forward", "leftward", "upward")
NEGATIVE = ("backward", "rightward", "downward")


def translated(
    data: Mapping[str, Any], fields: Sequence[str], object_fields: Sequence[str], skill: str = ""
) -> tuple[dict[str, Any], list[str]]:
    """Translate the keys of the SimBox format into the fields of a skill.

    A key that is a field of the skill itself stays as it is.

    Args:
        data: Parameters in the format.
        fields: Names of the skill's fields.
        object_fields: Fields that the list ``objects`` fills, in order.
        skill: Name of the skill, which selects its own renamed and refused keys.

    Returns:
        The translated mapping, and the faults of the format as ``key: fault``; empty for none.
    """
    made, faults = {k: v for k, v in data.items() if not (v is None and k in NULLS)}, list[str]()
    _names(made, fields, skill, faults)
    if "constraint_axis" in fields and "constraints" in made:
        _slice(made, faults)
    if "objects" in data and "objects" not in fields and object_fields:
        _objects(made, object_fields, faults)
    if "orientation_filters" in fields:
        for key, axis in FILTERS.items():
            if key in data and key not in fields:
                _filter(made, key, axis, faults)
    if "fixed_orientation" in fields and _is_flat(made.get("fixed_orientation")):
        made["fixed_orientation"] = [made["fixed_orientation"]]
    return made, faults


def _names(made: dict[str, Any], fields: Sequence[str], skill: str, faults: list[str]) -> None:
    """Rename keys, and refuse keys without a meaning here."""
    for key, field in RENAMED.get(skill, {}).items():
        if key in made and field in made:
            faults.append(f"{key}: is given beside {field}, which is the same; keep one of the two")
        elif key in made:
            made[field] = made.pop(key)
    for key, why in LEFT_OUT.get(skill, {}).items():
        if key in made and key not in fields:
            del made[key]
            faults.append(f"{key}: has no meaning here: {why}")


def _slice(made: dict[str, Any], faults: list[str]) -> None:
    """Translate ``constraints: [axis, low, high]``."""
    value = made.pop("constraints")
    axes: dict[object, str] = {"x": "x", "y": "y", "z": "z", 0: "x", 1: "y", 2: "z"}
    is_list = isinstance(value, list) and len(value) == 3
    if not is_list or isinstance(value[0], (bool, list, dict)) or value[0] not in axes:
        faults.append(
            f"constraints: is {shown(value)}; write [axis, low, high] with x, y or z and two ratios"
        )
        return
    for key, one in (("constraint_axis", axes[value[0]]), ("constraint_ratio_range", value[1:])):
        if key in made and made[key] != one:
            faults.append(f"constraints: is given beside {key}; keep one of the two")
        made[key] = one


def _is_flat(value: object) -> bool:
    return isinstance(value, list) and bool(value) and not isinstance(value[0], list)


def _objects(made: dict[str, Any], object_fields: Sequence[str], faults: list[str]) -> None:
    names = made.pop("objects")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        faults.append(f"objects: is {names!r:.80}; write a list of names for {', '.join(object_fields)}")
        return
    if len(names) > len(object_fields):
        faults.append(
            f"objects: has {len(names)} names; write at most {len(object_fields)}: {', '.join(object_fields)}"
        )
        return
    for field, name in zip(object_fields, names, strict=False):
        if field in made and made[field] != name:
            faults.append(f"objects: says {name!r} where {field} says {made[field]!r}; keep one of the two")
        made[field] = name


def _filter(made: dict[str, Any], key: str, axis: str, faults: list[str]) -> None:
    value = made.pop(key)
    if value is None:
        return
    numbers = value[1:] if isinstance(value, list) else []
    good = all(isinstance(n, (int, float)) and not isinstance(n, bool) for n in numbers)
    if len(numbers) not in (1, 2) or not good or value[0] not in (*POSITIVE, *NEGATIVE):
        directions = ", ".join((*POSITIVE, *NEGATIVE))
        faults.append(
            f"{key}: is {value!r:.80}; write [direction, angle] or [direction, angle, angle] with one of {directions}"
        )
        return
    low, high = _range(value[0] in POSITIVE, [float(n) for n in numbers])
    one = {"ee_axis": axis, "direction": value[0], "min_angle_deg": low, "max_angle_deg": high}
    others = made.get("orientation_filters", [])
    made["orientation_filters"] = [*(others if isinstance(others, list) else [others]), one]


def _range(is_positive: bool, angles: Sequence[float]) -> tuple[float, float]:
    """Return the angles from the named direction, smaller one first; a single one bounds the angle from the axis."""
    if len(angles) == 1:
        return (0.0, angles[0]) if is_positive else (0.0, 180.0 - angles[0])
    from_named = sorted(a if is_positive else 180.0 - a for a in angles)
    return from_named[0], from_named[1]
