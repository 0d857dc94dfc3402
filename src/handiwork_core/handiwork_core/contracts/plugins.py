"""Built-ins plus plug-ins by entry point, under unique names."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import entry_points
from typing import Any


def collect(builtin: Iterable[Any], group: str) -> dict[str, Any]:
    """Map ``name`` attributes to objects: the given built-ins, then every entry point of ``group``.

    Args:
        builtin: Objects with an attribute ``name``.
        group: Group of entry points, such as ``handiwork.skills``.

    Returns:
        Objects by name.

    Raises:
        ValueError: Two of them share a name.
    """
    found: dict[str, Any] = {}
    for item in [*builtin, *(point.load() for point in entry_points(group=group))]:
        if item.name in found:
            raise ValueError(
                f"{group}: {item.name!r} is offered by both {found[item.name]} and {item}; rename one"
            )
        found[item.name] = item
    return found
