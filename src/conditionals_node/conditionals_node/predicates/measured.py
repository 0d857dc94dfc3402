"""Bases of predicates: ``Relation`` for one object or several, ``Measured`` for everything else.

Copy ``ObjectUpright`` in ``motion.py`` to begin: it defines its measure, once; single worlds, batches, several
objects and the common requirements follow.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from conditionals_node.arguments.arguments import (
    Names,
    distinct,
    not_negative,
    several,
)
from conditionals_node.arguments.checks import finger_bodies
from conditionals_node.views.views import T, Unknown, View
from conditionals_node.views.world_view import WorldView
from handiwork_core.contracts.predicate import Finding, Predicate
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot

from .counting import Logical
from .parts import Part, all_parts, conclude, unknown

WEIGHT_SHARE = 0.3
"""Share of a light body's weight with which it surely touches: of three points that carry it each has about that."""


class Measured(Predicate):
    """A predicate that is written against ``View``, so that it serves one world and many.

    ``unit`` is that of its margin; where several are given, that of the part that decides.
    """

    unit: ClassVar[str] = "m"

    @abstractmethod
    def groups(self, view: View[T]) -> Sequence[Sequence[Part[T]]]:
        """Return the parts that must hold together, for each object.

        Args:
            view: One world, or many.

        Returns:
            One group for each object; ``choice`` says how the groups combine.

        Raises:
            Unknown: Something that is needed is not known.
        """

    def choice(self) -> tuple[Logical, int]:
        """Return how the groups combine, and the number of groups for ``choose``."""
        return Logical.ALL, 1

    def evaluate(self, world: World) -> Finding:
        """Decide for one snapshot."""
        logical, k = self.choice()
        try:
            return conclude(self.groups(WorldView(world)), logical, k)
        except Unknown as missing:
            return Finding.unknown(str(missing))


