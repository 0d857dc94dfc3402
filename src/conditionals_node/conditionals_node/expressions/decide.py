"""Verdicts on a batch of worlds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from conditionals_node.predicates.containment import ObjectGroupsInContainers
from conditionals_node.predicates.counting import TINY, counted_margins
from conditionals_node.predicates.measured import Measured
from conditionals_node.predicates.order import ObjectsPlacedInContainerInOrder
from conditionals_node.predicates.parts import Part
from conditionals_node.views.batch_view import BatchView
from conditionals_node.views.batch_worlds import Worlds
from conditionals_node.views.views import Unknown
from handiwork_core.contracts.predicate import Predicate
from handiwork_core.model.geometry import Array

from .expression import Algebra, Expression


@dataclass(frozen=True, slots=True, eq=False)
class Verdicts:
    """The verdicts of one predicate on ``n`` worlds.

    Attributes:
        margin: (n,), in the predicate's unit: more than 0 where TRUE, nan where UNKNOWN.
        evidence: Name, values (n,), unit and subject of the numbers that decided.
        reason: Why all are UNKNOWN; else empty.
    """

    margin: Array
    evidence: tuple[tuple[str, Array, str, str], ...] = ()
    reason: str = ""

    @property
    def holds(self) -> NDArray[np.bool_]:
        """The worlds where the predicate is TRUE, (n,)."""
        return np.asarray(self.margin > 0.0)

    @property
    def truth(self) -> NDArray[np.int8]:
        """The values of ``Truth`` as numbers, (n,)."""
        return truths_of(self.margin)


def truths_of(margin: Array) -> NDArray[np.int8]:
    """Return the values of ``Truth`` that margins stand for, (n,).

    Args:
        margin: TRUE above 0, UNKNOWN for nan, else FALSE, (n,).
    """
    # UNKNOWN is 0, FALSE 1 and TRUE 2.
    return np.asarray(np.add(margin > 0.0, margin == margin, dtype=np.int8))


def evaluate(predicate: Predicate, worlds: Worlds) -> Verdicts:
    """Decide for every world, with the numbers that ``predicate.evaluate`` would find for each alone.

    Args:
        predicate: A predicate that is written against ``View``.
        worlds: ``n`` worlds.

    Returns:
        The verdicts, one for each world.

    Raises:
        TypeError: The predicate is not written against ``View``, or it has a memory (see ``advance``).
    """
    if isinstance(predicate, ObjectGroupsInContainers):
        found = [evaluate(member, worlds) for member in predicate.members()]
        return Verdicts(together([one.margin for one in found]), _joined(found), _first_reason(found))
    if not isinstance(predicate, Measured):
        raise TypeError(f"{predicate.name} decides one world at a time; derive it from Measured or Relation")
    view = BatchView(worlds)
    logical, k = predicate.choice()
    try:
        with np.errstate(invalid="ignore", divide="ignore"):
            groups = predicate.groups(view)
            margins = [together([_margin(part) for part in parts]) for parts in groups]
            bounds = logical.bounds(len(margins), k)
            margin = margins[0] if len(margins) == 1 else counted_margins(np.stack(margins), *bounds)
    except Unknown as missing:
        return Verdicts(np.full(worlds.n, np.nan), (), str(missing))
    evidence = tuple(item for parts in groups for part in parts for item in part.evidence if item[1].ndim)
    reasons = [part.words % part.said for parts in groups for part in parts if not part.evidence]
    return Verdicts(margin, evidence, "; ".join(reasons))


def advance(
    predicate: ObjectsPlacedInContainerInOrder, first: Array | None, worlds: Worlds
) -> tuple[Verdicts, Array]:
    """Decide for worlds that follow those that made ``first``.

    Args:
        predicate: A predicate with a memory.
        first: Times when each object was first in place, (objects, n), s; nan where it was not yet. Set the columns
            of worlds that were reset to nan. None is the beginning.
        worlds: ``n`` worlds with stamps.

    Returns:
        The verdicts, and ``first`` for the next call.

    Raises:
        ValueError: The worlds have no stamps.
    """
    if worlds.stamps is None:
        raise ValueError("stamps: are missing; give the time of each world [s]")
    found = [evaluate(one, worlds) for one in predicate.placements()]
    placed, reason = [one.margin for one in found], _first_reason(found)
    seen = np.full((len(placed), worlds.n), np.nan) if first is None else first.copy()
    for row, margin in zip(seen, placed, strict=True):
        fresh = np.isnan(row) & (margin > 0.0)
        row[fresh] = worlds.stamps[fresh]
    if len(seen) == 1:
        return Verdicts(placed[0], (), reason), seen
    lead = np.where(np.isnan(seen[1:] - seen[:-1]), np.inf, seen[1:] - seen[:-1]).min(axis=0)
    order = lead if predicate.strict else np.where(lead == 0.0, TINY, lead)
    return Verdicts(together([*placed, order]), (("lead", lead, "s", ""),), reason), seen


def evaluate_expression(expression: Expression, worlds: Worlds) -> Verdicts:
    """Decide an expression for every world; see ``evaluate``.

    Args:
        expression: The expression, as ``Condition.expression`` has it.
        worlds: ``n`` worlds.

    Returns:
        The verdicts, with the evidence of all predicates.

    Raises:
        TypeError: See ``evaluate``.
    """
    found = {leaf.key: evaluate(leaf.predicate, worlds) for leaf in expression.leaves()}
    margin = expression.fold(lambda leaf: found[leaf.key].margin, MARGINS)
    return Verdicts(margin, _joined(list(found.values())), _first_reason(list(found.values())))


def opposite_margins(margin: Array) -> Array:
    """Return the margins of ``not``: TRUE for FALSE and the other way round; UNKNOWN, nan, stays.

    Args:
        margin: The margins, (n,).
    """
    return np.where(margin > 0.0, -margin, np.maximum(-margin, TINY))


MARGINS: Algebra[Array] = Algebra(
    opposite_margins, lambda parts, low, high: counted_margins(np.stack(parts), low, high)
)
"""The algebra of expressions for margins of many worlds; ``FINDINGS`` is that for one."""


def together(margins: Sequence[Array]) -> Array:
    """Return the margin of parts that must all hold.

    Args:
        margins: The parts' margins, (n,) each.

    Returns:
        The margin (n,) of the first part that decides: FALSE where one is, else UNKNOWN where one is.
    """
    if len(margins) == 1:
        return margins[0]
    result = np.where(np.isnan(margins).any(axis=0), np.nan, margins[0])
    for margin in reversed(margins):
        result = np.where(margin <= 0.0, margin, result)
    return np.asarray(result)


def _margin(part: Part[Array]) -> Array:
    return np.where(part.margin == 0.0, TINY, part.margin) if part.closed else part.margin


def _joined(found: Sequence[Verdicts]) -> tuple[tuple[str, Array, str, str], ...]:
    return tuple(item for one in found for item in one.evidence)


def _first_reason(found: Sequence[Verdicts]) -> str:
    return next((one.reason for one in found if one.reason), "")
