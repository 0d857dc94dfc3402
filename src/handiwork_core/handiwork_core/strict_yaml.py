"""A YAML loader that refuses what would be read in silence as something else, or could grow without bound.

Where PyYAML has libyaml, that scans and parses, four times as fast; the rest is the same code either way.
"""

from __future__ import annotations

import re
from typing import Any

import yaml
from yaml.composer import Composer, ComposerError
from yaml.constructor import ConstructorError, SafeConstructor
from yaml.nodes import MappingNode, Node
from yaml.resolver import Resolver

if yaml.__with_libyaml__:
    from yaml._yaml import CParser as _Events
else:

    class _Events(yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):  # type: ignore[no-redef]
        """What libyaml does, in Python."""

        def __init__(self, stream: str) -> None:
            yaml.reader.Reader.__init__(self, stream)
            yaml.scanner.Scanner.__init__(self)
            yaml.parser.Parser.__init__(self)


class _StrictLoader(Composer, _Events, SafeConstructor, Resolver):
    """YAML 1.1 without aliases and without keys that stand twice."""

    def __init__(self, stream: str) -> None:
        _Events.__init__(self, stream)
        Composer.__init__(self)
        SafeConstructor.__init__(self)
        Resolver.__init__(self)

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:  # noqa: ANN401 a node or a number
        """A node; an alias is refused."""
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent):
            problem = f"alias *{event.anchor} is not understood; write the value out"
            raise ComposerError(None, None, problem, event.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: MappingNode, deep: bool = False) -> dict[Any, Any]:
        """A mapping; a key that stands twice is refused."""
        seen = set()
        for key, _ in node.value if isinstance(node, MappingNode) else ():
            if not isinstance(key.value, str):
                continue
            if key.value in seen:
                problem = f"key {key.value!r} stands twice; keep one"
                raise ConstructorError(None, None, problem, key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


# YAML 1.1 takes 1e-3, without a dot, for text.
_StrictLoader.add_implicit_resolver(  # type: ignore[no-untyped-call]
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9]+[eE][-+]?[0-9]+$"), list("-+0123456789")
)


def value_of(text: str) -> object:
    """What a text of one document holds.

    Raises:
        yaml.YAMLError: it is no YAML, or has an alias or a key that stands twice; with its place where it has one.
        ValueError: a value is none of its kind.
        OverflowError: a number is too large.
        RecursionError: it is nested too deeply.
    """
    return _StrictLoader(text).get_single_data()
