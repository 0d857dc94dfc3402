"""The predicate of one object that rests on another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from conditionals_node.arguments.arguments import not_negative
from conditionals_node.views.views import T, View

from .measured import Relation
from .parts import Part
from .vertical import Extent, over

MOST_SHARE = 0.95
"""Share of an object up to which other bodies carry it too, so that its centre need not be over the one in question."""


class Support(Protocol):
    """The limits of a predicate of support; see ``ObjectOnTop``."""

    @property
    def min_force(self) -> float:
        """Force that is needed, N."""
        ...

    @property
    def weight_share(self) -> float:
        """See ``View.needed``."""
        ...

    @property
    def cone_deg(self) -> float:
        """Largest angle of the force from straight up, deg."""
        ...


def carried(view: View[T], name: str, by: str, limits: Support) -> Part[T]:
    """Measure whether a body carries the object.

    Args:
        view: The worlds.
        name: The object.
        by: The body that presses on it with the force f.
        limits: The limits of f.

    Returns:
        A part whose margin is the smaller of ``|f|`` minus the force that is needed and ``f_z - |f| cos(cone_deg)``, N.
    """
    x, y, z = view.push(name, by)
    flat = x * x + y * y
    size = view.root(flat + z * z)
    tilt = view.angle(view.root(flat), z)
    needed = view.needed(limits.min_force, limits.weight_share, name)
    return Part(
        view.least(size - needed, z - size * math.cos(math.radians(limits.cone_deg))),
        "%s presses on %s with %.2f N, %.2f rad from straight up; %.3g N within %g deg needed",
        (by, name, size, tilt, needed, limits.cone_deg),
        (
            ("force", size, "N", name),
            ("force_x", x, "N", name),
            ("force_y", y, "N", name),
            ("force_z", z, "N", name),
            ("force_tilt", tilt, "rad", name),
        ),
    )


def check_cone(cone_deg: float) -> None:
    """Refuse an angle that is no half-angle of a cone.

    Args:
        cone_deg: The angle, deg.

    Raises:
        ValueError: It is not more than 0 and at most 90; the message begins with ``cone_deg``.
    """
    if not 0.0 < cone_deg <= 90.0:
        raise ValueError(f"cone_deg: is {cone_deg:g}; write more than 0 and at most 90")


@dataclass(frozen=True, slots=True)
class ObjectOnTop(Relation):
    """The reference carries the object.

    It presses on it with ``min_force`` [N], within ``cone_deg`` of straight up, and the object's centre lies over it
    within ``tolerance`` [m], or it and others carry the object, and it at least ``support_share`` of that, as each of
    two blocks does under a plank; 0: the centre alone decides. ``extent``: see ``object_above``.
    """

    name: ClassVar[str] = "object_on_top"
    unit: ClassVar[str] = "N or m"
    reference_object: str
    tolerance: float = 0.01
    cone_deg: float = 45.0
    support_share: float = 0.3
    extent: Extent = Extent.SHAPE
    reads_contacts: ClassVar[bool] = True

    def references(self) -> tuple[str, ...]:
        """Return the reference."""
        return (self.reference_object,)

    def check(self) -> None:
        """Refuse a cone that is no half-angle."""
        check_cone(self.cone_deg)
        not_negative(support_share=self.support_share)

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the support first, then the place."""
        by = self.reference_object
        place = over(view, name, by, self.tolerance, self.extent)
        if self.support_share > 0.0:
            place = self._shared(view, name, place)
        return [carried(view, name, by, self), place]

    def _shared(self, view: View[T], name: str, place: Part[T]) -> Part[T]:
        """Return the place, which holds also where the reference carries its share of the object."""
        up, centred = view.push(name, self.reference_object)[2], place.margin
        if view.nowhere((up > 0.0) & (centred < 0.0)):
            return place
        lift = view.lift(name)
        # What is carried by one body only, and is not over it, falls.
        carries = (up >= self.support_share * lift) & (up < MOST_SHARE * lift)
        allowed = view.greatest(centred, view.number(max(self.tolerance, 0.0)))
        words = f"{place.words}; it carries %.2f of %.2f N"
        margin = view.where(carries, allowed, centred)
        return Part(margin, words, (*place.said, up, lift), place.evidence)
