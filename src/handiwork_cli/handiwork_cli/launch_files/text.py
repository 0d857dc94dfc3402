"""Text with ``$(name argument ...)`` in it: parsing into a template, splitting into words, and typing of values."""

from __future__ import annotations

import math
import shlex

import yaml

from .model import Substitution, Template

Scalar = bool | int | float | str
Value = Scalar | list[Scalar]

TYPES = ("str", "bool", "int", "float", "yaml", "list_of_str", "list_of_bool", "list_of_int", "list_of_float")
_KINDS: dict[str, type] = {"str": str, "bool": bool, "int": int, "float": float}


def parse_template(text: str) -> Template:
    """Split text into plain parts and substitutions. A backslash escapes the next character.

    Args:
        text: The text.

    Raises:
        ValueError: A substitution has no name or no end.
    """
    parts, end = _template(text, 0, stop="")
    if end != len(text):
        raise ValueError(f"unexpected {text[end]!r} in {text!r}; escape it with a backslash")
    return parts


def _template(text: str, at: int, stop: str) -> tuple[Template, int]:
    """Read parts from ``at`` up to an unescaped character of ``stop`` or the end."""
    parts: list[str | Substitution] = []
    plain = ""
    while at < len(text) and text[at] not in stop:
        if text[at] == "\\" and at + 1 < len(text):
            plain, at = plain + text[at + 1], at + 2
        elif text.startswith("$(", at):
            if plain:
                parts.append(plain)
            plain = ""
            substitution, at = _substitution(text, at + 2)
            parts.append(substitution)
        else:
            plain, at = plain + text[at], at + 1
    if plain or not parts:
        parts.append(plain)
    return tuple(parts), at


def _substitution(text: str, at: int) -> tuple[Substitution, int]:
    start, arguments = at, []
    while at < len(text) and (text[at].isalnum() or text[at] in "_-"):
        at += 1
    name = text[start:at]
    if not name:
        raise ValueError(f"$( without a name in {text!r}; write $(name argument)")
    while at < len(text) and text[at] != ")":
        if text[at].isspace():
            at += 1
            continue
        quote = text[at] if text[at] in "\"'" else ""
        argument, at = _template(text, at + len(quote), stop=quote or " \t\n)")
        at += len(quote)
        arguments.append(argument)
    if at >= len(text):
        raise ValueError(f"$({name} has no end in {text!r}; add a )")
    return Substitution(name, tuple(arguments)), at + 1


def split_words(template: Template) -> tuple[Template, ...]:
    """Split a command line at the white space of its plain text; substitutions stay whole within their word.

    Args:
        template: The command line.
    """
    words: list[list[str | Substitution]] = [[]]
    for part in template:
        if isinstance(part, Substitution):
            words[-1].append(part)
            continue
        if part[:1].isspace() and words[-1]:
            words.append([])
        for i, token in enumerate(shlex.split(part)):
            if i and words[-1]:
                words.append([])
            words[-1].append(token)
        if part[-1:].isspace() and words[-1]:
            words.append([])
    return tuple(tuple(word) for word in words if word)


def truth(text: str) -> bool:
    """Return the value of a condition.

    Args:
        text: true, false, 1 or 0 in upper or lower case.

    Raises:
        ValueError: It is something else.
    """
    word = text.strip().lower()
    if word in ("true", "1"):
        return True
    if word in ("false", "0"):
        return False
    raise ValueError(f"{text!r} is no condition; write true or false")


def typed(text: str, kind: str) -> Value:
    """Convert the text of a parameter to its type.

    Args:
        text: The value.
        kind: One of ``TYPES``; empty or "yaml" for the rules of YAML.

    Raises:
        ValueError: The text does not have the type.
    """
    if kind == "str":
        return text
    if kind == "bool":
        return _boolean(text)
    if kind in ("int", "float"):
        return _number(text, kind)
    try:
        value = yaml.safe_load(text) if text else text
    except yaml.YAMLError as error:
        raise ValueError(f"{text!r} is not YAML: {error}") from error
    if kind.startswith("list_of_"):
        return _list(value, kind)
    if isinstance(value, (bool, int, float, str)):
        return value
    if (
        isinstance(value, list)
        and len({type(v) for v in value}) <= 1
        and all(type(v) in _KINDS.values() for v in value)
    ):
        return value
    raise ValueError(
        f"{text!r} is no value that a ROS parameter can take; write a number, text, true, false or a list of one kind"
    )


def _boolean(text: str) -> bool:
    """Convert a parameter like launch: a truth word of YAML (also yes, no, on, off), or 1 or 0."""
    try:
        value = text == "1" if text in ("0", "1") else yaml.safe_load(text)
    except yaml.YAMLError:
        value = None
    if not isinstance(value, bool):
        raise ValueError(f"{text!r} is not of type bool; write true or false")
    return value


def _number(text: str, kind: str) -> Scalar:
    try:
        number = int(text) if kind == "int" else float(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is not of type {kind}") from error
    if not math.isfinite(number):
        raise ValueError(f"{text!r} is not finite")
    return number


def _list(value: object, kind: str) -> list[Scalar]:
    wanted = _KINDS[kind.removeprefix("list_of_")]
    if not isinstance(value, list) or any(type(v) is not wanted for v in value):
        raise ValueError(f"{value!r} is not of type {kind}")
    return value