@dataclass(frozen=True, slots=True)
class Relation(Measured):
    """A predicate of one object, or of ``all``, ``any`` or exactly ``K`` of several (``choose``).

    ``require_contact_with``: true (the reference objects), or names of bodies that must all touch it with
    ``min_force`` [N]; ``require_gripper_detached``: no finger of ``gripper_name`` ("gripper": of any) may touch it.
    ``fingers`` come from the robot when left out. A touch needs at most ``weight_share`` of the weight of the lighter
    body, where masses are known; 0: ``min_force`` alone.
    """

    object: Names
    logical: Logical = field(default=Logical.ALL, kw_only=True)
    K: int = field(default=1, kw_only=True)
    require_contact_with: bool | str | tuple[str, ...] = field(default=False, kw_only=True)
    require_gripper_detached: bool = field(default=False, kw_only=True)
    gripper_name: str = field(default="gripper", kw_only=True)
    fingers: tuple[str, ...] = field(default=(), kw_only=True)
    min_force: float = field(default=0.1, kw_only=True)
    weight_share: float = field(default=WEIGHT_SHARE, kw_only=True)
    reads_contacts: ClassVar[bool] = False

    @abstractmethod
    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the parts that must hold for one object.

        Args:
            view: One world, or many.
            name: The object.

        Returns:
            The parts; when all hold, margin and first words are those of the first.

        Raises:
            Unknown: Something that is needed is not known.
        """

    def references(self) -> tuple[str, ...]:
        """Return the names of the other objects that it is about."""
        return ()

    def touched(self) -> tuple[str, ...]:
        """Return those of the references that ``require_contact_with: true`` means."""
        return self.references()

    def check(self) -> None:
        """Refuse wrong arguments of this predicate.

        Raises:
            ValueError: One is wrong; the message begins with the argument's name.
        """

    def __post_init__(self) -> None:
        names = several(self.object)
        distinct("object", names, 1)
        if self.logical is Logical.CHOOSE and not 0 <= self.K <= len(names):
            raise ValueError(f"K: is {self.K} of {len(names)} objects; write 0 to {len(names)}")
        shared = sorted(set(names) & set(self.references()))
        if shared:
            raise ValueError(f"object: {shared[0]!r} is also a reference object; name another")
        if self.require_contact_with is True and not self.references():
            raise ValueError("require_contact_with: is true, but there is no reference object; write names")
        not_negative(min_force=self.min_force, weight_share=self.weight_share)
        self.check()

    def for_robot(self, robot: Robot) -> Predicate:
        """Return the predicate with ``fingers`` filled in.

        Args:
            robot: The robot's description.

        Raises:
            ValueError: The robot has no gripper of this name.
        """
        return self if self.fingers else replace(self, fingers=finger_bodies(robot, self.gripper_name))

    def subjects(self) -> tuple[str, ...]:
        """Return the objects, those they are compared with, and those whose frame is used."""
        return tuple(dict.fromkeys((*several(self.object), *self.references(), *self.frames())))

    @property
    def needs_contacts(self) -> bool:
        """True when the predicate or a requirement reads contacts."""
        return self.reads_contacts or self.require_gripper_detached or self.require_contact_with is not False

    def choice(self) -> tuple[Logical, int]:
        """Return ``logical`` and ``K``."""
        return self.logical, self.K

    def evaluate(self, world: World) -> Finding:
        """Decide for one snapshot; the common case, one measure of one object, takes a short way."""
        name = self.object
        if self.require_contact_with is not False or self.require_gripper_detached or isinstance(name, tuple):
            return conclude(self.groups(WorldView(world)), self.logical, self.K)
        try:
            parts = self.measure(WorldView(world), name)
        except Unknown as missing:
            return Finding.unknown(str(missing))
        return parts[0].finding() if len(parts) == 1 else all_parts([part.finding() for part in parts])

    def groups(self, view: View[T]) -> Sequence[Sequence[Part[T]]]:
        """Return the measure of each object, with the other requirements on it."""
        adds: list[Callable[[View[T], str], Sequence[Part[T]]]] = []
        if self.require_contact_with is not False:
            adds.append(self._in_contact)
        if self.require_gripper_detached:
            adds.append(self._released)
        found: list[Sequence[Part[T]]] = []
        for name in several(self.object):
            try:
                parts = list(self.measure(view, name))
                for add in adds:
                    parts += _tried(add, view, name)
            except Unknown as missing:
                parts = [unknown(str(missing), view.number(math.nan))]
            found.append(parts)
        return found

    def _in_contact(self, view: View[T], name: str) -> Sequence[Part[T]]:
        wanted = self.touched() if self.require_contact_with is True else self.require_contact_with
        return [touching(view, name, other, self.min_force, self.weight_share) for other in several(wanted)]

    def _released(self, view: View[T], name: str) -> Sequence[Part[T]]:
        return [released(view, name, self.fingers, self.min_force, self.weight_share)]


def _tried(
    measure: Callable[[View[T], str], Sequence[Part[T]]], view: View[T], name: str
) -> Sequence[Part[T]]:
    try:
        return measure(view, name)
    except Unknown as missing:
        return [unknown(str(missing), view.number(math.nan))]


def touching(view: View[T], name: str, other: str, min_force: float, weight_share: float) -> Part[T]:
    """Measure whether two bodies press on each other.

    Args:
        view: The worlds.
        name: A body.
        other: The other body.
        min_force: Force that is needed, N.
        weight_share: See ``View.needed``.

    Returns:
        A part whose margin is the force minus the one that is needed, N.
    """
    force, needed = view.touch(name, other), view.needed(min_force, weight_share, name, other)
    return Part(
        force - needed,
        "%s and %s touch with %.2f N, %.3g N needed",
        (name, other, force, needed),
        (("contact_force", force, "N", other),),
    )


def released(
    view: View[T], name: str, fingers: Sequence[str], min_force: float, weight_share: float
) -> Part[T]:
    """Measure whether no finger presses on an object.

    Args:
        view: The worlds.
        name: The object.
        fingers: Body names of the fingers.
        min_force: Force that counts as a touch, N.
        weight_share: See ``View.needed``.

    Returns:
        A part whose margin is the force that counts minus the strongest touch, N.

    Raises:
        Unknown: There are no fingers, or contacts are not known.
    """
    if not fingers:
        raise Unknown("no finger bodies are given; set fingers")
    force = view.greatest(*[view.touch(name, finger) for finger in fingers])
    needed = view.needed(min_force, weight_share, name)
    return Part(
        needed - force,
        "fingers press on %s with %.2f N, %.3g N count as touching",
        (name, force, needed),
        (("finger_force", force, "N", name),),
        closed=False,
    )
