"""Predicates of objects beside, between or in line with others."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from conditionals_node.arguments.arguments import distinct, not_negative
from conditionals_node.views.views import T, Vec, View

from .measured import Measured, Relation
from .motion import Axis
from .parts import Part
from .vertical import Extent

FLAT_M = 1e-9
"""References nearer to each other than this have nothing between them, m."""


class Along(Enum):
    """The line on which an object between others lies."""

    LINE = "line"
    """The line that connects the centres of both."""
    AXIS = "axis"
    """The axis of ``world`` along which they differ most; the rule of RoboLab."""


@dataclass(frozen=True, slots=True)
class ObjectNextTo(Relation):
    """Both overlap in height, and the gap between their shapes, seen from above, is at most ``dist`` [m].

    ``extent`` box takes the boxes along the axes of ``world`` instead, as the original does. They overlap by at least
    ``min_overlap`` [m], or by half of the lower one, so that a stacked block is not next to the one below; the original
    has 0, with which any overlap counts.
    """

    name: ClassVar[str] = "object_next_to"
    reference_object: str
    dist: float = 0.05
    min_overlap: float = 0.005
    extent: Extent = Extent.SHAPE

    def references(self) -> tuple[str, ...]:
        """Return the reference."""
        return (self.reference_object,)

    def check(self) -> None:
        """Refuse a negative length."""
        not_negative(dist=self.dist, min_overlap=self.min_overlap)

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the gap first, then the shared height."""
        a, b = view.box(name), view.box(self.reference_object)
        if self.extent is Extent.SHAPE:
            x, y = view.beside(name, self.reference_object)
        else:
            zero = view.number(0.0)
            x = view.greatest(a[0] - b[3], b[0] - a[3], zero)
            y = view.greatest(a[1] - b[4], b[1] - a[4], zero)
        gap, shared = view.root(x * x + y * y), view.least(a[5], b[5]) - view.greatest(a[2], b[2])
        needed = view.least(view.number(self.min_overlap), 0.5 * (a[5] - a[2]), 0.5 * (b[5] - b[2]))
        return [
            Part(
                self.dist - gap,
                "%s is %.3f m beside %s, %g are allowed",
                (name, gap, self.reference_object, self.dist),
                (("gap", gap, "m", name),),
            ),
            Part(
                shared - needed,
                "they share %.3f m in height, %.3f needed",
                (shared, needed),
                (("shared_height", shared, "m", name),),
            ),
        ]


