"""Conditions made of conditions: and, or, not, and counts, in three values. Pure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from conditionals_node.predicates.counting import TINY, counted_margin, truth_of
from handiwork_core.contracts.predicate import Finding, Predicate, Truth

F = TypeVar("F")
MAX_REASONS = 3
"""Number of parts whose reasons are listed; the others are counted."""


class Expression(ABC):
    """A tree whose leaves are predicates. ``key`` is its text, which parses to the same tree."""

    key: str

    @abstractmethod
    def leaves(self) -> Iterator[Leaf]:
        """Yield all predicates in the tree, from left to right."""

    @abstractmethod
    def fold(self, leaf: Callable[[Leaf], F], algebra: Algebra[F]) -> F:
        """Combine values of the leaves: findings of one world, or margins of many.

        Args:
            leaf: Returns the value of one predicate.
            algebra: Combines values.

        Returns:
            The value of the tree.
        """

    def decide(self, leaf: Decide) -> Finding:
        """Combine the findings of the leaves.

        Args:
            leaf: Returns the finding of one predicate.

        Returns:
            The finding of the tree.
        """
        return self.fold(leaf, FINDINGS)


@dataclass(frozen=True, slots=True)
class Algebra(Generic[F]):
    """How values combine.

    Attributes:
        opposite: Returns the value of ``not``.
        counted: Returns the value of the verdict that so many of the parts are TRUE, from the least to the greatest.
    """

    opposite: Callable[[F], F]
    counted: Callable[[Sequence[F], int, int], F]


@dataclass(frozen=True, slots=True)
class Leaf(Expression):
    """One predicate. ``args`` is a YAML mapping of the arguments that differ from the defaults."""

    key: str
    name: str
    args: str
    predicate: Predicate

    def leaves(self) -> Iterator[Leaf]:
        """Yield the leaf itself."""
        yield self

    def fold(self, leaf: Callable[[Leaf], F], algebra: Algebra[F]) -> F:
        """Return the value of the predicate."""
        return leaf(self)


Decide: TypeAlias = Callable[[Leaf], Finding]


@dataclass(frozen=True, slots=True)
class Named(Expression):
    """Another condition, by its name."""

    key: str
    part: Expression

    def leaves(self) -> Iterator[Leaf]:
        """Return the predicates of the other condition."""
        return self.part.leaves()

    def fold(self, leaf: Callable[[Leaf], F], algebra: Algebra[F]) -> F:
        """Return the value of the other condition."""
        return self.part.fold(leaf, algebra)


@dataclass(frozen=True, slots=True)
class Not(Expression):
    """The opposite; UNKNOWN stays UNKNOWN."""

    part: Expression

    @property
    def key(self) -> str:  # type: ignore[override]  # computed here, given elsewhere
        """The text of the expression."""
        return f"not {_bracketed(self.part)}"

    def leaves(self) -> Iterator[Leaf]:
        """Return the predicates of the part."""
        return self.part.leaves()

    def fold(self, leaf: Callable[[Leaf], F], algebra: Algebra[F]) -> F:
        """Return the opposite value."""
        return algebra.opposite(self.part.fold(leaf, algebra))


@dataclass(frozen=True, slots=True)
class Count(Expression):
    """A count of parts that is TRUE when ``low`` to ``high`` of them hold: and, or, choose and at_least.

    Attributes:
        word: The word of the expression language.
        parts: The parts.
        low: Smallest number of parts that hold.
        high: Largest number of parts that hold.

    Raises:
        ValueError: There are no parts, or not enough of them.
    """

    word: str
    parts: tuple[Expression, ...]
    low: int
    high: int

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError(f"{self.word}: has no parts; give at least one")
        if not 0 <= self.low <= self.high <= len(self.parts):
            raise ValueError(f"K: is {self.low}; with {len(self.parts)} parts write 0 to {len(self.parts)}")

    @property
    def key(self) -> str:  # type: ignore[override]  # computed here, given elsewhere
        """The text of the expression."""
        if self.word in ("and", "or"):
            return f" {self.word} ".join(_bracketed(part) for part in self.parts)
        return f"{self.word}({', '.join([str(self.low), *(part.key for part in self.parts)])})"

    def leaves(self) -> Iterator[Leaf]:
        """Yield the predicates of all parts."""
        for part in self.parts:
            yield from part.leaves()

    def fold(self, leaf: Callable[[Leaf], F], algebra: Algebra[F]) -> F:
        """Return the value of the count; see ``counted``."""
        return algebra.counted([part.fold(leaf, algebra) for part in self.parts], self.low, self.high)


def all_true(parts: Sequence[Expression]) -> Expression:
    """Return the expression ``a and b``; a single part is itself.

    Args:
        parts: At least one.
    """
    return parts[0] if len(parts) == 1 else Count("and", tuple(parts), len(parts), len(parts))


def any_true(parts: Sequence[Expression]) -> Expression:
    """Return the expression ``a or b``; a single part is itself.

    Args:
        parts: At least one.
    """
    return parts[0] if len(parts) == 1 else Count("or", tuple(parts), 1, len(parts))


def choose(k: int, parts: Sequence[Expression]) -> Expression:
    """Return the expression that holds when exactly ``k`` parts do.

    Args:
        k: 0 to the number of parts.
        parts: At least one.
    """
    return Count("choose", tuple(parts), k, k)


def at_least(k: int, parts: Sequence[Expression]) -> Expression:
    """Return the expression that holds when ``k`` parts or more do.

    Args:
        k: 0 to the number of parts.
        parts: At least one.
    """
    return Count("at_least", tuple(parts), k, len(parts))


def opposite(found: Finding) -> Finding:
    """Return the opposite finding: TRUE for FALSE and the other way round, with the margin's sign turned.

    Args:
        found: A finding. UNKNOWN stays as it is.
    """
    if found.truth is Truth.UNKNOWN:
        return found
    if found.truth is Truth.TRUE:
        return Finding(Truth.FALSE, -found.margin, found.reason, found.evidence)
    return Finding(Truth.TRUE, max(-found.margin, TINY), found.reason, found.evidence)


def counted(parts: Sequence[Finding], low: int, high: int) -> Finding:
    """Decide whether ``low`` to ``high`` of the parts are TRUE, in three values.

    The margin is ``counting.counted_margin``. Parts of different units are compared as plain numbers, so that only the
    sign counts then.

    Args:
        parts: Findings of the parts.
        low: Smallest number of parts that are TRUE.
        high: Largest number of parts that are TRUE.

    Returns:
        The finding, with the evidence of the parts that decide first.
    """
    holding = sum(part.truth is Truth.TRUE for part in parts)
    margin = counted_margin([part.margin for part in parts], low, high)
    truth = truth_of(margin)
    ordered = _deciding_first(parts, truth, holding > high)
    evidence = tuple(item for part in ordered for item in part.evidence)
    return Finding(truth, margin, _reason(ordered, holding, low, high), evidence)


FINDINGS: Algebra[Finding] = Algebra(opposite, counted)


def _deciding_first(parts: Sequence[Finding], truth: Truth, too_many: bool) -> list[Finding]:
    leading = Truth.TRUE if too_many else truth
    return sorted(parts, key=lambda part: part.truth is not leading)


def _reason(ordered: Sequence[Finding], holding: int, low: int, high: int) -> str:
    wanted = f"{low}" if low == high else f"{low} or more" if high == len(ordered) else f"{low} to {high}"
    listed = [part.reason for part in ordered[:MAX_REASONS]]
    more = len(ordered) - len(listed)
    rest = [f"and {more} more"] if more > 0 else []
    return f"{holding} of {len(ordered)} hold, {wanted} needed: " + "; ".join([*listed, *rest])


def _bracketed(part: Expression) -> str:
    joined = isinstance(part, Count) and part.word in ("and", "or")
    return f"({part.key})" if joined else part.key
