"""Conditions by name: those of a file, which may refer to each other, and those that come later."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from conditionals_node.composites import composite_hint
from handiwork_core.config.dataclass_loader import ConfigError, nearest

from .build import Builder, Condition
from .expression import Expression, Named


@dataclass(frozen=True, slots=True)
class ConditionSpec:
    """One entry of a conditions file: a predicate by ``name`` with ``args``, or an ``expression`` called ``name``.

    Attributes:
        name: Name of the predicate, or the label of the expression.
        args: Arguments of the predicate by name.
        hold_s: Time that a new value must last before it counts, s.
        expression: The expression; None for a predicate.
        max_flip: Largest probability that noise turns it with which it is TRUE or FALSE; None: that of the node.
    """

    name: str = ""
    args: dict[str, Any] = field(default_factory=dict)
    hold_s: float = 0.0
    expression: str | None = None
    max_flip: float | None = None

    def __post_init__(self) -> None:
        check_flip(self.max_flip)
        if self.hold_s < 0.0:
            raise ValueError(f"hold_s {self.hold_s} must not be negative")
        if self.expression is None and not self.name:
            raise ValueError("name: missing; name a predicate, or write an expression")
        if self.expression is not None and self.args:
            raise ValueError("args: belong to a predicate; write them within the expression")


def check_flip(max_flip: float | None) -> None:
    """Refuse a limit that is no probability.

    Args:
        max_flip: The limit; None: none is stated.

    Raises:
        ValueError: It is not more than 0, or is more than 1.
    """
    if max_flip is not None and not 0.0 < max_flip <= 1.0:
        raise ValueError(
            f"max_flip: is {max_flip:g}; write more than 0 and at most 1, where 1 leaves nothing open"
        )


class Definitions:
    """The conditions that have a name.

    Args:
        builder: Builds the conditions.
    """

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._named: dict[str, Condition] = {}

    def read(self, specs: Sequence[ConditionSpec], faults: list[str]) -> list[Condition]:
        """Build all entries of a file; they may refer to each other in any order.

        Args:
            specs: The entries.
            faults: The faults that are found are added to this list.

        Returns:
            The conditions of the entries without faults.
        """
        return _Batch(self._builder, self._named, specs, faults).build()

    def make(
        self, name: str, args: str, expression: str, hold_s: float, max_flip: float | None = None
    ) -> Condition:
        """Build the condition of a request.

        Args:
            name: Label of the expression; without an expression the name of a condition or of a predicate.
            args: Arguments of the predicate as a YAML mapping; empty: none.
            expression: The expression; empty: none.
            hold_s: Time that a new value must last before it counts, s. A condition that has this name already
                keeps its own; 0 or the same is accepted for it.
            max_flip: See ``ConditionSpec``.

        Returns:
            The condition.

        Raises:
            ConfigError: The request is wrong; lists every fault.
        """
        try:
            check_flip(max_flip)
        except ValueError as error:
            raise ConfigError(f"condition {name!r}", [str(error)]) from error
        found = self._make(name, args, expression, hold_s)
        return found if max_flip is None else replace(found, max_flip=max_flip)

    def _make(self, name: str, args: str, expression: str, hold_s: float) -> Condition:
        if not 0.0 <= hold_s < float("inf"):
            raise ConfigError(f"condition {name!r}", [f"hold_s: is {hold_s}; write seconds, not negative"])
        if expression and args.strip():
            raise ConfigError(
                f"condition {name!r}", ["args: belong to a predicate; put them in the expression"]
            )
        if expression:
            return self._builder.build_expression(
                name, expression, lambda word: self._resolve(word, name), hold_s
            )
        if not name:
            raise ConfigError("condition", ["name: is empty; name a predicate, or write an expression"])
        if name in self._named and not args.strip():
            known = self._named[name]
            if hold_s not in (0.0, known.hold_s):
                fault = f"hold_s: is {hold_s:g}, but {name!r} is known with {known.hold_s:g}; write 0 to keep that"
                raise ConfigError(f"condition {name!r}", [f"{fault}, or choose another name"])
            return known
        if name not in self._builder.kinds and not composite_hint(name):
            hint = nearest(name, [*self._named, *self._builder.kinds])
            raise ConfigError("condition", [f"name: no condition or predicate {name[:80]!r}; {hint}"])
        return self._builder.build_text(name, args, hold_s)

    def keep(self, condition: Condition) -> None:
        """Let expressions refer to a condition by its name.

        Args:
            condition: The condition. One without a name of its own is left out.

        Raises:
            ConfigError: The name means another condition already.
        """
        if condition.key != condition.name:
            return
        there = self._named.get(condition.name)
        if there is not None and there.expression.key != condition.expression.key:
            fault = f"name: {condition.name!r} means {there.expression.key} already; choose another name"
            raise ConfigError(f"condition {condition.name!r}", [fault])
        self._named.setdefault(condition.name, condition)

    def absent(self, expressions: Iterable[Expression]) -> str:
        """Return a hint on objects that are not in the world; see ``Builder.absent``.

        Args:
            expressions: The expressions.
        """
        return self._builder.absent(expressions)

    def forget(self, key: str) -> None:
        """Free a name.

        Args:
            key: The name; an unknown one changes nothing.
        """
        self._named.pop(key, None)

    def _resolve(self, word: str, within: str) -> Expression:
        if word == within:
            raise ConfigError("expression", [f"cyclic: {within} -> {within}; remove the name from it"])
        if word not in self._named:
            raise ConfigError("expression", [_unknown(word, self._named)])
        return Named(word, self._named[word].expression)


class _Batch:
    """The entries of one file."""

    def __init__(
        self,
        builder: Builder,
        named: dict[str, Condition],
        specs: Sequence[ConditionSpec],
        faults: list[str],
    ) -> None:
        self._builder, self._named, self._specs, self._faults = builder, named, specs, faults
        self._index: dict[str, int] = {}
        self._done: dict[int, Condition | None] = {}
        self._path: list[str] = []

    def build(self) -> list[Condition]:
        for i, spec in enumerate(self._specs):
            if spec.expression is not None and spec.name:
                if spec.name in self._index or spec.name in self._named:
                    self._faults.append(f"conditions[{i}].name: {spec.name!r} occurs twice; rename one")
                self._index.setdefault(spec.name, i)
        found = [self._entry(i) for i in range(len(self._specs))]
        return [condition for condition in found if condition is not None]

    def _entry(self, index: int) -> Condition | None:
        if index not in self._done:
            spec = self._specs[index]
            self._path.append(spec.name)
            try:
                self._done[index] = self._made(spec)
            except ConfigError as error:
                self._faults += [f"conditions[{index}].{fault}" for fault in error.faults]
                self._done[index] = None
            self._path.pop()
        return self._done[index]

    def _made(self, spec: ConditionSpec) -> Condition:
        if spec.expression is None:
            condition = self._builder.build(spec.name, spec.args, spec.hold_s)
            return replace(condition, max_flip=spec.max_flip)
        condition = self._builder.build_expression(spec.name, spec.expression, self._resolve, spec.hold_s)
        condition = replace(condition, max_flip=spec.max_flip)
        if spec.name:
            self._named[spec.name] = condition
        return condition

    def _resolve(self, word: str) -> Expression:
        if word in self._path:
            loop = [*self._path[self._path.index(word) :], word]
            raise ConfigError("expression", [f"cyclic: {' -> '.join(loop)}; remove one of them"])
        if word in self._index:
            condition = self._entry(self._index[word])
            if condition is None:
                raise ConfigError("expression", [f"condition {word!r} has faults; correct it first"])
            return Named(word, condition.expression)
        if word in self._named:
            return Named(word, self._named[word].expression)
        raise ConfigError("expression", [_unknown(word, {**self._named, **self._index})])


def _unknown(word: str, names: dict[str, Any]) -> str:
    hint = nearest(word, list(names)) if names else "no condition has a name yet"
    return f"no condition is called {word!r}; {hint}"
