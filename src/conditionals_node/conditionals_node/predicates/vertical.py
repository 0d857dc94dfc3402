"""Predicates of an object above, below or over the middle of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from conditionals_node.arguments.arguments import not_negative
from conditionals_node.views.views import T, View

from .measured import Relation
from .parts import Part

NOISE_M = 0.002
"""Depth by which bodies that touch may seem to be in each other: physics and cameras are not more exact, m."""


class Extent(Enum):
    """What the place of a body is, seen from above."""

    SHAPE = "shape"
    """The outline of its shapes; a mesh counts as its convex hull."""
    BOX = "box"
    """The box around it along the axes of ``world``, which grows when the body is turned; the rule of RoboLab."""


class ComparedPart(Enum):
    """The part of the object that is compared in height."""

    BBOX = "bbox"
    """The whole object."""
    CENTROID = "centroid"
    """The object's centre."""


def over(view: View[T], name: str, reference: str, tolerance: float, extent: Extent) -> Part[T]:
    """Measure whether the object's centre lies over the reference, seen from above.

    Args:
        view: The worlds.
        name: The object.
        reference: The reference.
        tolerance: Distance outside that still counts, m.
        extent: Whether the edge is that of the reference's shapes or of its box.

    Returns:
        A part whose margin is the distance within the edge plus ``tolerance``, m.
    """
    if extent is Extent.SHAPE:
        inset = view.inset(name, reference)
    else:
        x, y, _ = view.centre(name)
        low_x, low_y, _, high_x, high_y, _ = view.box(reference)
        inset = view.least(x - low_x, high_x - x, y - low_y, high_y - y)
    return Part(
        inset + tolerance,
        "centre of %s is %.3f m within the edge of %s, seen from above",
        (name, inset, reference),
        (("inset", inset, "m", name),),
    )


@dataclass(frozen=True, slots=True)
class Vertical(Relation):
    """The base of the four relations of height.

    The centre may be ``tolerance`` [m] beside the reference, seen from above: beside the outline of its shapes
    (``extent`` shape) or of its box (box, as in the original). ``mode`` centroid compares the height of the object's
    centre, bbox that of the whole object. The default of ``z_margin`` forgives the noise of a contact, so an object
    that rests on a table is above it; the original has 0.
    """

    reference_object: str
    tolerance: float = 0.01
    z_margin: float = -NOISE_M
    mode: ComparedPart = ComparedPart.BBOX
    extent: Extent = Extent.SHAPE

    def references(self) -> tuple[str, ...]:
        """Return the reference."""
        return (self.reference_object,)

    def compared(self, view: View[T], name: str, upper: bool) -> T:
        """Return the height that is compared.

        Args:
            view: The worlds.
            name: The object.
            upper: True for the highest point of the box, False for the lowest; ``mode`` centroid takes the centre.

        Returns:
            z in world, m.
        """
        if self.mode is ComparedPart.CENTROID:
            return view.centre(name)[2]
        box = view.box(name)
        return box[5] if upper else box[2]

    def parts(self, view: View[T], name: str, gap: T, words: str) -> Sequence[Part[T]]:
        """Return the height first, then the place.

        Args:
            view: The worlds.
            name: The object.
            gap: The measured height, m.
            words: Its name in the reason, such as "above the top".

        Returns:
            Two parts, in m.
        """
        height = Part(
            gap - self.z_margin,
            f"%s is %.3f m {words} of %s, %g needed",
            (name, gap, self.reference_object, self.z_margin),
            (("gap", gap, "m", name),),
        )
        return [height, over(view, name, self.reference_object, self.tolerance, self.extent)]


class ObjectAbove(Vertical):
    """The object is at least ``z_margin`` [m] above the reference's top, and its centre over it."""

    name: ClassVar[str] = "object_above"

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the lowest point against the top."""
        gap = self.compared(view, name, upper=False) - view.box(self.reference_object)[5]
        return self.parts(view, name, gap, "above the top")


class ObjectAboveBottom(Vertical):
    """The object is at least ``z_margin`` [m] above the reference's underside, and its centre over it."""

    name: ClassVar[str] = "object_above_bottom"

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the lowest point against the underside."""
        gap = self.compared(view, name, upper=False) - view.box(self.reference_object)[2]
        return self.parts(view, name, gap, "above the underside")


class ObjectOnBottom(ObjectAboveBottom):
    """Another name of ``object_above_bottom``."""

    name: ClassVar[str] = "object_on_bottom"


class ObjectBelow(Vertical):
    """The object is at least ``z_margin`` [m] below the reference's underside, and its centre under it."""

    name: ClassVar[str] = "object_below"

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the highest point against the underside."""
        gap = view.box(self.reference_object)[2] - self.compared(view, name, upper=True)
        return self.parts(view, name, gap, "below the underside")


class ObjectBelowTop(Vertical):
    """The object is at least ``z_margin`` [m] below the reference's top, and its centre over or under it."""

    name: ClassVar[str] = "object_below_top"

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the highest point against the top."""
        gap = view.box(self.reference_object)[5] - self.compared(view, name, upper=True)
        return self.parts(view, name, gap, "below the top")


@dataclass(frozen=True, slots=True)
class ObjectOnCenter(Relation):
    """The centres of both lie over each other within ``tolerance`` [m] along x and along y; height does not matter."""

    name: ClassVar[str] = "object_on_center"
    reference_object: str
    tolerance: float = 0.01

    def references(self) -> tuple[str, ...]:
        """Return the reference."""
        return (self.reference_object,)

    def check(self) -> None:
        """Refuse a negative length."""
        not_negative(tolerance=self.tolerance)

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the farther of the two axes."""
        a, b = view.centre(name), view.centre(self.reference_object)
        x, y = a[0] - b[0], a[1] - b[1]
        farthest = view.greatest(abs(x), abs(y))
        return [
            Part(
                self.tolerance - farthest,
                "centre of %s is %.3f m beside that of %s along the worse axis, %g are allowed",
                (name, farthest, self.reference_object, self.tolerance),
                (("offset_x", x, "m", name), ("offset_y", y, "m", name)),
            )
        ]


class ObjectCenterOf(ObjectOnCenter):
    """Another name of ``object_on_center``."""

    name: ClassVar[str] = "object_center_of"
