"""Predicates of objects that the fingers hold or touch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from conditionals_node.arguments.arguments import not_negative
from conditionals_node.arguments.checks import Hand, hands
from conditionals_node.views.views import T, Unknown, View
from handiwork_core.contracts.predicate import Predicate
from handiwork_core.robot.robot import Robot

from .measured import Relation, released
from .parts import Part
from .vertical import Extent, over

NO_SPAN_M = 1e-6
MIN_CLOSED = 0.01
"""Share of its way from which a hand has left its open end."""


def squeezed(view: View[T], name: str, hand: Hand, min_force: float, min_closed: float) -> Part[T]:
    """Measure whether every finger of a hand presses on the object towards the others; the weakest decides.

    Args:
        view: The worlds.
        name: The object.
        hand: The hand, with two fingers or more.
        min_force: Force that each finger needs, N.
        min_closed: Share of its way that the hand must have closed, where this is measured: fingers at their open end
            are held by the hand itself, so an object that is wedged between them counts as squeezed with 0 N.

    Returns:
        A part whose margin is the weakest force minus ``min_force``, N.

    Raises:
        Unknown: There are fewer than two fingers, or contacts are not known.
    """
    if len(hand.fingers) < 2:
        raise Unknown(f"a grasp needs two fingers or more, not {list(hand.fingers)}; set fingers")
    forces = [_towards_others(view, name, finger, hand.fingers) for finger in hand.fingers]
    evidence = [("squeeze", force, "N", finger) for finger, force in zip(hand.fingers, forces, strict=True)]
    weakest, words = view.least(*forces), ""
    said: tuple[object, ...] = ()
    share = closed_share(view, hand) if hand.joint and min_closed > 0.0 else None
    if share is not None:
        evidence.append(("closed_share", share, "", hand.joint))
        weakest = view.where(share < min_closed, view.least(weakest, view.number(0.0)), weakest)
        words, said = ", which is %.2f closed", (share,)
    return Part(
        weakest - min_force,
        f"the weakest finger of the hand{words} squeezes %s with %.2f N, %g N needed",
        (*said, name, weakest, min_force),
        tuple(evidence),
    )


def closed_share(view: View[T], hand: Hand) -> T | None:
    """Return the share of its way from open to closed that a hand has gone.

    Args:
        view: The worlds.
        hand: The hand, with a joint.

    Returns:
        0 where it is open, 1 where it is closed; None if its joint is not measured.
    """
    try:
        position = view.joint(hand.joint)
    except Unknown:
        return None
    return (position - hand.open_position) / (hand.closed_position - hand.open_position)


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


def held(
    view: View[T], name: str, hands: Sequence[Hand], min_force: float, min_closed: float = MIN_CLOSED
) -> Part[T]:
    """Measure whether a hand squeezes the object; the one that holds it most firmly decides.

    Args:
        view: The worlds.
        name: The object.
        hands: The hands; those with fewer than two fingers are left out.
        min_force: Force that each finger needs, N.
        min_closed: See ``squeezed``.

    Returns:
        See ``squeezed``.

    Raises:
        Unknown: No hand has two fingers, or contacts are not known.
    """
    able = [hand for hand in hands if len(hand.fingers) > 1]
    able = able or [Hand(tuple(finger for hand in hands for finger in hand.fingers))]
    parts = [squeezed(view, name, hand, min_force, min_closed) for hand in able]
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


class OfHands(Predicate):
    """What predicates of a grasp share: ``fingers`` and ``hands`` come from the robot when left out."""

    __slots__ = ()
    gripper_name: str
    fingers: tuple[str, ...]
    hands: tuple[Hand, ...]
    min_closed: float

    @property
    def needs_joints(self) -> bool:
        """True when a hand has a joint that is measured."""
        return self.min_closed > 0.0 and any(hand.joint for hand in self.hands)

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
        fingers = tuple(finger for hand in found for finger in hand.fingers)
        return replace(self, hands=found, fingers=fingers)  # type: ignore[type-var]  # its classes are dataclasses


@dataclass(frozen=True, slots=True)
class Grip(OfHands, Relation):
    """The base of the predicates of a grasp: that of any hand that ``gripper_name`` means.

    ``hands``: fingers and joint of each hand; those of the robot when left out, and ``fingers`` as one hand when these
    are given. ``min_closed``: share of its way that a hand must have closed to hold something, where its joint is
    measured; 0: an open hand between whose fingers an object is wedged counts too.
    """

    unit: ClassVar[str] = "N"
    hands: tuple[Hand, ...] = field(default=(), kw_only=True)
    min_closed: float = field(default=MIN_CLOSED, kw_only=True)
    reads_contacts: ClassVar[bool] = True

    def check(self) -> None:
        """Refuse a negative share."""
        not_negative(min_closed=self.min_closed)

    def grip(self, view: View[T], name: str) -> Part[T]:
        """Measure the firmest grasp.

        Args:
            view: The worlds.
            name: The object.

        Returns:
            See ``held``.
        """
        return held(view, name, self.hands or (Hand(self.fingers),), self.min_force, self.min_closed)


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
        return [released(view, name, self.fingers, self.min_force, self.weight_share)]


@dataclass(frozen=True, slots=True)
class ObjectPickedUp(Grip):
    """The object is grabbed, its lowest point is ``distance`` [m] above the surface's top, and its centre over it.

    ``tolerance``: how far beside the surface's edge the centre may be [m]; ``extent``: see ``object_above``.
    """

    name: ClassVar[str] = "object_picked_up"
    unit: ClassVar[str] = "N or m"
    surface: str
    distance: float = 0.05
    tolerance: float = 0.01
    extent: Extent = Extent.SHAPE

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
        return [self.grip(view, name), height, over(view, name, self.surface, self.tolerance, self.extent)]
