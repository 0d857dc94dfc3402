"""Predicates of contact, and of a grasp of anything else."""

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
from conditionals_node.arguments.checks import ANY_GRIPPER, Hand, hand_bodies
from conditionals_node.views.views import T, Unknown, View
from handiwork_core.contracts.predicate import Predicate
from handiwork_core.robot.robot import Robot

from .counting import Logical
from .grip import MIN_CLOSED, OfHands, held
from .measured import WEIGHT_SHARE, Measured, touching
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
    """Pairs of ``object1`` and ``object2`` touch with ``min_force`` [N]: any, all, or exactly ``K`` of them.

    A light body needs at most ``weight_share`` of its weight.
    """

    name: ClassVar[str] = "object_in_contact"
    unit: ClassVar[str] = "N"
    object1: Names
    object2: Names
    logical: Logical = Logical.ANY
    K: int = 1
    min_force: float = 0.1
    weight_share: float = WEIGHT_SHARE

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
        not_negative(min_force=self.min_force, weight_share=self.weight_share)

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
        return [[touching(view, a, b, self.min_force, self.weight_share)] for a, b in pairs]


@dataclass(frozen=True, slots=True)
class WrongObjectGrabbed(OfHands, Measured):
    """An object other than ``object`` is grabbed, see ``object_grabbed``: any object that can move.

    ``ignore_objects`` are left out.
    """

    name: ClassVar[str] = "wrong_object_grabbed"
    unit: ClassVar[str] = "N"
    object: Names
    gripper_name: str = ANY_GRIPPER
    ignore_objects: tuple[str, ...] = ("table",)
    min_force: float = 0.1
    fingers: tuple[str, ...] = ()
    hands: tuple[Hand, ...] = ()
    min_closed: float = MIN_CLOSED

    def __post_init__(self) -> None:
        distinct("object", several(self.object), 1)
        not_negative(min_force=self.min_force, min_closed=self.min_closed)

    def subjects(self) -> tuple[str, ...]:
        """Return the objects that are right."""
        return several(self.object)

    @property
    def needs_contacts(self) -> bool:
        """True: a grasp is measured by forces."""
        return True

    def groups(self, view: View[T]) -> Sequence[Sequence[Part[T]]]:
        """Return the squeeze of the other object that is held most firmly."""
        for name in several(self.object):
            view.origin(name)
        given = self.hands or (Hand(self.fingers),)
        right = {*several(self.object), *self.ignore_objects}
        others = [name for name in view.movable() if name not in right]
        margins = [held(view, name, given, self.min_force, self.min_closed).margin for name in others]
        firmest = view.greatest(*margins, view.number(-self.min_force))
        said = view.leader(others, margins)
        words = "of all other objects %s is held most firmly, with %.2f N; %g N count as held"
        force = firmest + self.min_force
        evidence = (("squeeze", force, "N", said),)
        return [[Part(firmest, words, (said or "none", force, self.min_force), evidence)]]
