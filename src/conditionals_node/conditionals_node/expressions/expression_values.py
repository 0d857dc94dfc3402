"""Values within expressions: numbers, names, text in quotes, lists and mappings. Nothing is ever executed."""

from __future__ import annotations

import ast
import re
from typing import Any

from handiwork_core.config.dataclass_loader import ConfigError

MAX_DEPTH = 40
WORDS = {"true": True, "false": False, "none": None, "null": None}
BARE = re.compile(r"[A-Za-z_][\w./-]*\Z")
"""Names that need no quotes, such as cube or fr3/fr3_leftfinger."""


def bad(line: str, node: ast.expr, *faults: str) -> ConfigError:
    """Return an error whose faults name a column.

    Args:
        line: The expression.
        node: The node at fault.
        *faults: Texts of the faults.

    Returns:
        The error, to be raised by the caller.
    """
    column = len(line.encode()[: node.col_offset].decode(errors="replace")) + 1
    return ConfigError("expression", [f"column {column}: {fault}" for fault in faults])


def read_arguments(line: str, call: ast.Call, name: str) -> dict[str, Any]:
    """Return the arguments of a call by name.

    Args:
        line: The expression.
        call: The node of the call.
        name: Name of the predicate, for the error.

    Raises:
        ConfigError: An argument has no name or is no value.
    """
    if call.args:
        raise bad(line, call.args[0], f"{name}: name every argument; write {name}(object=...)")
    values: dict[str, Any] = {}
    for item in call.keywords:
        if item.arg is None:
            raise bad(line, item.value, f"{name}: ** is not allowed; write argument=value")
        values[item.arg] = read_value(line, item.value)
    return values


def read_value(line: str, node: ast.expr, depth: int = 0) -> Any:  # noqa: ANN401 - any value of YAML
    """Return the value of a node, as YAML would hold it.

    Args:
        line: The expression.
        node: The node.
        depth: Number of lists and mappings around it.

    Raises:
        ConfigError: The node is no value, or is nested deeper than ``MAX_DEPTH``.
    """
    if depth > MAX_DEPTH:
        raise bad(line, node, f"is nested deeper than {MAX_DEPTH}; write it flatter")
    if isinstance(node, (ast.List, ast.Tuple)):
        return [read_value(line, item, depth + 1) for item in node.elts]
    if isinstance(node, ast.Dict):
        return {_key(line, node, k): read_value(line, v, depth + 1) for k, v in zip(node.keys, node.values)}  # noqa: B905
    if isinstance(node, ast.Constant):
        return node.value
    text = ast.get_source_segment(line, node) or ""
    if BARE.match(text):
        return WORDS.get(text.lower(), text)
    number = _signed(node)
    if number is None:
        raise bad(line, node, f"{text[:40]!r} is no value; write a number, a name, text in quotes or a list")
    return number


def _signed(node: ast.expr) -> int | float | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        value = node.operand.value
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if isinstance(node.op, ast.USub):
                return -value
            if isinstance(node.op, ast.UAdd):
                return value
    return None


def _key(line: str, mapping: ast.Dict, key: ast.expr | None) -> str:
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        return key.value
    raise bad(line, key or mapping, 'keys of a mapping are text in quotes; write {"object": cube}')
