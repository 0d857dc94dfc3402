"""Constraints as values, with frames resolved to ``world``."""

from __future__ import annotations

from dataclasses import dataclass

from handiwork_core.model.geometry import Array, Rotation
from handiwork_core.model.world import Shape


@dataclass(frozen=True, slots=True)
class JointConstraint:
    """A joint within tolerances of a position.

    Attributes:
        joint: Name of the joint.
        position: Its position, rad or m.
        above: Tolerance above it, rad or m.
        below: Tolerance below it, rad or m.
    """

    joint: str
    position: float
    above: float
    below: float


@dataclass(frozen=True, slots=True, eq=False)
class PositionConstraint:
    """A point of a link inside a region.

    Attributes:
        link: Name of the link.
        offset_m: The point in the link's frame, (3,), m.
        region: Boxes, spheres, cylinders or convex solids, placed in ``world``; one of them must contain the point.
    """

    link: str
    offset_m: Array
    region: tuple[Shape, ...]


@dataclass(frozen=True, slots=True, eq=False)
class OrientationConstraint:
    """A link turned by at most tolerances from an orientation.

    Attributes:
        link: Name of the link.
        world_R_link: The orientation.
        tolerance_rad: About the axes x, y, z of the constrained orientation, (3,), rad.
        is_rotation_vector: The error is a rotation vector; False: it is intrinsic Euler angles about x, y, z.
    """

    link: str
    world_R_link: Rotation
    tolerance_rad: Array
    is_rotation_vector: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ConstraintSet:
    """Constraints that must hold together; of several sets of a goal one must hold."""

    joints: tuple[JointConstraint, ...] = ()
    positions: tuple[PositionConstraint, ...] = ()
    orientations: tuple[OrientationConstraint, ...] = ()
    name: str = ""

    @property
    def is_empty(self) -> bool:
        """True without any constraint."""
        return not (self.joints or self.positions or self.orientations)

    @property
    def links(self) -> tuple[str, ...]:
        """The links that are constrained, each once."""
        links = [one.link for one in self.positions] + [one.link for one in self.orientations]
        return tuple(dict.fromkeys(links))
