"""Objects that are put away one after the other."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, cast

from conditionals_node.arguments.arguments import distinct
from conditionals_node.arguments.checks import ANY_GRIPPER, finger_bodies
from handiwork_core.contracts.predicate import (
    Evidence,
    Finding,
    LatchedPredicate,
    Predicate,
    Truth,
)
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot

from .containment import ObjectInContainer
from .counting import TINY
from .parts import all_parts


@dataclass(frozen=True, slots=True)
class ObjectsPlacedInContainerInOrder(LatchedPredicate):
    """All objects are in the container, and got there in the order in which they are named.

    It remembers when each was first seen in place: an object that was put in first by mistake stays first until a
    reset. Places taken at the same instant pass unless ``strict``. The other arguments are those of
    ``object_in_container``.
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
    above_rim: float = 0.0
    min_share: float = 0.5
    max_tilt_deg: float = 45.0
    fingers: tuple[str, ...] = ()
    min_force: float = 0.1

    def __post_init__(self) -> None:
        distinct("objects", self.objects, 1)
        self.placements()

    def placements(self) -> tuple[ObjectInContainer, ...]:
        """Return the predicate that must hold for each object."""
        return tuple(
            ObjectInContainer(
                name,
                self.container,
                self.tolerance,
                self.above_rim,
                self.min_share,
                self.max_tilt_deg,
                require_contact_with=self.require_contact_with,
                require_gripper_detached=self.require_gripper_detached,
                gripper_name=self.gripper_name,
                fingers=self.fingers,
                min_force=self.min_force,
            )
            for name in self.objects
        )

    def for_robot(self, robot: Robot) -> Predicate:
        """Return the predicate with ``fingers`` filled in.

        Args:
            robot: The robot's description.

        Raises:
            ValueError: The robot has no gripper of this name.
        """
        return self if self.fingers else replace(self, fingers=finger_bodies(robot, self.gripper_name))

    def subjects(self) -> tuple[str, ...]:
        """Return the objects and the container."""
        return (*self.objects, self.container)

    @property
    def needs_contacts(self) -> bool:
        """True when a touch or a release is required."""
        return self.require_contact_with is not False or self.require_gripper_detached

    def evaluate(self, world: World) -> Finding:
        """Decide from one snapshot: UNKNOWN where all are in place, since the order was not seen."""
        found, _ = self.advance(None, world)
        if len(self.objects) > 1 and all(
            one.evaluate(world).truth is Truth.TRUE for one in self.placements()
        ):
            return Finding.unknown("all are in place, but the order was not seen; watch this condition")
        return found

    def advance(self, memory: object | None, world: World) -> tuple[Finding, Mapping[str, float]]:
        """Decide, and remember since when each object is in place."""
        first = dict(cast("Mapping[str, float]", memory or {}))
        placed = [one.evaluate(world) for one in self.placements()]
        for name, found in zip(self.objects, placed, strict=True):
            if found.truth is Truth.TRUE:
                first.setdefault(name, world.stamp_s)
        order = self._in_order(first)
        return all_parts([*placed, order] if order is not None else placed), first

    def _in_order(self, first: Mapping[str, float]) -> Finding | None:
        """Decide on neighbours by name that were both seen in place; None where there are none."""
        pairs = [(a, b) for a, b in itertools.pairwise(self.objects) if {a, b} <= first.keys()]
        if not pairs:
            return None
        a, b = min(pairs, key=lambda pair: first[pair[1]] - first[pair[0]])
        lead = first[b] - first[a]
        margin = TINY if lead == 0.0 and not self.strict else lead
        evidence = (Evidence("lead", lead, "s", a),)
        return Finding(Truth.of(margin > 0.0), margin, f"{a} was in place {lead:.2f} s before {b}", evidence)
