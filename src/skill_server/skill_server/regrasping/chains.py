"""The search for the shortest chain of grasps: placements, joined by grasps that are possible at both ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

NodeT = TypeVar("NodeT", bound=Hashable)
GraspT = TypeVar("GraspT")


class Possibilities(Protocol[NodeT, GraspT]):
    """What can be done at the nodes: placements of the object. At the start it may also be in the hand."""

    def serving(self, node: NodeT) -> GraspT | None:
        """Return a grasp that is possible at a node and with which the goal can be reached; None: there is none.

        Args:
            node: The node.
        """
        ...

    def grasps(self, node: NodeT) -> Iterable[GraspT]:
        """Return the grasps that are possible at a node, in the order in which they are to be tried.

        Args:
            node: The node.
        """
        ...

    def put_down(self, node: NodeT, grasp: GraspT, at: Sequence[NodeT]) -> Sequence[NodeT]:
        """Return those of some placements at which the object can be put down.

        Args:
            node: The node where it is grasped.
            grasp: A grasp that is possible there.
            at: The placements that are asked for.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Chain(Generic[NodeT, GraspT]):
    """Grasps in order, each with the node where it is taken; the first node is the start.

    Attributes:
        links: Pairs of node and grasp. The object is put down at the node of the next pair, or brought to the goal.
    """

    links: tuple[tuple[NodeT, GraspT], ...]

    @property
    def regrasps(self) -> int:
        """The number of times that the object is put down on the way."""
        return len(self.links) - 1


FEW = 4
"""Placements of one kind of which the grasps are looked at before other kinds have had their turn."""
ASKED = 8
"""Placements of one kind of which a grasp is asked at once, as long as few are looked at."""


def shortest_chain(
    start: NodeT,
    placements: Sequence[NodeT],
    possible: Possibilities[NodeT, GraspT],
    most: int,
    kind: Callable[[NodeT], Hashable] = hash,
) -> Chain[NodeT, GraspT] | None:
    """Find a chain with the fewest regrasps, by breadth.

    A placement is asked for its grasps only once it was reached, and each is reached once, by the first grasp that can.
    Placements of one kind have much the same grasps, so all kinds are tried with a few placements first.

    Args:
        start: Where the object is.
        placements: Where it may be put down, in the order in which they are to be tried.
        possible: What can be done at the nodes.
        most: The most regrasps.
        kind: Returns the kind of a placement, such as its side that is below.

    Returns:
        The chain; None where there is none of this length.
    """
    found = possible.serving(start)
    if found is not None:
        return Chain(((start, found),))
    search = _Search(start, placements, possible, kind)
    layer = [start]
    for _ in range(most):
        reached = list[NodeT]()
        for few in (True, False):
            for place in search.reached(layer, few):
                reached.append(place)
                found = possible.serving(place)
                if found is not None:
                    return Chain((*search.came[place], (place, found)))
        layer = reached
    return None


class _Search(Generic[NodeT, GraspT]):
    """The placements that were reached so far, and how."""

    def __init__(
        self,
        start: NodeT,
        placements: Sequence[NodeT],
        possible: Possibilities[NodeT, GraspT],
        kind: Callable[[NodeT], Hashable],
    ) -> None:
        self.came: dict[NodeT, tuple[tuple[NodeT, GraspT], ...]] = {start: ()}
        self._left, self._possible, self._kind = list(placements), possible, kind
        self._count = Counter[Hashable]()

    def reached(self, layer: Sequence[NodeT], few: bool) -> Iterator[NodeT]:
        """Yield placements that grasps of a layer reach; with ``few``, not more than that many of one kind."""
        for node in layer:
            for grasp in self._possible.grasps(node):
                asked = self._few_of_each() if few else tuple(self._left)
                for place in self._possible.put_down(node, grasp, asked) if asked else ():
                    if few and self._count[self._kind(place)] >= FEW:
                        continue
                    self._left.remove(place)
                    self._count[self._kind(place)] += 1
                    self.came[place] = (*self.came[node], (node, grasp))
                    yield place

    def _few_of_each(self) -> tuple[NodeT, ...]:
        asked, count = list[NodeT](), Counter[Hashable]()
        for place in self._left:
            kind = self._kind(place)
            count[kind] += 1
            if count[kind] <= ASKED and self._count[kind] < FEW:
                asked.append(place)
        return tuple(asked)
