"""The allowed arguments of predicates; every refusal begins with the argument's name and a colon."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Names: TypeAlias = str | tuple[str, ...]
"""One name, or several."""


def several(names: bool | Names) -> tuple[str, ...]:
    """Return the names as a tuple.

    Args:
        names: One name, several, or a truth value.

    Returns:
        The names; empty for a truth value.
    """
    return (names,) if isinstance(names, str) else names if isinstance(names, tuple) else ()


def distinct(field_name: str, names: Sequence[str], least: int) -> None:
    """Refuse too few names, empty names, and names that occur twice.

    Args:
        field_name: The argument, for the error.
        names: Its value.
        least: The smallest number of names.

    Raises:
        ValueError: A name is missing, empty or repeated; the message begins with ``field_name``.
    """
    if len(names) < least:
        raise ValueError(f"{field_name}: lists {len(names)} names; write a list of at least {least}")
    if "" in names:
        raise ValueError(f"{field_name}: holds an empty name; remove it")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{field_name}: names {twice[0]!r} twice; name it once")


def not_negative(**values: float) -> None:
    """Refuse numbers below zero, and nan.

    Args:
        **values: Arguments by name.

    Raises:
        ValueError: One is negative or nan; the message begins with the argument's name.
    """
    for name, value in values.items():
        if not value >= 0.0:
            raise ValueError(f"{name}: is {value:g}; write 0 or more")


def check_share(min_share: float) -> None:
    """Refuse a share of nothing.

    Args:
        min_share: The share.

    Raises:
        ValueError: It is not more than 0 and at most 1; the message begins with ``min_share``.
    """
    if not 0.0 < min_share <= 1.0:
        raise ValueError(f"min_share: is {min_share:g}; write more than 0 and at most 1")
