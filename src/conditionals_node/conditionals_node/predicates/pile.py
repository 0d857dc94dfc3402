"""The predicate of objects on top of each other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from conditionals_node.arguments.arguments import distinct, not_negative
from conditionals_node.views.views import T, View

from .measured import WEIGHT_SHARE, Measured
from .parts import Part
from .vertical import Extent, over


class Order(Enum):
    """The order in which the names of a stack are given."""

    BOTTOM_TO_TOP = "bottom_to_top"
    TOP_TO_BOTTOM = "top_to_bottom"
    NONE = "None"
    """The order by the height of their origins."""


@dataclass(frozen=True, slots=True)
class Stacked(Measured):
    """Each object stands on the next lower one.

    Neighbours touch with ``min_force`` [N], light ones with ``weight_share`` of their weight; the upper one's lowest
    point is not more than ``tolerance`` [m] below the lower one's top, and its centre over it within the same.
    ``order``: None takes them as they stand; ``extent``: see ``object_above``.
    """

    name: ClassVar[str] = "stacked"
    unit: ClassVar[str] = "m or N"
    objects: tuple[str, ...]
    order: Order | None = None
    tolerance: float = 0.01
    min_force: float = 0.1
    weight_share: float = WEIGHT_SHARE
    extent: Extent = Extent.SHAPE

    def __post_init__(self) -> None:
        distinct("objects", self.objects, 2)
        not_negative(tolerance=self.tolerance, min_force=self.min_force, weight_share=self.weight_share)

    def subjects(self) -> tuple[str, ...]:
        """Return the objects."""
        return self.objects

    @property
    def needs_contacts(self) -> bool:
        """True: neighbours must touch."""
        return True

    def groups(self, view: View[T]) -> Sequence[Sequence[Part[T]]]:
        """Return height, place and touch of the worst pair of neighbours."""
        pairs = self._pairs(view)
        endless = view.number(math.inf)
        worst = [
            view.least(*[view.where(pair[0] > 0.5, pair[i], endless) for pair in pairs]) for i in (1, 2, 3)
        ]
        gap, inset, excess = worst
        t = self.tolerance
        return [
            [
                Part(
                    gap + t,
                    "the lowest gap upwards is %.3f m, %g needed",
                    (gap, -t),
                    (("gap", gap, "m", ""),),
                ),
                Part(
                    inset + t,
                    "the worst centre is %.3f m within the edge below",
                    (inset,),
                    (("inset", inset, "m", ""),),
                ),
                Part(
                    excess,
                    "the weakest touch has %.2f N more than it needs",
                    (excess,),
                    (("contact_excess", excess, "N", ""),),
                ),
            ]
        ]

    def _pairs(self, view: View[T]) -> list[tuple[T, T, T, T]]:
        """Return for pairs (upper, lower): 1 where they are neighbours, gap, inset, excess of the force."""
        if self.order in (None, Order.NONE):
            # In a batch the order differs from world to world, so every pair is measured.
            heights = {name: view.origin(name)[2] for name in self.objects}
            pairs = list(itertools.permutations(self.objects, 2))
            nexts = [_next_above(view, heights, upper, lower) for upper, lower in pairs]
        else:
            names = self.objects if self.order is Order.TOP_TO_BOTTOM else self.objects[::-1]
            pairs = list(itertools.pairwise(names))
            nexts = [view.number(1.0)] * len(pairs)
        return [
            (
                is_next,
                view.box(upper)[2] - view.box(lower)[5],
                next(iter(over(view, upper, lower, 0.0, self.extent).evidence))[1],
                view.touch(upper, lower) - view.needed(self.min_force, self.weight_share, upper, lower),
            )
            for is_next, (upper, lower) in zip(nexts, pairs, strict=True)
        ]


def _next_above(view: View[T], heights: Mapping[str, T], upper: str, lower: str) -> T:
    """Return 1 where ``upper`` follows ``lower`` when all are sorted by height; equals keep their order."""
    one, zero = view.number(1.0), view.number(0.0)
    names = list(heights)

    def is_over(a: str, b: str) -> T:
        tie = one if names.index(a) < names.index(b) else zero
        return view.where(heights[a] > heights[b], one, view.where(heights[a] == heights[b], tie, zero))

    found = is_over(upper, lower)
    for other in names:
        if other not in (upper, lower):
            found = found * (one - is_over(upper, other) * is_over(other, lower))
    return found