@dataclass(frozen=True, slots=True)
class ObjectBetween(Relation):
    """The object's centre lies between the sides of the references that face each other.

    ``along`` line (default): along the line that connects their centres; axis, as in the original: between their
    centres, along the axis of ``world`` in which these differ most. ``check_alignment``: it may be
    ``alignment_tolerance`` [m] off the line, with axis along each other axis.
    """

    name: ClassVar[str] = "object_between"
    reference_obj1: str
    reference_obj2: str
    check_alignment: bool = True
    alignment_tolerance: float = 0.1
    along: Along = Along.LINE

    def references(self) -> tuple[str, ...]:
        """Return both references."""
        return (self.reference_obj1, self.reference_obj2)

    def check(self) -> None:
        """Refuse equal references, and a negative length."""
        distinct("reference_obj2", self.references(), 2)
        not_negative(alignment_tolerance=self.alignment_tolerance)

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure along the line first, then beside it."""
        p, a, b = (view.centre(n) for n in (name, *self.references()))
        if self.along is Along.LINE:
            return self._on_line(view, name, p, a, b)
        axis = longest(view, (b[0] - a[0], b[1] - a[1], b[2] - a[2]))
        at, start, end = (pick(view, axis, v) for v in (p, a, b))
        within = view.least(at - view.least(start, end), view.greatest(start, end) - at)
        said = (name, within, self.reference_obj1, self.reference_obj2)
        evidence = (("within", within, "m", name),)
        parts = [Part(within, "%s is %.3f m within the ends of the line from %s to %s", said, evidence)]
        if self.check_alignment:
            span = view.where(abs(end - start) > FLAT_M, end - start, view.number(1.0))
            share = (at - start) / span
            off = view.greatest(*[abs(p[i] - a[i] - share * (b[i] - a[i])) for i in range(3)])
            limit, words = (
                self.alignment_tolerance,
                "it is %.3f m off that line along an axis, %g are allowed",
            )
            parts.append(Part(limit - off, words, (off, limit), (("off_line", off, "m", name),)))
        return parts

    def _on_line(self, view: View[T], name: str, p: Vec[T], a: Vec[T], b: Vec[T]) -> Sequence[Part[T]]:
        first, second = self.references()
        x, y, z = b[0] - a[0], b[1] - a[1], b[2] - a[2]
        length = view.length(x, y, z)
        scale = 1.0 / view.greatest(length, view.number(FLAT_M))
        x, y, z = x * scale, y * scale, z * scale
        from_x, from_y, from_z = p[0] - a[0], p[1] - a[1], p[2] - a[2]
        at = x * from_x + y * from_y + z * from_z
        place = x * p[0] + y * p[1] + z * p[2]
        within = view.least(place - view.reach(first, (x, y, z))[1], view.reach(second, (x, y, z))[0] - place)
        words = "centre of %s is %.3f m within the gap between %s and %s"
        parts = [Part(within, words, (name, within, first, second), (("within", within, "m", name),))]
        if self.check_alignment:
            off = view.length(from_x - at * x, from_y - at * y, from_z - at * z)
            limit, words = (
                self.alignment_tolerance,
                "it is %.3f m off the line of their centres, %g are allowed",
            )
            parts.append(Part(limit - off, words, (off, limit), (("off_line", off, "m", name),)))
        return parts


@dataclass(frozen=True, slots=True)
class ObjectsInLine(Measured):
    """The centres of the objects spread along one axis of ``world`` only.

    Along the others their standard deviation is at most ``tolerance`` [m]; along ``axis`` (None: where they spread
    most) neighbours are at least ``min_spacing`` [m] apart.
    """

    name: ClassVar[str] = "objects_in_line"
    objects: tuple[str, ...]
    axis: Axis | None = None
    tolerance: float = 0.05
    min_spacing: float = 0.02

    def __post_init__(self) -> None:
        distinct("objects", self.objects, 2)
        not_negative(tolerance=self.tolerance, min_spacing=self.min_spacing)

    def subjects(self) -> tuple[str, ...]:
        """Return the objects."""
        return self.objects

    def groups(self, view: View[T]) -> Sequence[Sequence[Part[T]]]:
        """Return the spread first, then the spacing."""
        centres = [view.centre(name) for name in self.objects]
        spreads = tuple(_spread(view, [centre[i] for centre in centres]) for i in range(3))
        if self.axis is None:
            axis = longest(view, (spreads[0], spreads[1], spreads[2]))
        else:
            axis = tuple(view.number(float(a is self.axis)) for a in Axis)  # type: ignore[assignment]
        wide = view.greatest(*[spreads[i] * (1.0 - axis[i]) for i in range(3)])
        along = [pick(view, axis, centre) for centre in centres]
        gap = view.least(*[abs(a - b) for a, b in itertools.combinations(along, 2)])
        words = "the objects spread by %.3f m beside their line, %g are allowed"
        spread = Part(self.tolerance - wide, words, (wide, self.tolerance), (("spread", wide, "m", ""),))
        words = "the nearest two are %.3f m apart along it, %g needed"
        spacing = Part(gap - self.min_spacing, words, (gap, self.min_spacing), (("spacing", gap, "m", ""),))
        return [[spread, spacing]]


def longest(view: View[T], vector: Vec[T]) -> Vec[T]:
    """Return 1 for the component that is greatest in size, 0 for the others; the first of equals.

    Args:
        view: The worlds.
        vector: Three numbers.
    """
    x, y, z = abs(vector[0]), abs(vector[1]), abs(vector[2])
    one, zero = view.number(1.0), view.number(0.0)
    is_x = view.where(x >= view.greatest(y, z), one, zero)
    is_y = view.where(y >= z, one - is_x, zero)
    return is_x, is_y, one - is_x - is_y


def pick(view: View[T], axis: Vec[T], vector: Vec[T]) -> T:
    """Return the component that ``axis`` marks.

    Args:
        view: The worlds.
        axis: 1 for one component, 0 for the others; see ``longest``.
        vector: Three numbers.
    """
    zero = view.number(0.0)
    return (
        view.where(axis[0] > 0.5, vector[0], zero)
        + view.where(axis[1] > 0.5, vector[1], zero)
        + view.where(axis[2] > 0.5, vector[2], zero)
    )


def _spread(view: View[T], values: Sequence[T]) -> T:
    """Return the standard deviation of all values, not of a sample."""
    mean = _sum(values) / len(values)
    return view.root(_sum([(value - mean) * (value - mean) for value in values]) / len(values))


def _sum(values: Sequence[T]) -> T:
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total
