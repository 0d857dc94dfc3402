"""The keys of control nodes: mappings, bounds of loops and conditions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handiwork_core.config.dataclass_loader import nearest, shown
from handiwork_core.intake.limits import LOOP_TURNS
from skill_server.task.model import Condition

from .entries import Reading

LONGEST_WAIT_S = 600.0
"""Greatest ``within_s`` of a condition, s."""


def read_condition(data: object, path: str, reading: Reading) -> Condition:
    """Read a condition: an expression, or a mapping with ``expression`` and ``within_s``.

    Args:
        data: The value.
        path: Its place in the file.
        reading: Receives the faults.

    Returns:
        The condition; with an empty text when it has none.
    """
    within: object = 0.0
    if isinstance(data, Mapping):
        given = mapping_of(data, path, ("expression",), ("within_s",), reading)
        within = reading.filled(given.get("within_s", 0.0), f"{path}.within_s")
        data = given.get("expression")
    if (
        isinstance(within, bool)
        or not isinstance(within, (int, float))
        or not 0.0 <= within <= LONGEST_WAIT_S
    ):
        reading.fault(f"{path}.within_s", f"is {shown(within)}; write 0 to {LONGEST_WAIT_S:g} s")
        within = 0.0
    count = len(reading.faults)
    text = reading.filled(data, path)
    if not isinstance(text, str) or not text.strip():
        remedy = "write a condition, such as object_in_container(object=cube, container=bin)"
        reading.fault(path, f"is {shown(text)}; {remedy}")
        return Condition(path, "", float(within))
    if len(reading.faults) == count:
        reading.examine(text, path)
    return Condition(path, text, float(within))


def mapping_of(
    data: object, path: str, needed: tuple[str, ...], other: tuple[str, ...], reading: Reading
) -> Mapping[str, Any]:
    """Return a mapping that has keys of a control node only.

    Args:
        data: The value.
        path: Its place in the file.
        needed: Keys that must be there.
        other: Keys that may be there.
        reading: Receives the faults.

    Returns:
        The mapping; empty for none.
    """
    keys = [*needed, *other]
    if not isinstance(data, Mapping):
        reading.fault(path, f"is {shown(data)}; write a mapping with {', '.join(keys)}")
        return {}
    for key in data:
        if key not in keys:
            reading.fault(f"{path}.{str(key)[:80]}", f"unknown key; {nearest(str(key)[:80], keys)}")
    for key in needed:
        if key not in data:
            reading.fault(f"{path}.{key}", "missing; add it")
    return data if all(key in data for key in needed) else {}


def whole_number(given: Mapping[str, Any], key: str, path: str, reading: Reading) -> int:
    """Return the bound of a loop.

    Args:
        given: Mapping of the control node; empty when it was refused.
        key: Key of the number.
        path: Place of the mapping in the file.
        reading: Receives the faults.

    Returns:
        The number; 1 when it was refused.
    """
    if not given:
        return 1
    number = reading.filled(given[key], f"{path}.{key}")
    if type(number) is int and 1 <= number <= LOOP_TURNS:
        return number
    reading.fault(f"{path}.{key}", f"is {shown(number)}; write a whole number from 1 to {LOOP_TURNS}")
    return 1
