"""Does one object rest on, or hover over, another?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from conditionals_node.geometry import GeometryError, extent, hull
from handiwork_core.predicate import Evidence, Finding, Predicate
from handiwork_core.world import World

from .checks import NO_CONTACTS, all_of, decided, missing, push


def over(world: World, name: str, reference: str, tolerance: float) -> Finding:
    """TRUE when the object's centre lies over the reference's axis-aligned box, seen from above.

    Raises:
        GeometryError: one of them has no volume.
    """
    centre = world.states[name].world_T_object.apply(hull(world.objects[name]).centroid)
    low, high = extent(world.objects[reference], world.states[reference].world_T_object)
    inset = float(np.minimum(centre[:2] - low[:2], high[:2] - centre[:2]).min())
    side = "within" if inset > 0.0 else "beside"
    reason = f"centre of {name} is {abs(inset):.3f} m {side} the edge of {reference}, seen from above"
    return decided(inset + tolerance, reason, Evidence("inset", inset, "m", name))


@dataclass(frozen=True, slots=True)
class ObjectOnTop(Predicate):
    """The reference carries the object.

    It presses on it with ``min_force`` [N], within ``cone_deg`` of straight up, and the object's centre lies over it
    within ``tolerance`` [m].
    """

    name: ClassVar[str] = "object_on_top"
    object: str
    reference_object: str
    tolerance: float = 0.01
    min_force: float = 0.1
    cone_deg: float = 45.0

    def __post_init__(self) -> None:
        if not 0.0 < self.cone_deg <= 90.0:
            raise ValueError(f"cone_deg {self.cone_deg} must be more than 0 and at most 90")

    def subjects(self) -> tuple[str, ...]:
        """Object and reference."""
        return (self.object, self.reference_object)

    @property
    def needs_contacts(self) -> bool:
        """What carries is told by force."""
        return True

    def evaluate(self, world: World) -> Finding:
        """Support first, then the place."""
        unknown = missing(world, self.object, self.reference_object)
        if unknown is not None:
            return unknown
        if world.contacts is None:
            return NO_CONTACTS
        try:
            return all_of(
                [self._support(world), over(world, self.object, self.reference_object, self.tolerance)]
            )
        except GeometryError as error:
            return Finding.unknown(str(error))

    def _support(self, world: World) -> Finding:
        found = push(world, self.object, self.reference_object)
        size, up = found.size_n, float(found.force_n[2])
        margin = min(size - self.min_force, up - size * math.cos(math.radians(self.cone_deg)))
        tilt = math.degrees(math.acos(min(1.0, max(-1.0, up / size)))) if size > 0.0 else math.nan
        words = f", {tilt:.0f} deg from straight up" if size > 0.0 else ""
        reason = f"{self.reference_object} presses on {self.object} with {size:.2f} N{words}"
        # The boundary belongs to being carried.
        margin = margin if margin != 0.0 else math.ulp(0.0)
        return decided(
            margin,
            reason,
            Evidence("force", size, "N", self.object),
            Evidence("force_up", up, "N", self.object),
        )


@dataclass(frozen=True, slots=True)
class ObjectAbove(Predicate):
    """The object hovers, or stands, over the reference.

    Its centre lies over the reference's box within ``tolerance`` [m], and its lowest point is at least ``z_margin`` [m]
    over the reference's highest.
    """

    name: ClassVar[str] = "object_above"
    object: str
    reference_object: str
    tolerance: float = 0.01
    z_margin: float = 0.0

    def subjects(self) -> tuple[str, ...]:
        """Object and reference."""
        return (self.object, self.reference_object)

    def evaluate(self, world: World) -> Finding:
        """Height first, then the place."""
        unknown = missing(world, self.object, self.reference_object)
        if unknown is not None:
            return unknown
        try:
            lowest, _ = extent(world.objects[self.object], world.states[self.object].world_T_object)
            reference = self.reference_object
            _, highest = extent(world.objects[reference], world.states[reference].world_T_object)
            gap = float(lowest[2] - highest[2])
            reason = (
                f"underside of {self.object} is {gap:.3f} m over the top of {reference}, "
                f"needed are {self.z_margin:g}"
            )
            margin = gap - self.z_margin if gap != self.z_margin else math.ulp(0.0)
            height = decided(margin, reason, Evidence("gap", gap, "m", self.object))
            return all_of([height, over(world, self.object, reference, self.tolerance)])
        except GeometryError as error:
            return Finding.unknown(str(error))
