"""Objects on top of each other, and objects put away one after the other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import ClassVar, cast

from conditionals_node.views import Point, T, View
from handiwork_core.predicate import Evidence, Finding, LatchedPredicate, Predicate, Truth
from handiwork_core.robot import Robot
from handiwork_core.world import World

from .checks import ANY_GRIPPER, finger_bodies
from .containment import ObjectInContainer
from .measured import Measured, distinct, not_negative
from .parts import TINY, Part, all_parts
from .vertical import over


class Order(Enum):
    """How the names of a stack are written."""

    BOTTOM_TO_TOP = "bottom_to_top"
    TOP_TO_BOTTOM = "top_to_bottom"
    NONE = "None"
    """As they happen to stand, by the height of their origins."""


@dataclass(frozen=True, slots=True)
class Stacked(Measured):
    """Each object stands on the next lower one.

    Neighbours touch with ``min_force`` [N]; the upper one's lowest point is not more than ``tolerance`` [m] below the
    lower one's top, and its centre over it within the same. ``order``: None takes them as they stand.
    """

    name: ClassVar[str] = "stacked"
    unit: ClassVar[str] = "m or N"
    objects: tuple[str, ...]
    order: Order | None = None
    tolerance: float = 0.01
    min_force: float = 0.1

    def __post_init__(self) -> None:
        distinct("objects", self.objects, 2)
        not_negative(tolerance=self.tolerance, min_force=self.min_force)

    def subjects(self) -> tuple[str, ...]:
        """The objects."""
        return self.objects

    @property
    def needs_contacts(self) -> bool:
        """Neighbours touch."""
        return True

    def groups(self, view: View[T]) -> Sequence[Sequence[Part[T]]]:
        """Height, place and touch of the worst pair of neighbours."""
        pairs = self._pairs(view)
        endless = view.number(math.inf)
        worst = [
            view.least(*[view.where(pair[0] > 0.5, pair[i], endless) for pair in pairs]) for i in (1, 2, 3)
        ]
        gap, inset, force = worst
        t, f = self.tolerance, self.min_force
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
                    force - f,
                    "the weakest touch has %.2f N, %g needed",
                    (force, f),
                    (("contact_force", force, "N", ""),),
                ),
            ]
        ]

    def _pairs(self, view: View[T]) -> list[tuple[T, T, T, T]]:
        """For pairs upper, lower: 1 where they are neighbours, gap, inset, force."""
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
                next(iter(over(view, upper, lower, 0.0).evidence))[1],
                view.touch(upper, lower),
            )
            for is_next, (upper, lower) in zip(nexts, pairs, strict=True)
        ]


def _next_above(view: View[T], heights: Mapping[str, T], upper: str, lower: str) -> T:
    """1 where ``upper`` follows ``lower`` when all are sorted by height; equals keep their order."""
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


@dataclass(frozen=True, slots=True)
class ObjectsPlacedInContainerInOrder(LatchedPredicate):
    """All objects are in the container, and got there in the order in which they are named.

    It remembers when each was first seen in place: what was put in first in error stays so until a reset. Places taken
    at the same instant pass unless ``strict``. The other arguments are those of ``object_in_container``.
    """

    name: ClassVar[str] = "objects_placed_in_container_in_order"
    unit: ClassVar[str] = "m, N or s"
    objects: tuple[str, ...]
    container: str
    tolerance: float = 0.0
    require_contact_with: bool | str | tuple[str, ...] = True
    require_gripper_detached: bool = True
    gripper_name: str = ANY_GRIPPER
    strict: bool = False
    above_rim: float | None = None
    point: Point = Point.CENTROID
    fingers: tuple[str, ...] = ()
    min_force: float = 0.1

    def __post_init__(self) -> None:
        distinct("objects", self.objects, 1)
        self.placements()

    def placements(self) -> tuple[ObjectInContainer, ...]:
        """What must hold for each object."""
        return tuple(
            ObjectInContainer(
                name,
                self.container,
                self.tolerance,
                self.above_rim,
                self.point,
                require_contact_with=self.require_contact_with,
                require_gripper_detached=self.require_gripper_detached,
                gripper_name=self.gripper_name,
                fingers=self.fingers,
                min_force=self.min_force,
            )
            for name in self.objects
        )

    def for_robot(self, robot: Robot) -> Predicate:
        """Fill in ``fingers``."""
        return self if self.fingers else replace(self, fingers=finger_bodies(robot, self.gripper_name))

    def subjects(self) -> tuple[str, ...]:
        """Objects and container."""
        return (*self.objects, self.container)

    @property
    def needs_contacts(self) -> bool:
        """Where touching is asked for."""
        return self.require_contact_with is not False or self.require_gripper_detached

    def evaluate(self, world: World) -> Finding:
        """From one snapshot: UNKNOWN where all are in place, since the order was not seen."""
        found, _ = self.advance(None, world)
        if len(self.objects) > 1 and all(
            one.evaluate(world).truth is Truth.TRUE for one in self.placements()
        ):
            return Finding.unknown("all are in place, but the order was not seen; watch this condition")
        return found

    def advance(self, memory: object | None, world: World) -> tuple[Finding, Mapping[str, float]]:
        """Decide, and remember who is in place since when."""
        first = dict(cast("Mapping[str, float]", memory or {}))
        placed = [one.evaluate(world) for one in self.placements()]
        for name, found in zip(self.objects, placed, strict=True):
            if found.truth is Truth.TRUE:
                first.setdefault(name, world.stamp_s)
        order = self._in_order(first)
        return all_parts([*placed, order] if order is not None else placed), first

    def _in_order(self, first: Mapping[str, float]) -> Finding | None:
        """About those that follow each other by name and were both seen in place; None where there are none."""
        pairs = [(a, b) for a, b in itertools.pairwise(self.objects) if {a, b} <= first.keys()]
        if not pairs:
            return None
        a, b = min(pairs, key=lambda pair: first[pair[1]] - first[pair[0]])
        lead = first[b] - first[a]
        margin = TINY if lead == 0.0 and not self.strict else lead
        evidence = (Evidence("lead", lead, "s", a),)
        return Finding(Truth.of(margin > 0.0), margin, f"{a} was in place {lead:.2f} s before {b}", evidence)
