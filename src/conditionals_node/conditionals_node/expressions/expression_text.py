"""Reads expressions such as ``in_bin and not any(object_grabbed(object=[cube, can]))``.

Python's own parser makes the tree. Only the few kinds of nodes that are named here are accepted, and nothing is
ever executed.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from conditionals_node.composites import composite_hint
from handiwork_core.config.dataclass_loader import ConfigError, nearest

from .expression import Expression, Leaf, Not, all_true, any_true, at_least, choose
from .expression_values import MAX_DEPTH, bad, read_arguments

MAX_LENGTH = 8000
COUNTS = {"choose": choose, "at_least": at_least}
GROUPS = {"any": any_true, "all": all_true}
WORDS = (*GROUPS, *COUNTS)


class MakesLeaves(Protocol):
    """The part of ``build.Builder`` that turns a predicate's name and arguments into leaves."""

    @property
    def kinds(self) -> Mapping[str, Any]:
        """The predicates by name."""
        ...

    def parts(self, name: str, args: Mapping[str, Any], *, split: bool) -> list[Leaf]:
        """Return one leaf for each entry of a list that is given in place of one object.

        Args:
            name: Name of the predicate.
            args: Its arguments by name.
            split: True to expand also the lists that the predicate would take itself.

        Returns:
            The leaves, in the order of the lists.

        Raises:
            ConfigError: Arguments are unknown, missing or wrong.
        """
        ...

    def combined(self, name: str, args: Mapping[str, Any]) -> Expression:
        """Return the leaves, combined by the arguments ``logical`` and ``K``.

        Args:
            name: Name of the predicate.
            args: Its arguments by name.

        Returns:
            The tree.

        Raises:
            ConfigError: See ``parts``.
        """
        ...


Resolve = Callable[[str], Expression]
"""Returns the expression behind a name. Raises ConfigError where the name is unknown or leads back to itself."""


def read_expression(text: str, leaves: MakesLeaves, resolve: Resolve) -> Expression:
    """Read an expression.

    Args:
        text: The expression; line breaks count as blanks.
        leaves: Builds the leaves of predicates.
        resolve: Returns the expression behind a name.

    Returns:
        The tree.

    Raises:
        ConfigError: The text is wrong; lists every fault that was found, with its column.
    """
    line = " ".join(text.split())
    try:
        return _Reader(line, leaves, resolve).read(_tree(line), 0)
    except ConfigError as error:
        raise ConfigError("condition", [f"expression: {fault}" for fault in error.faults]) from error


