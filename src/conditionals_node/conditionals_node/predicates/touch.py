"""Predicates of contact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from conditionals_node.arguments.arguments import (
    Names,
    distinct,
    not_negative,
    several,
)
from conditionals_node.arguments.checks import ANY_GRIPPER, hand_bodies
from conditionals_node.views.views import T, Unknown, View
from handiwork_core.contracts.predicate import Predicate
from handiwork_core.robot.robot import Robot

from .counting import Logical
from .measured import Measured, touching
from .parts import Part


@dataclass(frozen=True, slots=True)
class GripperHitTable(Measured):
    """The hand or a finger touches ``table`` with ``min_force`` [N]; ``bodies`` come from the robot when left out."""

    name: ClassVar[str] = "gripper_hit_table"
    unit: ClassVar[str] = "N"
    table: str = "table"
    gripper_name: str = ANY_GRIPPER
    min_force: float = 0.1
    bodies: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        not_negative(min_force=self.min_force)

    def for_robot(self, robot: Robot) -> Predicate:
        """Return the predicate with ``bodies`` filled in.

        Args:
            robot: The robot's description.

        Raises:
            ValueError: The robot has no gripper of this name.
        """
        return self if self.bodies else replace(self, bodies=hand_bodies(robot, self.gripper_name))

    def subjects(self) -> tuple[str, ...]:
        """Return the table."""
        return (self.table,)

    @property
    def needs_contacts(self) -> bool:
        """True: a touch is measured by its force."""
        return True

    def groups(self, view: View[T]) -> Sequence[Sequence[Part[T]]]:
        """Return the strongest touch."""
        view.origin(self.table)
        if not self.bodies:
            raise Unknown("no bodies of a hand are given; set bodies")
        force = view.greatest(*[view.touch(self.table, body) for body in self.bodies])
        words, evidence = "the hand touches %s with %.2f N, %g N needed", (("force", force, "N", self.table),)
        return [[Part(force - self.min_force, words, (self.table, force, self.min_force), evidence)]]


@dataclass(frozen=True, slots=True)
class ObjectInContact(Measured):
    """Pairs of ``object1`` and ``object2`` touch with ``min_force`` [N]: any, all, or exactly ``K`` of them."""

    name: ClassVar[str] = "object_in_contact"
    unit: ClassVar[str] = "N"
    object1: Names
    object2: Names
    logical: Logical = Logical.ANY
    K: int = 1
    min_force: float = 0.1

    def __post_init__(self) -> None:
        first, second = several(self.object1), several(self.object2)
        distinct("object1", first, 1)
        distinct("object2", second, 1)
        shared = sorted(set(first) & set(second))
        if shared:
            raise ValueError(f"object2: {shared[0]!r} is also in object1; a thing does not touch itself")
        pairs = len(first) * len(second)
        if self.logical is Logical.CHOOSE and not 0 <= self.K <= pairs:
            raise ValueError(f"K: is {self.K} of {pairs} pairs; write 0 to {pairs}")
        not_negative(min_force=self.min_force)

    def subjects(self) -> tuple[str, ...]:
        """Return the objects of both sides; robot links, which have a slash in their name, have no pose here."""
        return tuple(name for name in (*several(self.object1), *several(self.object2)) if "/" not in name)

    @property
    def needs_contacts(self) -> bool:
        """True: a touch is measured by its force."""
        return True

    def choice(self) -> tuple[Logical, int]:
        """Return ``logical`` and ``K``."""
        return self.logical, self.K

    def groups(self, view: View[T]) -> Sequence[Sequence[Part[T]]]:
        """Return one touch for each pair."""
        for name in self.subjects():
            view.origin(name)
        pairs = [(a, b) for a in several(self.object1) for b in several(self.object2)]
        return [[touching(view, a, b, self.min_force)] for a, b in pairs]
