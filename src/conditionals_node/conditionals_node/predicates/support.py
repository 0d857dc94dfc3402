"""The predicate of one object that rests on another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from conditionals_node.views.views import T, View

from .measured import Relation
from .parts import Part
from .vertical import over


def carried(view: View[T], name: str, by: str, min_force: float, cone_deg: float) -> Part[T]:
    """Measure whether a body carries the object.

    Args:
        view: The worlds.
        name: The object.
        by: The body that presses on it with the force f.
        min_force: Force that is needed, N.
        cone_deg: Largest angle of f from straight up, deg.

    Returns:
        A part whose margin is the smaller of ``|f| - min_force`` and ``f_z - |f| cos(cone_deg)``, N.
    """
    x, y, z = view.push(name, by)
    size = view.length(x, y, z)
    tilt = view.angle(view.root(x * x + y * y), z)
    return Part(
        view.least(size - min_force, z - size * math.cos(math.radians(cone_deg))),
        "%s presses on %s with %.2f N, %.2f rad from straight up; %g N within %g deg needed",
        (by, name, size, tilt, min_force, cone_deg),
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
    within ``tolerance`` [m].
    """

    name: ClassVar[str] = "object_on_top"
    unit: ClassVar[str] = "N or m"
    reference_object: str
    tolerance: float = 0.01
    cone_deg: float = 45.0
    reads_contacts: ClassVar[bool] = True

    def references(self) -> tuple[str, ...]:
        """Return the reference."""
        return (self.reference_object,)

    def check(self) -> None:
        """Refuse a cone that is no half-angle."""
        check_cone(self.cone_deg)

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the support first, then the place."""
        return [
            carried(view, name, self.reference_object, self.min_force, self.cone_deg),
            over(view, name, self.reference_object, self.tolerance),
        ]
