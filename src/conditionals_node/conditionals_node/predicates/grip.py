"""Predicates of objects that the fingers hold or touch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from conditionals_node.arguments.arguments import (
    Names,
    distinct,
    not_negative,
    several,
)
from conditionals_node.arguments.checks import ANY_GRIPPER, hands
from conditionals_node.views.views import T, Unknown, View
from handiwork_core.contracts.predicate import Predicate
from handiwork_core.robot.robot import Robot

from .measured import Measured, Relation, released
from .parts import Part
from .vertical import over

NO_SPAN_M = 1e-6


def squeezed(view: View[T], name: str, fingers: Sequence[str], min_force: float) -> Part[T]:
    """Measure whether every finger presses on the object towards the others; the weakest decides.

    Args:
        view: The worlds.
        name: The object.
        fingers: Body names of the fingers, two or more.
        min_force: Force that each finger needs, N.

    Returns:
        A part whose margin is the weakest force minus ``min_force``, N.

    Raises:
        Unknown: There are fewer than two fingers, or contacts are not known.
    """
    if len(fingers) < 2:
        raise Unknown(f"a grasp needs two fingers or more, not {list(fingers)}; set fingers")
    forces = [_towards_others(view, name, finger, fingers) for finger in fingers]
    weakest = view.least(*forces)
    return Part(
        weakest - min_force,
        "the weakest finger squeezes %s with %.2f N, %g N needed",
        (name, weakest, min_force),
        tuple(("squeeze", force, "N", finger) for finger, force in zip(fingers, forces, strict=True)),
    )


def _towards_others(view: View[T], name: str, finger: str, fingers: Sequence[str]) -> T:
    """Return the force on the object from a finger towards the contact points of the others, N; 0 without them."""
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


def held(view: View[T], name: str, hands: Sequence[Sequence[str]], min_force: float) -> Part[T]:
    """Measure whether a hand squeezes the object; the one that holds it most firmly decides.

    Args:
        view: The worlds.
        name: The object.
        hands: Body names of the fingers of each hand; those with fewer than two are left out.
        min_force: Force that each finger needs, N.

    Returns:
        See ``squeezed``.

    Raises:
        Unknown: No hand has two fingers, or contacts are not known.
    """
    able = [hand for hand in hands if len(hand) > 1] or [[finger for hand in hands for finger in hand]]
    parts = [squeezed(view, name, hand, min_force) for hand in able]
    if len(parts) == 1:
        return parts[0]
    firmest = view.greatest(*[part.margin for part in parts])
    force = firmest + min_force
    return Part(
        firmest,
        "the weakest finger of the firmest hand squeezes %s with %.2f N, %g N needed",
        (name, force, min_force),
        tuple(item for part in parts for item in part.evidence),
    )


@dataclass(frozen=True, slots=True)
class Grip(Relation):
    """The base of the predicates of a grasp: that of any hand that ``gripper_name`` means.

    ``hands``: the fingers of each hand; those of the robot when left out, and ``fingers`` as one hand when these are
    given.
    """

    unit: ClassVar[str] = "N"
    hands: tuple[tuple[str, ...], ...] = field(default=(), kw_only=True)
    reads_contacts: ClassVar[bool] = True

    def for_robot(self, robot: Robot) -> Predicate:
        """Return the predicate with ``fingers`` and ``hands`` filled in.

        Args:
            robot: The robot's description.

        Raises:
            ValueError: The robot has no gripper of this name.
        """
        if self.fingers:
            return self
        found = self.hands or hands(robot, self.gripper_name)
        return replace(self, hands=found, fingers=tuple(finger for hand in found for finger in hand))

    def grip(self, view: View[T], name: str) -> Part[T]:
        """Measure the firmest grasp.

        Args:
            view: The worlds.
            name: The object.

        Returns:
            See ``held``.
        """
        return held(view, name, self.hands or (self.fingers,), self.min_force)


class ObjectGrabbed(Grip):
    """Every finger of a hand squeezes the object: with ``min_force`` [N], towards where the others press."""

    name: ClassVar[str] = "object_grabbed"

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the weakest squeeze."""
        view.origin(name)
        return [self.grip(view, name)]


class ObjectDropped(Grip):
    """The object is not grabbed, see ``object_grabbed``; so it is also TRUE before anything was picked."""

    name: ClassVar[str] = "object_dropped"

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the opposite of being grabbed."""
        view.origin(name)
        grip = self.grip(view, name)
        return [replace(grip, margin=-grip.margin, closed=False)]


@dataclass(frozen=True, slots=True)
class GripperDetached(Relation):
    """No finger touches the object with ``min_force`` [N]."""

    name: ClassVar[str] = "gripper_detached"
    unit: ClassVar[str] = "N"
    reads_contacts: ClassVar[bool] = True

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the strongest touch of a finger."""
        view.origin(name)
        return [released(view, name, self.fingers, self.min_force)]


@dataclass(frozen=True, slots=True)
class ObjectPickedUp(Grip):
    """The object is grabbed, its lowest point is ``distance`` [m] above the surface's top, and its centre over it.

    ``tolerance``: how far beside the surface's edge the centre may be [m].
    """

    name: ClassVar[str] = "object_picked_up"
    unit: ClassVar[str] = "N or m"
    surface: str
    distance: float = 0.05
    tolerance: float = 0.01

    def references(self) -> tuple[str, ...]:
        """Return the surface."""
        return (self.surface,)

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the grip, the height and the place."""
        gap = view.box(name)[2] - view.box(self.surface)[5]
        height = Part(
            gap - self.distance,
            "%s is %.3f m above the top of %s, %g needed",
            (name, gap, self.surface, self.distance),
            (("gap", gap, "m", name),),
        )
        return [self.grip(view, name), height, over(view, name, self.surface, self.tolerance)]


@dataclass(frozen=True, slots=True)
class WrongObjectGrabbed(Measured):
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
    hands: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        distinct("object", several(self.object), 1)
        not_negative(min_force=self.min_force)

    def for_robot(self, robot: Robot) -> Predicate:
        """Return the predicate with the fingers of each hand filled in.

        Args:
            robot: The robot's description.

        Raises:
            ValueError: The robot has no gripper of this name.
        """
        if self.fingers:
            return self
        found = self.hands or hands(robot, self.gripper_name)
        return replace(self, hands=found, fingers=tuple(finger for hand in found for finger in hand))

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
        fingers = self.hands or (self.fingers,)
        right = {*several(self.object), *self.ignore_objects}
        others = [name for name in view.movable() if name not in right]
        margins = [held(view, name, fingers, self.min_force).margin for name in others]
        firmest = view.greatest(*margins, view.number(-self.min_force))
        said = view.leader(others, margins)
        words = "of all other objects %s is held most firmly, with %.2f N; %g N count as held"
        force = firmest + self.min_force
        evidence = (("squeeze", force, "N", said),)
        return [[Part(firmest, words, (said or "none", force, self.min_force), evidence)]]
