"""Strict loading: a mapping becomes a frozen dataclass, or one error lists every fault with its key and its remedy."""

from __future__ import annotations

import dataclasses
import difflib
import enum
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml

from handiwork_core.config.strict_yaml import value_of
from handiwork_core.intake.limits import ENTRIES_LISTED, FAULTS_LISTED, FILE_YAML, YamlLimits
from handiwork_core.intake.regular_files import FileRefused, read_bytes

T = TypeVar("T")

KIND_WORDS = {float: "a number", int: "a whole number", str: "text", bool: "true or false"}

LONGEST_SHOWN = 80
CHOICES_LISTED = 40
NEAREST_AMONG = 500
UNKNOWN_KEYS = 20


class ConfigError(ValueError):
    """The faults of one file or mapping.

    Only the first ``FAULTS_LISTED`` are kept; one more sentence counts the others.

    Args:
        source: Name of the file or message, for the error text.
        faults: Sentences of the form ``key: what is wrong; what to do``.
    """

    exit_code = 2
    """Exit code of a process that ends because of this error: a restart would not help."""

    def __init__(self, source: str, faults: Sequence[str]) -> None:
        kept, left = tuple(faults[:FAULTS_LISTED]), len(faults) - FAULTS_LISTED
        if left > 0:
            kept = (*kept, f"{left} further faults; correct the first ones")
        self.source, self.faults = source, kept
        super().__init__(f"{source}: " + " | ".join(kept))

    def __reduce__(self) -> tuple[type[ConfigError], tuple[str, tuple[str, ...]]]:
        """Return what another process makes the error from; an exception's own way gives the text alone."""
        return type(self), (self.source, self.faults)


def read_yaml(path: Path, limits: YamlLimits = FILE_YAML) -> dict[str, Any]:
    """Read a YAML mapping from a regular file.

    Args:
        path: The file.
        limits: Bounds of its text.

    Returns:
        The mapping; empty for an empty file.

    Raises:
        ConfigError: The file is missing, is not YAML (with line and column), exceeds a limit, or does not hold a
            mapping.
    """
    try:
        text = read_bytes(path, 4 * limits.characters).decode("utf-8")
    except FileRefused as error:
        raise ConfigError(str(path), [str(error)]) from error
    except UnicodeDecodeError as error:
        raise ConfigError(str(path), [f"byte {error.start}: is no UTF-8; save it as UTF-8 text"]) from error
    return mapping_from_yaml(text, str(path), limits)


def mapping_from_yaml(text: str, source: str, limits: YamlLimits = FILE_YAML) -> dict[str, Any]:
    """Read a YAML mapping from text that an untrusted client may have sent.

    Args:
        text: The document.
        source: Name of the document in error texts.
        limits: Bounds of the text.

    Returns:
        The mapping; empty for an empty text.

    Raises:
        ConfigError: The text is too long, is no YAML (with line and column), repeats a key, has an alias, or holds no
            mapping.
    """
    if len(text) > limits.characters:
        raise ConfigError(source, [f"is {len(text)} characters long; keep it within {limits.characters}"])
    try:
        data = value_of(text, limits)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "somewhere"
        what = str(getattr(error, "problem", None) or "bad syntax")[:300]
        raise ConfigError(source, [f"{where}: {what}; correct the YAML there"]) from error
    data = {} if data is None and not text.strip() else data
    if not isinstance(data, dict):
        raise ConfigError(source, [f"holds a {type(data).__name__}; write a mapping of keys at the top"])
    return data


Reader = Callable[[Any], Any]
"""Makes a value of one type from YAML data; raises ValueError with the fault and its remedy."""


def parse(
    kind: type[T], data: Mapping[str, Any], source: str, readers: Mapping[Any, Reader] | None = None
) -> T:
    """Build dataclass ``kind`` from ``data``.

    Nested dataclasses, ``X | None``, ``tuple[X, ...]``, fixed tuples, ``dict[str, X]``, enums by value, str,
    bool, int and float are understood, and the types of ``readers``. Unknown and missing keys, wrong types and
    numbers that are not finite are faults. A ``__post_init__`` that raises ValueError becomes a fault of its key,
    or of the field if the message begins with the field's name and a colon.

    Args:
        kind: The dataclass.
        data: Values by field name.
        source: Name of the data in error texts.
        readers: Readers of further types, by type.

    Returns:
        An instance of ``kind``.

    Raises:
        ConfigError: The data has faults; the error lists all of them.
    """
    faults = _Faults(readers or {})
    value = _build(kind, data, "", faults)
    if faults:
        raise ConfigError(source, faults)
    return typing.cast(T, value)


class _Faults(list[str]):
    """The faults found so far, with the readers of further types."""

    def __init__(self, readers: Mapping[Any, Reader]) -> None:
        super().__init__()
        self.readers = readers


def load(kind: type[T], path: Path, readers: Mapping[Any, Reader] | None = None) -> T:
    """Build dataclass ``kind`` from a YAML file; see ``parse``.

    Args:
        kind: The dataclass.
        path: The file.
        readers: Readers of further types, by type.

    Returns:
        An instance of ``kind``.

    Raises:
        ConfigError: The file cannot be read or has faults.
    """
    return parse(kind, read_yaml(path), str(path), readers)


