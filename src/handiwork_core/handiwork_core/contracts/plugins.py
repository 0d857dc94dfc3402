"""Built-ins plus plug-ins by entry point, under unique names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

OnFailure = Callable[[EntryPoint, Exception], None]
"""The policy for an entry point that cannot be used; it is left out when this returns."""


def refuse(point: EntryPoint, error: Exception) -> None:
    """Raise the error: the policy where a missing plug-in must not go unnoticed.

    Args:
        point: The entry point.
        error: The reason why it cannot be used.
    """
    raise error


def collect(
    builtin: Iterable[Any],
    group: str,
    *,
    make: Callable[[Any], Any] | None = None,
    on_failure: OnFailure = refuse,
    points: Iterable[EntryPoint] | None = None,
) -> dict[str, Any]:
    """Map ``name`` attributes to objects: the given built-ins, then every entry point of ``group``.

    Args:
        builtin: Objects with an attribute ``name``.
        group: Group of entry points, such as ``handiwork.skills``.
        make: Checks what an entry point loads, and returns the object; None: what it loads is the object.
        on_failure: Policy for an entry point that cannot be loaded or made, or whose name is taken.
        points: Entry points to load; None: the installed ones of ``group``.

    Returns:
        Objects by name.

    Raises:
        ValueError: Two built-ins share a name. With ``refuse``, any error of an entry point is raised, too.
    """
    found: dict[str, Any] = {}

    def take(name: str, item: object) -> None:
        if name in found:
            raise ValueError(f"{group}: the name {name!r} of {item} is taken by {found[name]}; rename one")
        found[name] = item

    for item in builtin:
        take(item.name, item)
    for point in _installed(group) if points is None else points:
        try:
            item = make(point.load()) if make else point.load()
            take(item.name, item)
        except Exception as error:  # noqa: BLE001, PERF203 - the border of plug-in code
            on_failure(point, error)
    return found


@cache
def _installed(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group. They are read once: looking through all packages takes 10 ms."""
    return tuple(entry_points(group=group))
