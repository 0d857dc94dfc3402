"""Arguments of predicates as text: for keys, for YAML, for messages."""

from __future__ import annotations

import dataclasses
import enum
import json
import re

from handiwork_core.contracts.predicate import Predicate

BARE = re.compile(r"[A-Za-z_]\w*\Z")
NOT_BARE = {"and", "or", "not", "in", "is", "if", "else", "for", "lambda", "true", "false", "none", "null"}


def explicit(predicate: Predicate) -> dict[str, object]:
    """Return the arguments that differ from their defaults, as YAML would write them.

    Args:
        predicate: A dataclass.

    Returns:
        Argument name -> number, text, list or mapping.

    Raises:
        TypeError: ``predicate`` is no dataclass.
    """
    if not dataclasses.is_dataclass(predicate):
        raise TypeError(f"predicate {predicate!r} is no dataclass; make it one")
    return _differing(predicate)


def as_words(value: object) -> str:
    """Return a value as the expression language writes it.

    Args:
        value: A number, text, list or mapping.

    Returns:
        The text. Text has no quotes where it reads back the same without them.
    """
    if isinstance(value, str):
        plain = BARE.match(value) and value.lower() not in NOT_BARE
        return value if plain else json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return f"[{', '.join(map(as_words, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {as_words(item)}" for key, item in value.items()) + "}"
    return str(value)


def _differing(item: object) -> dict[str, object]:
    found = {}
    for field in dataclasses.fields(item):  # type: ignore[arg-type]  # callers pass dataclasses only
        value = getattr(item, field.name)
        if value != field.default:
            found[field.name] = _plain(value)
    return found


def _plain(value: object) -> object:
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return _differing(value) if dataclasses.is_dataclass(value) else value