def shown(data: Any) -> str:
    """Return the representation of a value for a message.

    Args:
        data: Any value.

    Returns:
        At most ``LONGEST_SHOWN`` characters of it; an ellipsis follows a cut.
    """
    text = repr(data)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def nearest(name: str, choices: Sequence[str]) -> str:
    """Return a hint that names the closest choice, or all choices when none is close.

    Args:
        name: The unknown name.
        choices: The valid names; at most ``CHOICES_LISTED`` are listed.

    Returns:
        A clause for an error text.
    """
    # The comparison takes quadratic time in the lengths, and the sender of the name controls them.
    short = [choice for choice in choices if len(choice) <= LONGEST_SHOWN][:NEAREST_AMONG]
    close = difflib.get_close_matches(name, short, n=1) if len(name) <= LONGEST_SHOWN else []
    if close:
        return f"did you mean {close[0]!r}?"
    listed = sorted(choices)[:CHOICES_LISTED]
    more = f" and {len(choices) - CHOICES_LISTED} more" if len(choices) > CHOICES_LISTED else ""
    return f"use one of {listed}{more}"


def _build(kind: Any, data: Any, key: str, faults: _Faults) -> Any:
    if not isinstance(data, Mapping):
        faults.append(f"{key or 'top'}: is {shown(data)}; write a mapping of keys")
        return None
    hints = typing.get_type_hints(kind)
    fields = {f.name: f for f in dataclasses.fields(kind)}
    before = len(faults)
    unknown = [given for given in data if given not in fields]
    for given in unknown[:UNKNOWN_KEYS]:
        name = str(given)[:LONGEST_SHOWN]
        faults.append(f"{_join(key, name)}: unknown key; {nearest(name, list(fields))}")
    if len(unknown) > UNKNOWN_KEYS:
        faults.append(f"{key or 'top'}: has {len(unknown)} unknown keys; take them out")
    values: dict[str, Any] = {}
    for name, spec in fields.items():
        if name in data:
            values[name] = _value(hints[name], data[name], _join(key, name), faults)
        elif spec.default is dataclasses.MISSING and spec.default_factory is dataclasses.MISSING:
            faults.append(f"{_join(key, name)}: missing; add it")
    if len(faults) > before:
        return None
    try:
        return kind(**values)
    except ValueError as error:
        named = str(error).partition(":")[0] in fields
        faults.append(_join(key, str(error)) if named else f"{key or 'top'}: {error}")
        return None


def _value(hint: Any, data: Any, key: str, faults: _Faults) -> Any:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if reader := faults.readers.get(hint):
        try:
            return reader(data)
        except ValueError as error:
            faults.append(f"{key}: {error}")
            return None
    if origin in (types.UnionType, typing.Union):
        if data is None and type(None) in args:
            return None
        return _one_of([a for a in args if a is not type(None)], data, key, faults)
    if dataclasses.is_dataclass(hint):
        return _build(hint, data, key, faults)
    if origin is tuple:
        return _sequence(args, data, key, faults)
    if origin in (dict, Mapping):
        if not isinstance(data, Mapping):
            faults.append(f"{key}: is {shown(data)}; write a mapping of keys")
            return None
        return {str(k): _value(args[1], v, _join(key, str(k)), faults) for k, v in data.items()}
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return _member(hint, data, key, faults)
    return _scalar(hint, data, key, faults)


def _one_of(hints: list[Any], data: Any, key: str, faults: _Faults) -> Any:
    """Return the value of the first kind that fits.

    If none fits, one fault names all kinds, or the faults of the last kind are kept.
    """
    found = _Faults(faults.readers)
    for hint in hints:
        found = _Faults(faults.readers)
        value = _value(hint, data, key, found)
        if not found:
            return value
    if len(hints) > 1 and all(fault.startswith(f"{key}: ") for fault in found):
        words = " or ".join(_kind_words(hint) for hint in hints)
        found[:] = [f"{key}: is {shown(data)}; write {words}"]
    faults.extend(found)
    return None


def _kind_words(hint: Any) -> str:
    return KIND_WORDS.get(hint, "a list" if typing.get_origin(hint) is tuple else str(hint))


def _sequence(args: tuple[Any, ...], data: Any, key: str, faults: _Faults) -> Any:
    if not isinstance(data, Sequence) or isinstance(data, str):
        faults.append(f"{key}: is {shown(data)}; write a list")
        return None
    if len(args) == 2 and args[1] is Ellipsis:
        return _entries(args[0], data, key, faults)
    if len(args) != len(data):
        faults.append(f"{key}: has {len(data)} entries; write {len(args)}")
        return None
    return tuple(_value(a, v, f"{key}[{i}]", faults) for i, (a, v) in enumerate(zip(args, data, strict=True)))


def _entries(hint: Any, data: Sequence[Any], key: str, faults: _Faults) -> tuple[Any, ...]:
    before = len(faults)
    values = tuple(_value(hint, v, f"{key}[{i}]", faults) for i, v in enumerate(data))
    left = len(faults) - before - ENTRIES_LISTED
    if hint in KIND_WORDS and left > 0:
        faults[before + ENTRIES_LISTED :] = [f"{key}: {left} more entries are wrong; correct them too"]
    return values


def _member(hint: type[enum.Enum], data: Any, key: str, faults: _Faults) -> Any:
    for member in hint:
        if member.value == data or member.name.lower() == str(data).lower():
            return member
    faults.append(f"{key}: is {shown(data)}; {nearest(str(data), [str(m.value) for m in hint])}")
    return None


def _scalar(hint: Any, data: Any, key: str, faults: _Faults) -> Any:
    wanted = _kind_words(hint)
    if hint is float and isinstance(data, (int, float)) and not isinstance(data, bool):
        if math.isfinite(data):
            return float(data)
        wanted = "a finite number"
    elif hint is Any or type(data) is hint:
        return data
    faults.append(f"{key}: is {shown(data)}; write {wanted}")
    return None


def _join(key: str, name: str) -> str:
    return f"{key}.{name}" if key else str(name)
