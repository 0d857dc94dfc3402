"""Measured parts of predicates, and how they combine in three values.

The arithmetic is the same for one world and for many; only ``Part.finding`` and ``conclude`` put one into words.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic

from conditionals_node.views.views import T
from handiwork_core.contracts.predicate import Evidence, Finding, Truth

from .counting import TINY, Logical, counted_margin, truth_of

# These take half the time of the classes' own __new__: a hundred conditions are decided at 100 Hz.
_new_finding: Callable[[tuple[object, ...]], Finding] = functools.partial(tuple.__new__, Finding)
_new_evidence: Callable[[tuple[object, ...]], Evidence] = functools.partial(tuple.__new__, Evidence)
TRUE, FALSE = Truth.TRUE, Truth.FALSE


@dataclass(slots=True)
class Part(Generic[T]):
    """One measured requirement.

    Attributes:
        margin: More than 0 where it holds, and 0 too if ``closed``; nan where it is unknown.
        words: Format of the reason, for ``words % said``.
        said: Values of the format.
        evidence: Name, value, unit and subject of every number.
        closed: True when the boundary belongs to the inside.
    """

    margin: T
    words: str
    said: tuple[object, ...]
    evidence: tuple[tuple[str, T, str, str], ...] = ()
    closed: bool = True

    def finding(self: Part[float]) -> Finding:
        """Return the verdict in words, for one world."""
        margin = self.margin
        if margin > 0.0:
            truth = TRUE
        elif margin < 0.0:
            truth = FALSE
        elif margin != margin:
            return Finding.unknown(self.words % self.said)
        else:
            truth, margin = (TRUE, TINY) if self.closed else (FALSE, 0.0)
        return _new_finding(
            (truth, margin, self.words % self.said, tuple(map(_new_evidence, self.evidence)), 0.0)
        )


def unknown(reason: str, nan: T) -> Part[T]:
    """Return a part that cannot be measured.

    Args:
        reason: Why.
        nan: Not a number, in every world.
    """
    return Part(nan, "%s", (reason,))


def conclude(groups: Sequence[Sequence[Part[float]]], logical: Logical, k: int) -> Finding:
    """Return one finding on all groups.

    Args:
        groups: Parts that must hold together, for each object.
        logical: How the groups combine.
        k: Number of groups for ``choose``.
    """
    if len(groups) == 1:
        parts = groups[0]
        return parts[0].finding() if len(parts) == 1 else all_parts([part.finding() for part in parts])
    return combined([all_parts([part.finding() for part in parts]) for parts in groups], logical, k)


def all_parts(found: Sequence[Finding]) -> Finding:
    """Return the finding on parts that must all hold.

    Args:
        found: Findings of the parts, at least one.

    Returns:
        FALSE where a part is FALSE, else UNKNOWN where one is UNKNOWN, else TRUE. Margin and first words are those
            of the part that decides; when all are TRUE, those of the first.
    """
    order = (Truth.FALSE, Truth.UNKNOWN)
    leading = next((part for truth in order for part in found if part.truth is truth), found[0])
    return _worded(leading, found, leading.truth, leading.margin, "")


def combined(found: Sequence[Finding], logical: Logical, k: int) -> Finding:
    """Return the findings on several objects as one.

    Args:
        found: Findings, at least one.
        logical: How they combine.
        k: Number of objects for ``choose``.

    Returns:
        A finding; its margin is that of the object on which the value depends.
    """
    margin = counted_margin([one.margin for one in found], *logical.bounds(len(found), k))
    truth = truth_of(margin)
    near = [one for one in found if abs(one.margin) == abs(margin)]
    near = near or [one for one in found if one.truth is Truth.UNKNOWN]
    held = sum(one.truth is Truth.TRUE for one in found)
    needed = {Logical.ALL: "all are", Logical.ANY: "one is", Logical.CHOOSE: f"exactly {k} are"}[logical]
    return _worded(near[0], found, truth, margin, f"{held} of {len(found)} hold, {needed} needed: ")


def _worded(
    leading: Finding, found: Sequence[Finding], truth: Truth, margin: float, introduction: str
) -> Finding:
    rest = [part for part in found if part is not leading]
    words = introduction + "; ".join([leading.reason, *(part.reason for part in rest)])
    evidence = tuple(item for part in (leading, *rest) for item in part.evidence)
    return Finding(truth, margin, words, evidence)
