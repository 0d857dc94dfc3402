"""Walks through the trees of expressions. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from handiwork_core.intake.limits import CONDITION_DEPTH, CONDITION_NODES

from .expression import Count, Expression, Leaf, Named, Not


def positive_leaves(expression: Expression) -> Iterator[Leaf]:
    """Yield the predicates that help an expression to be TRUE by being TRUE: those that no ``not`` turns round.

    Args:
        expression: The tree.
    """
    if isinstance(expression, Leaf):
        yield expression
    elif isinstance(expression, Named):
        yield from positive_leaves(expression.part)
    elif isinstance(expression, Count):
        for part in expression.parts:
            yield from positive_leaves(part)


def excess_of(expression: Expression) -> str:
    """Return why a tree is too large.

    Conditions may name others more than once, so a tree can grow twofold with each name.

    Args:
        expression: The tree.

    Returns:
        The reason; empty for a tree within the limits.
    """
    todo, count = [(expression, 1)], 0
    while todo:
        node, depth = todo.pop()
        count += 1
        if count > CONDITION_NODES:
            return f"has more than {CONDITION_NODES} parts with those of the conditions it names; name fewer"
        if depth > CONDITION_DEPTH:
            return (
                f"is nested more than {CONDITION_DEPTH} deep with the conditions it names; write it flatter"
            )
        if isinstance(node, Count):
            todo += [(part, depth + 1) for part in node.parts]
        elif isinstance(node, (Named, Not)):
            todo.append((node.part, depth + 1))
    return ""
