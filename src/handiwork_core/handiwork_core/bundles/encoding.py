"""Values as JSON and back, exactly: numbers keep their bits, and a value that occurs twice is written once."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

KIND, VALUE = "@", "v"
"""The keys of everything that JSON has no value for: the kind, and what it holds."""
NUMBERS = "biuf"
"""The kinds of arrays that are kept: Booleans, integers and floating-point numbers."""


@dataclass(frozen=True)
class Unknown:
    """A value of a class that the reader does not know.

    Attributes:
        name: Name of the class.
        values: Its fields by name; the text of a value that could not be written is the field ``text``.
    """

    name: str
    values: Mapping[str, Any]


class Encoder:
    """Writes dataclasses, enums, arrays and containers as values of JSON.

    A value that occurs again, such as the geometry of an unchanged world, is a reference to the first one.
    """

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}
        # Kept alive, so that no id is given to another value meanwhile.
        self._kept: list[object] = []

    def encode(self, value: Any) -> Any:
        """Return the JSON value.

        Args:
            value: Any value; one of another kind becomes its text.
        """
        if isinstance(value, Enum):
            return {KIND: "enum", "class": _name(type(value)), VALUE: value.name}
        if value is None or isinstance(value, (bool, int, float, str)):
            return _plain(value)
        if isinstance(value, np.generic):
            return _plain(value.item())
        known = self._seen.get(id(value))
        if known is not None:
            return {KIND: "same", VALUE: known}
        made = self._made(value)
        self._seen[id(value)] = len(self._kept)
        self._kept.append(value)
        return made

    def _made(self, value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype.kind in NUMBERS:
            data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode("ascii")
            return {KIND: "array", "type": value.dtype.str, "shape": list(value.shape), VALUE: data}
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = [f.name for f in dataclasses.fields(value) if f.init]
            return {
                KIND: _name(type(value)),
                VALUE: {name: self.encode(getattr(value, name)) for name in fields},
            }
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return {
                KIND: _name(type(value)),
                VALUE: {n: self.encode(v) for n, v in zip(value._fields, value, strict=True)},
            }
        if isinstance(value, Mapping):
            return {KIND: "map", VALUE: [[self.encode(k), self.encode(v)] for k, v in value.items()]}
        if isinstance(value, (tuple, list)):
            return {KIND: type(value).__name__, VALUE: [self.encode(one) for one in value]}
        if isinstance(value, (frozenset, set)):
            return {KIND: "frozenset", VALUE: [self.encode(one) for one in sorted(value, key=repr)]}
        return {KIND: "text", "class": _name(type(value)), VALUE: repr(value)}


class Decoder:
    """Reads what an ``Encoder`` has written. It makes values of the given classes only, and calls none of them.

    Args:
        classes: The dataclasses, named tuples and enums that may occur.
    """

    def __init__(self, classes: Iterable[type]) -> None:
        self._classes = {_name(one): one for one in classes}
        self._read: list[Any] = []

    def decode(self, value: Any) -> Any:
        """Return the value.

        Args:
            value: A JSON value.

        Raises:
            ValueError: It is not one that an ``Encoder`` writes.
        """
        if not isinstance(value, dict):
            return value
        try:
            kind, inner = value[KIND], value[VALUE]
            if kind == "same":
                return self._read[inner]
            if kind == "enum":
                return self._enum(value["class"], inner)
            made = self._made(kind, inner, value)
        except (KeyError, IndexError, TypeError) as error:
            raise ValueError(f"{str(value)[:80]} is no value of a bundle: {error!r}") from error
        self._read.append(made)
        return made

    def _made(self, kind: str, inner: Any, whole: Mapping[str, Any]) -> Any:
        if kind == "array":
            array = np.frombuffer(base64.b64decode(inner), dtype=np.dtype(whole["type"]))
            return array.reshape(whole["shape"])
        if kind == "map":
            return {self.decode(k): self.decode(v) for k, v in inner}
        if kind in ("tuple", "list", "frozenset"):
            items = [self.decode(one) for one in inner]
            return items if kind == "list" else tuple(items) if kind == "tuple" else frozenset(items)
        if kind == "text":
            return Unknown(whole["class"], {"text": inner})
        values = {name: self.decode(one) for name, one in inner.items()}
        return _filled(self._classes.get(kind), kind, values)

    def _enum(self, name: str, member: str) -> Any:
        found = self._classes.get(name)
        if found is None or not issubclass(found, Enum):
            return Unknown(name, {"name": member})
        return found[member]


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _plain(value: Any) -> Any:
    """Return a value of JSON for a subclass of one, such as numpy's float64."""
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return value


def _filled(kind: type | None, name: str, values: Mapping[str, Any]) -> Any:
    """Return an object with these fields. No code of its class runs, so that no number is changed by a check."""
    if kind is None:
        return Unknown(name, values)
    if issubclass(kind, tuple):
        return kind(**values)
    made: Any = object.__new__(kind)
    for field in dataclasses.fields(made):
        if field.name in values:
            value = values[field.name]
        elif field.default is not dataclasses.MISSING:
            value = field.default
        elif field.default_factory is not dataclasses.MISSING:
            value = field.default_factory()
        else:
            raise KeyError(f"{name}.{field.name}")
        object.__setattr__(made, field.name, value)
    return made


def dataclasses_in(kinds: Sequence[type]) -> set[type]:
    """Return these classes with all dataclasses, named tuples and enums that their fields may hold.

    Args:
        kinds: Dataclasses.
    """
    import typing

    found, open_kinds = set[type](), list[Any](kinds)
    while open_kinds:
        one = open_kinds.pop()
        open_kinds.extend(typing.get_args(one))
        if not isinstance(one, type) or one in found:
            continue
        if dataclasses.is_dataclass(one):
            found.add(one)
            try:
                open_kinds.extend(typing.get_type_hints(one).values())
            except NameError:  # a name that is imported for type checkers only
                continue
        elif issubclass(one, Enum) or hasattr(one, "_fields"):
            found.add(one)
    return found