def _tree(line: str) -> ast.expr:
    if not line:
        raise _refused("is empty; write such as object_grabbed(object=cube) and not in_bin")
    if len(line) > MAX_LENGTH or _nesting(line) > MAX_DEPTH:
        raise _refused(
            f"is too long or too deep; keep it below {MAX_LENGTH} letters and {MAX_DEPTH} brackets"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # bad escapes are text like any other
            return ast.parse(line, mode="eval").body
    except SyntaxError as error:
        raise _refused(f"column {error.offset or 0}: {error.msg}; correct the expression there") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise _refused(
            f"cannot be read: {type(error).__name__}; write it shorter, in plain letters"
        ) from error


def _refused(fault: str) -> ConfigError:
    return ConfigError("expression", [fault])


def _nesting(line: str) -> int:
    depth = deepest = 0
    for letter in line:
        depth += (letter in "([{") - (letter in ")]}")
        deepest = max(deepest, depth)
    return deepest


class _Reader:
    """Walks one tree. Its methods raise ConfigError with all faults below a node."""

    def __init__(self, line: str, leaves: MakesLeaves, resolve: Resolve) -> None:
        self._line, self._leaves, self._resolve = line, leaves, resolve

    def read(self, node: ast.expr, depth: int) -> Expression:
        """Return the expression of one node."""
        if depth > MAX_DEPTH:
            raise self._bad(node, f"is nested deeper than {MAX_DEPTH}; name its parts and join the names")
        if isinstance(node, ast.BoolOp):
            parts = self._each(node.values, lambda item: [self.read(item, depth + 1)])
            return all_true(parts) if isinstance(node.op, ast.And) else any_true(parts)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return Not(self.read(node.operand, depth + 1))
        if isinstance(node, ast.Call):
            return self._call(node, depth)
        if isinstance(node, ast.Name):
            return self._name(node)
        kind = type(node).__name__
        raise self._bad(
            node, f"{kind} is no condition; use predicates, names, and, or, not, {', '.join(WORDS)}"
        )

    def _each(
        self, nodes: Sequence[ast.expr], read: Callable[[ast.expr], list[Expression]]
    ) -> list[Expression]:
        """Return the results of ``read`` for all nodes; the faults of all nodes are raised together."""
        found: list[Expression] = []
        faults: list[str] = []
        for node in nodes:
            try:
                found += read(node)
            except ConfigError as error:  # noqa: PERF203 - a few parts, and all of their faults are wanted
                faults += error.faults
        if faults:
            raise ConfigError("expression", faults)
        return found

    def _name(self, node: ast.Name) -> Expression:
        if node.id in self._leaves.kinds or node.id in WORDS:
            raise self._bad(node, f"{node.id!r} needs brackets; write {node.id}(...)")
        try:
            return self._resolve(node.id)
        except ConfigError as error:
            raise self._bad(node, *error.faults) from error

    def _call(self, node: ast.Call, depth: int) -> Expression:
        name = self._called(node)
        if name in WORDS:
            return self._group(node, name, depth)
        args = read_arguments(self._line, node, name)
        try:
            return self._leaves.combined(name, args)
        except ConfigError as error:
            raise self._bad(node, *error.faults) from error

    def _called(self, node: ast.Call) -> str:
        if not isinstance(node.func, ast.Name):
            raise self._bad(node, "calls no plain name; write predicate(argument=value)")
        name = node.func.id
        if name not in WORDS and name not in self._leaves.kinds:
            hint = composite_hint(name) or nearest(name, [*self._leaves.kinds, *WORDS])
            raise self._bad(node, f"no predicate {name!r}; {hint}")
        return name

    def _group(self, node: ast.Call, name: str, depth: int) -> Expression:
        if node.keywords:
            raise self._bad(node, f"{name} takes conditions only; write {name}(..., ...)")
        k, nodes = self._count(node, name) if name in COUNTS else (0, node.args)
        parts = self._each(nodes, lambda item: self._members(item, depth))
        if not parts:
            raise self._bad(node, f"{name} has no parts; give at least one condition")
        try:
            return COUNTS[name](k, parts) if name in COUNTS else GROUPS[name](parts)
        except ValueError as error:
            raise self._bad(node, f"{name}: {error}") from error

    def _count(self, node: ast.Call, name: str) -> tuple[int, list[ast.expr]]:
        first = node.args[0] if node.args else node
        if isinstance(first, ast.Constant) and type(first.value) is int:
            return first.value, node.args[1:]
        raise self._bad(first, f"K: {name} begins with a whole number; write {name}(2, ..., ...)")

    def _members(self, node: ast.expr, depth: int) -> list[Expression]:
        """Return the parts of one entry of a group: a predicate over a list of objects gives one part for each."""
        if not isinstance(node, ast.Call) or (name := self._called(node)) in WORDS:
            return [self.read(node, depth + 1)]
        args = read_arguments(self._line, node, name)
        if "logical" in args:
            return [self.read(node, depth + 1)]
        try:
            return list(self._leaves.parts(name, args, split=True))
        except ConfigError as error:
            raise self._bad(node, *error.faults) from error

    def _bad(self, node: ast.expr, *faults: str) -> ConfigError:
        return bad(self._line, node, *faults)
