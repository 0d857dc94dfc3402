"""Does one object rest on another?"""

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
    """``by`` presses on the object with at least ``min_force`` [N], within ``cone_deg`` of straight up."""
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
    """Refuse what is no half-angle of a cone.

    Raises:
        ValueError: as said.
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
        """The reference."""
        return (self.reference_object,)

    def check(self) -> None:
        """An angle."""
        check_cone(self.cone_deg)

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Support first, then the place."""
        return [
            carried(view, name, self.reference_object, self.min_force, self.cone_deg),
            over(view, name, self.reference_object, self.tolerance),
        ]
