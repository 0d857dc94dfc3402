"""Decides the leaves of many expressions on n worlds, each leaf once, and keeps the memories of those with one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from conditionals_node.expressions.decide import MARGINS, advance, evaluate, truths_of
from conditionals_node.expressions.expression import Expression, Leaf
from conditionals_node.predicates.containment import ObjectGroupsInContainers
from conditionals_node.predicates.measured import Measured
from conditionals_node.predicates.order import ObjectsPlacedInContainerInOrder
from conditionals_node.verdicts.truths import Mask, Truths
from conditionals_node.views.batch_worlds import Worlds
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.predicate import Predicate
from handiwork_core.model.geometry import Array

ABLE = (Measured, ObjectGroupsInContainers, ObjectsPlacedInContainerInOrder)


class BatchEvaluation:
    """Decides expressions on the present worlds.

    Args:
        expressions: The expressions.

    Raises:
        ConfigError: A predicate decides one world at a time; names all such.
    """

    def __init__(self, expressions: Iterable[Expression]) -> None:
        leaves = {leaf.key: leaf for expression in expressions for leaf in expression.leaves()}
        slow = [leaf.name for leaf in leaves.values() if not isinstance(leaf.predicate, ABLE)]
        if slow:
            text = "decides one world at a time; derive it from Measured or Relation"
            raise ConfigError("batch", [f"{name}: {text}" for name in slow])
        self._ordered = {
            key: leaf.predicate
            for key, leaf in leaves.items()
            if isinstance(leaf.predicate, ObjectsPlacedInContainerInOrder)
        }
        self._first_s: dict[str, Array] = {}
        self._margins: dict[str, Array] = {}
        self._worlds = Worlds({}, {})

    def begin(self, worlds: Worlds) -> None:
        """Take the next worlds.

        Args:
            worlds: n worlds, the same number as before, with stamps if a predicate has a memory.
        """
        self._worlds = worlds
        self._margins.clear()
        for key, predicate in self._ordered.items():
            found, self._first_s[key] = advance(predicate, self._first_s.get(key), worlds)
            self._margins[key] = found.margin

    def reset(self, rows: Mask) -> None:
        """Forget everything about some worlds.

        Args:
            rows: The worlds, (n,).
        """
        for first_s in self._first_s.values():
            first_s[:, rows] = np.nan

    def margin(self, expression: Expression) -> Array:
        """Return the margins of an expression, (n,).

        Args:
            expression: One of the expressions.
        """
        return expression.fold(self._leaf, MARGINS)

    def truth(self, expression: Expression) -> Truths:
        """Return the values of an expression, (n,).

        Args:
            expression: One of the expressions.
        """
        return truths_of(self.margin(expression))

    def decide(self, predicate: Predicate) -> Truths:
        """Return the values of a predicate without a memory, (n,).

        Args:
            predicate: Any predicate that is written against ``View``.
        """
        return truths_of(evaluate(predicate, self._worlds).margin)

    def _leaf(self, leaf: Leaf) -> Array:
        found = self._margins.get(leaf.key)
        if found is None:
            found = self._margins[leaf.key] = evaluate(leaf.predicate, self._worlds).margin
        return found
