"""A YAML loader that refuses input which would be misread without a warning, or could grow without bound.

Scalars follow the core schema of YAML 1.2, with one exception: ``yes``, ``no``, ``on`` and ``off`` are booleans, as in
YAML 1.1. There are no sexagesimal numbers, timestamps, merge keys, aliases or tags of other types.

If PyYAML has libyaml, libyaml scans and parses, four times as fast; the rest of the code is the same either way.
"""

from __future__ import annotations

import math
import re
from typing import Any

import yaml
from yaml.composer import Composer, ComposerError
from yaml.constructor import ConstructorError, SafeConstructor
from yaml.nodes import MappingNode, Node, ScalarNode
from yaml.resolver import BaseResolver

from handiwork_core.intake.limits import (
    FILE_YAML,
    INTEGER_KEY_CHARACTERS,
    NUMBER_CHARACTERS,
    YamlLimits,
)

if yaml.__with_libyaml__:
    from yaml._yaml import CParser as _Events
else:

    class _Events(yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):  # type: ignore[no-redef]
        """The scanner and parser in Python, in place of libyaml's."""

        def __init__(self, stream: str) -> None:
            yaml.reader.Reader.__init__(self, stream)
            yaml.scanner.Scanner.__init__(self)
            yaml.parser.Parser.__init__(self)


TAG = "tag:yaml.org,2002:"
BOOL = re.compile(r"(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)\Z")
INTEGER = re.compile(r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z")
FLOAT = re.compile(
    r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z"
)
NULL = re.compile(r"(?:~|null|Null|NULL|)\Z")
KINDS = (
    ("bool", BOOL, "yYnNtTfFoO"),
    ("int", INTEGER, "-+0123456789"),
    ("float", FLOAT, "-+0123456789."),
    ("null", NULL, "~nN"),
)
"""Type, pattern and first characters of plain scalars, in the order in which they are tried."""

TAGS = frozenset(TAG + kind for kind in ("bool", "int", "float", "null", "str", "seq", "map"))

WRITTEN_TAGS = TAGS | {None, "!"}
"""Tags that a document may write: those of the core schema, none, and that of a text in any case."""


class _StrictLoader(Composer, _Events, SafeConstructor, BaseResolver):
    """A loader of the core schema that refuses aliases and repeated keys, and keeps the limits."""

    def __init__(self, stream: str, limits: YamlLimits) -> None:
        _Events.__init__(self, stream)
        Composer.__init__(self)
        SafeConstructor.__init__(self)
        BaseResolver.__init__(self)
        self._limits, self._values, self._depth = limits, 0, 0

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:  # noqa: ANN401 a node or a number
        """Compose a node; refuse an alias, a tag of another type, and a value beyond the limits of count or depth."""
        event: Any = self.peek_event()
        if problem := self._problem(event):
            raise ComposerError(None, None, problem, event.start_mark)
        if isinstance(event, yaml.ScalarEvent) and event.anchor is None:
            # What PyYAML does beside this is for anchors and for resolvers of paths, of which there are none.
            return self.compose_scalar_node(None)  # type: ignore[arg-type]
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def _problem(self, event: Any) -> str:  # noqa: ANN401 PyYAML's events have no common type
        self._values += 1
        if self._values > self._limits.values:
            return f"there are more than {self._limits.values} values; split the document"
        if self._depth >= self._limits.depth:
            return f"values are nested more than {self._limits.depth} deep; flatten them"
        if isinstance(event, yaml.AliasEvent):
            return f"alias *{event.anchor[:80]} is not understood; write the value out"
        if event.tag not in WRITTEN_TAGS:
            return f"tag {event.tag[:80]!r} is not understood; leave it out"
        return ""

    def construct_mapping(self, node: MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Construct a mapping; refuse a repeated key and a key that is no scalar."""
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, ScalarNode):
                problem = "a key is a list or a mapping; write a word"
                raise ConstructorError(None, None, problem, key.start_mark)
            if key.value in seen:
                problem = f"key {key.value[:80]!r} appears twice; keep one"
                raise ConstructorError(None, None, problem, key.start_mark)
            if key.tag == TAG + "int" and len(key.value) > INTEGER_KEY_CHARACTERS:
                # Larger numbers can be chosen such that all have the same hash.
                problem = f"key {key.value[:80]} is too long a number; quote it"
                raise ConstructorError(None, None, problem, key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)

    def flatten_mapping(self, node: MappingNode) -> None:
        """Do nothing: ``<<`` stays an ordinary key."""

    def construct_yaml_bool(self, node: ScalarNode) -> bool:
        """Construct a boolean."""
        return _checked(node, BOOL, "true or false").lower() in ("yes", "true", "on")

    def construct_yaml_int(self, node: ScalarNode) -> int:
        """Construct a whole number."""
        text = _checked(node, INTEGER, "a whole number")
        base = {"0o": 8, "0x": 16}.get(text[:2], 10)
        return int(text, base)

    def construct_yaml_float(self, node: ScalarNode) -> float:
        """Construct a number, infinity or not a number."""
        text = _checked(node, FLOAT, "a number").lower()
        named = {"inf": math.inf, "nan": math.nan}.get(text[-3:])
        if named is None:
            return float(text)
        return -named if text.startswith("-") else named


def _checked(node: ScalarNode, pattern: re.Pattern[str], words: str) -> str:
    """Return the text of a scalar that matches; a tag may have given a text a type that it has not."""
    text: str = node.value
    if len(text) > NUMBER_CHARACTERS:
        problem = f"a number has {len(text)} characters; write at most {NUMBER_CHARACTERS}, or quote it"
    elif not pattern.match(text):
        problem = f"{text!r} is not {words}; leave the tag out"
    else:
        return text
    raise ConstructorError(None, None, problem, node.start_mark)


for _kind, _pattern, _first in KINDS:
    _StrictLoader.add_implicit_resolver(TAG + _kind, _pattern, [*_first])  # type: ignore[no-untyped-call]
_StrictLoader.add_implicit_resolver(TAG + "null", NULL, [""])  # type: ignore[no-untyped-call]
for _kind, _made in (
    ("bool", _StrictLoader.construct_yaml_bool),
    ("int", _StrictLoader.construct_yaml_int),
    ("float", _StrictLoader.construct_yaml_float),
):
    _StrictLoader.add_constructor(TAG + _kind, _made)  # type: ignore[type-var]


def value_of(text: str, limits: YamlLimits = FILE_YAML) -> object:
    """Return the value of a text with one document.

    Args:
        text: The document.
        limits: Its bounds; those on the count and depth of values apply while it is read, before values are made.

    Returns:
        A mapping, a list, a scalar, or None for an empty text.

    Raises:
        yaml.YAMLError: The text is no YAML, exceeds a limit, or has an alias, a foreign tag or a repeated key; with
            line and column if they are known.
    """
    if len(text) > limits.characters:
        problem = f"the text has {len(text)} characters; keep it within {limits.characters}"
        raise ComposerError(None, None, problem, None)
    if "%TAG" in text:
        # libyaml compares each such directive with all before it.
        problem = "directive %TAG is not understood; leave it out"
        raise ComposerError(None, None, problem, None)
    return _StrictLoader(text, limits).get_single_data()
