"""What the fingers hold and touch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from conditionals_node.views import T, Unknown, View
from handiwork_core.predicate import Predicate
from handiwork_core.robot import Robot

from .checks import ANY_GRIPPER, finger_bodies, hand_bodies
from .measured import Measured, Names, Relation, distinct, not_negative, released, several, touching
from .parts import Logical, Part
from .vertical import over

NO_SPAN_M = 1e-6


def squeezed(view: View[T], name: str, fingers: Sequence[str], min_force: float) -> Part[T]:
    """Every finger presses on the object towards where the others press; the weakest counts."""
    if len(fingers) < 2:
        raise Unknown(f"holding is told by two fingers or more, not {list(fingers)}; set fingers")
    forces = [_towards_others(view, name, finger, fingers) for finger in fingers]
    weakest = view.least(*forces)
    return Part(
        weakest - min_force,
        "the weakest finger squeezes %s with %.2f N, %g N needed",
        (name, weakest, min_force),
        tuple(("squeeze", force, "N", finger) for finger, force in zip(fingers, forces, strict=True)),
    )


def _towards_others(view: View[T], name: str, finger: str, fingers: Sequence[str]) -> T:
    """Force on the object from a finger towards the contact points of the others [N]; 0 without them."""
    force, own = view.push(name, finger), view.contact_point(name, finger)
    others = [view.contact_point(name, other) for other in fingers if other != finger]
    inward = []
    for i in range(3):
        total = others[0][i]
        for other in others[1:]:
            total = total + other[i]
        inward.append(total / len(others) - own[i])
    span = view.length(*inward)
    along = force[0] * inward[0] + force[1] * inward[1] + force[2] * inward[2]
    zero, one = view.number(0.0), view.number(1.0)
    touching = span > NO_SPAN_M
    return view.where(touching, along / view.where(touching, span, one), zero)


@dataclass(frozen=True, slots=True)
class ObjectGrabbed(Relation):
    """Every finger squeezes the object: it presses on it with ``min_force`` [N] towards where the others press."""

    name: ClassVar[str] = "object_grabbed"
    unit: ClassVar[str] = "N"
    reads_contacts: ClassVar[bool] = True

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """The weakest squeeze decides."""
        view.origin(name)
        return [squeezed(view, name, self.fingers, self.min_force)]


@dataclass(frozen=True, slots=True)
class ObjectDropped(Relation):
    """The object is not grabbed, see ``object_grabbed``; so it is also TRUE before anything was picked."""

    name: ClassVar[str] = "object_dropped"
    unit: ClassVar[str] = "N"
    reads_contacts: ClassVar[bool] = True

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """The opposite of being grabbed."""
        view.origin(name)
        held = squeezed(view, name, self.fingers, self.min_force)
        return [replace(held, margin=-held.margin, closed=False)]


@dataclass(frozen=True, slots=True)
class GripperDetached(Relation):
    """No finger touches the object with ``min_force`` [N]."""

    name: ClassVar[str] = "gripper_detached"
    unit: ClassVar[str] = "N"
    reads_contacts: ClassVar[bool] = True

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """The strongest finger decides."""
        view.origin(name)
        return [released(view, name, self.fingers, self.min_force)]


@dataclass(frozen=True, slots=True)
class ObjectPickedUp(Relation):
    """The object is grabbed, its lowest point is ``distance`` [m] above the surface's top, and its centre over it.

    ``tolerance``: how far beside the surface's edge the centre may be [m].
    """

    name: ClassVar[str] = "object_picked_up"
    unit: ClassVar[str] = "N or m"
    surface: str
    distance: float = 0.05
    tolerance: float = 0.01
    reads_contacts: ClassVar[bool] = True

    def references(self) -> tuple[str, ...]:
        """The surface."""
        return (self.surface,)

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Grip, height, place."""
        gap = view.box(name)[2] - view.box(self.surface)[5]
        height = Part(
            gap - self.distance,
            "%s is %.3f m above the top of %s, %g needed",
            (name, gap, self.surface, self.distance),
            (("gap", gap, "m", name),),
        )
        held = squeezed(view, name, self.fingers, self.min_force)
        return [held, height, over(view, name, self.surface, self.tolerance)]


@dataclass(frozen=True, slots=True)
class WrongObjectGrabbed(Measured):
    """Something else than ``object`` is grabbed, see ``object_grabbed``: any object that can move.

    ``ignore_objects`` are left out.
    """

    name: ClassVar[str] = "wrong_object_grabbed"
    unit: ClassVar[str] = "N"
    object: Names
    gripper_name: str = ANY_GRIPPER
    ignore_objects: tuple[str, ...] = ("table",)
    min_force: float = 0.1
    fingers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        distinct("object", several(self.object), 1)
        not_negative(min_force=self.min_force)

    def for_robot(self, robot: Robot) -> Predicate:
        """Fill in ``fingers``."""
        return self if self.fingers else replace(self, fingers=finger_bodies(robot, self.gripper_name))

    def subjects(self) -> tuple[str, ...]:
        """The objects that are right."""
        return several(self.object)

    @property
    def needs_contacts(self) -> bool:
        """Holding is told by force."""
        return True

    def groups(self, view: View[T]) -> Sequence[Sequence[Part[T]]]:
        """The most firmly held other object decides."""
        for name in several(self.object):
            view.origin(name)
        right = {*several(self.object), *self.ignore_objects}
        others = [name for name in view.movable() if name not in right]
        margins = [squeezed(view, name, self.fingers, self.min_force).margin for name in others]
        firmest = view.greatest(*margins, view.number(-self.min_force))
        said = view.leader(others, margins)
        words = "of all other objects %s is held most firmly, with %.2f N; %g N count as held"
        force = firmest + self.min_force
        evidence = (("squeeze", force, "N", said),)
        return [[Part(firmest, words, (said or "none", force, self.min_force), evidence)]]


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
        """Fill in ``bodies``."""
        return self if self.bodies else replace(self, bodies=hand_bodies(robot, self.gripper_name))

    def subjects(self) -> tuple[str, ...]:
        """The table."""
        return (self.table,)

    @property
    def needs_contacts(self) -> bool:
        """Told by force."""
        return True

    def groups(self, view: View[T]) -> Sequence[Sequence[Part[T]]]:
        """The strongest touch decides."""
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
        """Both sides; robot links, which have a slash in their name, have no pose here."""
        return tuple(name for name in (*several(self.object1), *several(self.object2)) if "/" not in name)

    @property
    def needs_contacts(self) -> bool:
        """Told by force."""
        return True

    def choice(self) -> tuple[Logical, int]:
        """As asked for."""
        return self.logical, self.K

    def groups(self, view: View[T]) -> Sequence[Sequence[Part[T]]]:
        """One for each pair."""
        for name in self.subjects():
            view.origin(name)
        pairs = [(a, b) for a in several(self.object1) for b in several(self.object2)]
        return [[touching(view, a, b, self.min_force)] for a, b in pairs]
