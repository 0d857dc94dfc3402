"""How many skills a task may run: the least and the greatest number, and those that are still to come."""

from __future__ import annotations

from typing import NamedTuple

from .model import Entry, ForEach, If, Node, Repeat, Retry, Try, branches


class Budget(NamedTuple):
    """The least and the greatest number of skills that may run.

    Attributes:
        least: The least number, when all goes well.
        most: The greatest number.
    """

    least: int
    most: int

    def times(self, least: int, most: int) -> Budget:
        """Return the budget of a loop over this one.

        Args:
            least: Least number of turns.
            most: Greatest number of turns.
        """
        return Budget(least * self.least, most * self.most)


def budget_of(*nodes: Node) -> Budget:
    """Return how many skills may run in nodes that run in order.

    Args:
        nodes: The nodes.
    """
    parts = [_budget(node) for node in nodes]
    return Budget(sum(part.least for part in parts), sum(part.most for part in parts))


def _budget(node: Node) -> Budget:
    match node:
        case Entry():
            return Budget(1, 1)
        case Repeat():
            return budget_of(*node.body).times(0 if node.until else node.times, node.times)
        case Retry():
            return budget_of(*node.body).times(1, node.times)
        case ForEach():
            return budget_of(*node.body).times(0 if node.where else node.limit, node.limit)
    parts = [budget_of(*block) for _, block in branches(node)]
    if isinstance(node, (If, Try)):
        all_run = isinstance(node, Try)
        most = sum(p.most for p in parts) if all_run else max(p.most for p in parts)
        return Budget(min(p.least for p in parts), most)
    return Budget(sum(p.least for p in parts), sum(p.most for p in parts))


def visits_of(*nodes: Node) -> int:
    """Return how many nodes may be run in nodes that run in order, with all turns of their loops.

    Args:
        nodes: The nodes.
    """
    total = 0
    for node in nodes:
        turns = node.times if isinstance(node, (Repeat, Retry)) else 1
        turns = node.limit if isinstance(node, ForEach) else turns
        total += 1 + turns * sum(visits_of(*block) for _, block in branches(node))
    return total
