"""Definitions of message types in the format ros2msg, made from the generated classes."""

from __future__ import annotations

from importlib import import_module
from typing import Any

LINE = "=" * 80
PRIMITIVES = {
    "boolean": "bool",
    "octet": "byte",
    "float": "float32",
    "double": "float64",
}
"""The names of IDL that differ from those of message files."""


def class_of(name: str) -> Any:
    """Return the class of a type of a topic.

    Args:
        name: Name such as ``sensor_msgs/msg/JointState``, or of a part of an action, such as
            ``handiwork_msgs/action/Pick_FeedbackMessage`` and ``handiwork_msgs/action/Pick_SendGoal_Event``.

    Raises:
        LookupError: The package is not installed, or has no such type.
    """
    try:
        package, folder, kind = name.split("/")
        module = import_module(f"{package}.{folder}")
        plain = getattr(module, kind, None)
        if plain is not None:
            return plain
        owner, *parts = kind.split("_")
        found = getattr(module, owner)
        if folder == "srv":
            return getattr(found, parts[0])
        if parts == ["FeedbackMessage"]:
            return found.Impl.FeedbackMessage
        return getattr(getattr(found.Impl, f"{parts[0]}Service"), parts[1])
    except (ImportError, AttributeError, ValueError, IndexError) as error:
        raise LookupError(f"type {name} is not installed: {error}") from error


def definition_of(kind: Any) -> str:
    """Return the definition of a type, followed by those of the types in it.

    Args:
        kind: Generated class of a message.
    """
    parts, todo, done = [_fields(kind)], _inner(kind), set[str]()
    while todo:
        name = todo.pop(0)
        if name in done:
            continue
        done.add(name)
        inner = _class(name)
        package, _folder, plain = name.split("/")
        parts.append(f"{LINE}\nMSG: {package}/{_inner_name(plain)}\n{_fields(inner)}")
        todo += _inner(inner)
    return "".join(parts)


def _class(name: str) -> Any:
    package, folder, kind = name.split("/")
    module = import_module(f"{package}.{folder}")
    found = getattr(module, kind, None)
    if found is not None:
        return found
    owner, part, *rest = kind.split("_")
    action = getattr(module, owner)
    if not rest:
        return getattr(action, part)
    return getattr(getattr(action.Impl, f"{part}Service"), rest[0])


def _inner(kind: Any) -> list[str]:
    found = []
    for slot in kind.SLOT_TYPES:
        value = getattr(slot, "value_type", slot)
        if hasattr(value, "namespaced_name"):
            found.append("/".join(value.namespaced_name()))
    return found


def _inner_name(name: str) -> str:
    """Return the name of a part of an action without underscores, which names of messages may not have."""
    return name.replace("_", "")


def _fields(kind: Any) -> str:
    """Return one line per field; a type without fields has one byte, as in what is sent."""
    names = list(kind.get_fields_and_field_types())
    lines = [f"{_type(slot)} {name}\n" for name, slot in zip(names, kind.SLOT_TYPES, strict=True)]
    return "".join(lines) or "uint8 structure_needs_at_least_one_member\n"


def _type(slot: Any) -> str:
    value = getattr(slot, "value_type", None)
    if value is None:
        return _plain(slot)
    if hasattr(slot, "size"):
        return f"{_plain(value)}[{slot.size}]"
    bound = getattr(slot, "maximum_size", None)
    return f"{_plain(value)}[<={bound}]" if bound is not None else f"{_plain(value)}[]"


def _plain(slot: Any) -> str:
    if hasattr(slot, "namespaced_name"):
        package, _folder, name = slot.namespaced_name()
        return f"{package}/{_inner_name(name)}"
    name = getattr(slot, "typename", None)
    if name is not None:
        return str(PRIMITIVES.get(name, name))
    word = "wstring" if "W" in type(slot).__name__ else "string"
    bound = getattr(slot, "maximum_size", None)
    return word if bound is None else f"{word}<={bound}"
