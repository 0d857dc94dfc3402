"""The search for the shortest chain of grasps: placements, joined by grasps that are possible at both ends."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
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


def shortest_chain(
    start: NodeT, placements: Sequence[NodeT], possible: Possibilities[NodeT, GraspT], most: int
) -> Chain[NodeT, GraspT] | None:
    """Find a chain with the fewest regrasps, by breadth.

    A placement is asked for its grasps only once it was reached, and each is reached once, by the first grasp that can.

    Args:
        start: Where the object is.
        placements: Where it may be put down, in the order in which they are to be tried.
        possible: What can be done at the nodes.
        most: The most regrasps.

    Returns:
        The chain; None where there is none of this length.
    """
    found = possible.serving(start)
    if found is not None:
        return Chain(((start, found),))
    came = dict[NodeT, tuple[tuple[NodeT, GraspT], ...]]({start: ()})
    layer, left = [start], list(placements)
    for _ in range(most):
        reached = list[NodeT]()
        for node in layer:
            for grasp in possible.grasps(node):
                if not left:
                    break
                for place in possible.put_down(node, grasp, tuple(left)):
                    left.remove(place)
                    reached.append(place)
                    came[place] = (*came[node], (node, grasp))
                    found = possible.serving(place)
                    if found is not None:
                        return Chain((*came[place], (place, found)))
        layer = reached
    return None
