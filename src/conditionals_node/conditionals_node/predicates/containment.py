"""Predicates of one object inside another: in its cavity, or in its convex hull."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from conditionals_node.arguments.arguments import check_share, not_negative
from conditionals_node.views.views import Point, T, View
from handiwork_core.contracts.predicate import Finding, Predicate
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot

from .measured import Relation
from .motion import slow
from .parts import Part, all_parts
from .support import carried, check_cone

NO_PLACE = {
    "size": "%s is larger than %s: a cube of its volume is %.3f m longer",
    "nothing": "%s is not in %s, which has no cavity: depth -%.3f m",
}
"""Reasons for a container without a cavity in which the object cannot be, by what ``View.inside`` says."""


def contained(
    view: View[T],
    name: str,
    container: str,
    tolerance: float,
    above_rim: float,
    min_share: float,
    closed: bool,
) -> tuple[Part[T], T | None]:
    """Measure whether a share of an object lies in the cavity of a container; its boundary belongs to it.

    Args:
        view: The worlds.
        name: The object.
        container: The container.
        tolerance: Distance outside that still counts, m.
        above_rim: Height over the rim that still counts, m.
        min_share: Share of the object that must be inside, 0 to 1.
        closed: See ``View.inside``.

    Returns:
        A part whose margin is the depth at which the share is reached, plus ``tolerance``, m; and the tilt of the
        opening, see ``View.inside``.
    """
    depth, share, needed, tilt, nearest = view.inside(name, container, min_share, above_rim, closed)
    margin = depth + tolerance
    if share is None:
        if nearest in NO_PLACE:
            return Part(
                margin, NO_PLACE[nearest], (name, container, -depth), (("depth", depth, "m", name),)
            ), None
        words = "centre of %s is %.3f m deep in %s, whose face %s is nearest"
        return Part(margin, words, (name, depth, container, nearest), (("depth", depth, "m", name),)), None
    words = "%.2f of %s is in the cavity of %s, %.2f needed; that much is %.3f m deep, its %s is nearest"
    said = share, name, container, needed, depth, nearest
    return Part(margin, words, said, (("depth", depth, "m", name), ("share_inside", share, "", name))), tilt


def _not(part: Part[T]) -> Part[T]:
    return replace(part, margin=-part.margin, closed=False)


@dataclass(frozen=True, slots=True)
class Contained(Relation):
    """The base of the predicates of a cavity.

    ``tolerance``: how far outside still counts [m]; ``above_rim``: how far over the rim still counts [m];
    ``min_share``: share of the object that must be inside; of one that is longer than the cavity is deep, the depth
    counts as its length, so that it may stick out.
    """

    container: str
    tolerance: float = 0.0
    above_rim: float = 0.0
    min_share: float = 0.5

    def references(self) -> tuple[str, ...]:
        """Return the container."""
        return (self.container,)

    def check(self) -> None:
        """Refuse a height below the rim, and a share of nothing."""
        not_negative(above_rim=self.above_rim)
        check_share(self.min_share)


@dataclass(frozen=True, slots=True)
class ObjectInContainer(Contained):
    """The object is in the cavity of the container, whose opening looks up.

    ``max_tilt_deg``: how much farther from straight up than in the container's own frame its opening may look; 180:
    any way, also down. ``require_stationary``: the object must be slower than ``stationary_threshold`` [m/s].
    """

    name: ClassVar[str] = "object_in_container"
    unit: ClassVar[str] = "m, rad or m/s"
    max_tilt_deg: float = 45.0
    require_stationary: bool = False
    stationary_threshold: float = 0.05

    def check(self) -> None:
        """Refuse wrong numbers."""
        Contained.check(self)
        not_negative(max_tilt_deg=self.max_tilt_deg, stationary_threshold=self.stationary_threshold)

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the depth first, then the tilt where it is too great, then the speed."""
        limits = self.tolerance, self.above_rim, self.min_share
        depth, tilt = contained(view, name, self.container, *limits, False)
        parts = [depth]
        if tilt is not None:
            margin = math.radians(self.max_tilt_deg) - tilt
            if not view.nowhere(margin < 0.0):
                words = "opening of %s looks %.2f rad farther from straight up than in its frame, %g deg are allowed"
                said = (self.container, tilt, self.max_tilt_deg)
                parts.append(Part(margin, words, said, (("opening_tilt", tilt, "rad", self.container),)))
        if self.require_stationary:
            parts.append(slow(view, name, self.stationary_threshold))
        return parts


class ObjectInside(ObjectInContainer):
    """Another name of ``object_in_container``."""

    name: ClassVar[str] = "object_inside"


class ObjectOutsideOf(Contained):
    """The object is not in the cavity of the container, however its opening looks."""

    name: ClassVar[str] = "object_outside_of"

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the opposite of being inside."""
        limits = self.tolerance, self.above_rim, self.min_share
        return [_not(contained(view, name, self.container, *limits, False)[0])]


@dataclass(frozen=True, slots=True)
class ObjectEnclosed(Relation):
    """All of the object, or ``min_share`` of it, is below the rim of the container, however its opening looks.

    ``tolerance``: how far outside still counts [m].
    """

    name: ClassVar[str] = "object_enclosed"
    container: str
    tolerance: float = 0.0
    min_share: float = 1.0

    def references(self) -> tuple[str, ...]:
        """Return the container."""
        return (self.container,)

    def check(self) -> None:
        """Refuse a share of nothing."""
        check_share(self.min_share)

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the depth."""
        return [contained(view, name, self.container, self.tolerance, 0.0, self.min_share, closed=True)[0]]


@dataclass(frozen=True, slots=True)
class ObjectInHull(Relation):
    """The object's centre is in the convex hull of the container: the test of RoboLab.

    Faces of the hull that look up are left out unless ``closed``, so the space above it belongs to it, up to
    ``above_rim`` [m] over its highest corner; none: without end. A hull fills what is hollow: handles, the space under
    a table, a box around the container. ``tolerance``: how far outside still counts [m]; ``point``: centroid or
    vertex_mean of the object's hull.
    """

    name: ClassVar[str] = "object_in_hull"
    container: str
    tolerance: float = 0.0
    above_rim: float | None = None
    point: Point = Point.CENTROID
    closed: bool = False

    def references(self) -> tuple[str, ...]:
        """Return the container."""
        return (self.container,)

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the depth."""
        depth, _, face = view.depth(name, self.container, self.point, self.closed, self.above_rim)
        words = "centre of %s is %.3f m deep in the hull of %s, whose face %s is nearest"
        said = (name, depth, self.container, face)
        return [Part(depth + self.tolerance, words, said, (("depth", depth, "m", name),))]


@dataclass(frozen=True, slots=True)
class ObjectOutsideOfAndOnSurface(Relation):
    """The object is not in the cavity of the container, and the surface carries it; see ``object_on_top``."""

    name: ClassVar[str] = "object_outside_of_and_on_surface"
    unit: ClassVar[str] = "m or N"
    container: str
    surface: str
    tolerance: float = 0.0
    above_rim: float = 0.0
    min_share: float = 0.5
    cone_deg: float = 45.0
    reads_contacts: ClassVar[bool] = True

    def references(self) -> tuple[str, ...]:
        """Return the surface and the container."""
        return (self.surface, self.container)

    def touched(self) -> tuple[str, ...]:
        """Return the surface."""
        return (self.surface,)

    def check(self) -> None:
        """Refuse a cone that is no half-angle, a height below the rim, and a share of nothing."""
        check_cone(self.cone_deg)
        not_negative(above_rim=self.above_rim)
        check_share(self.min_share)

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the place first, then the support."""
        view.origin(self.surface)
        limits = self.tolerance, self.above_rim, self.min_share
        inside, _ = contained(view, name, self.container, *limits, closed=False)
        return [_not(inside), carried(view, name, self.surface, self)]


@dataclass(frozen=True, slots=True)
class Group(ObjectInContainer):
    """One entry of ``object_groups_in_containers``: ``object_in_container`` with ``require_gripper_detached`` true."""

    require_gripper_detached: bool = field(default=True, kw_only=True)


@dataclass(frozen=True, slots=True)
class ObjectGroupsInContainers(Predicate):
    """Every group of objects is in its container; each has the arguments of ``object_in_container``."""

    name: ClassVar[str] = "object_groups_in_containers"
    unit: ClassVar[str] = "m, m/s or N"
    groups: tuple[Group, ...]

    def __post_init__(self) -> None:
        if not self.groups:
            raise ValueError("groups: is empty; write at least one")

    def for_robot(self, robot: Robot) -> Predicate:
        """Return the predicate with the fingers of every group filled in.

        Args:
            robot: The robot's description.

        Raises:
            ValueError: The robot has no gripper of the name of a group.
        """
        filled = [group.for_robot(robot) for group in self.groups]
        return replace(self, groups=tuple(group for group in filled if isinstance(group, Group)))

    def members(self) -> tuple[Group, ...]:
        """Return the predicates that must hold together."""
        return self.groups

    def subjects(self) -> tuple[str, ...]:
        """Return the objects and containers of all groups."""
        return tuple(dict.fromkeys(name for group in self.groups for name in group.subjects()))

    @property
    def needs_contacts(self) -> bool:
        """True when a group reads contacts."""
        return any(group.needs_contacts for group in self.groups)

    def evaluate(self, world: World) -> Finding:
        """Decide all groups on one snapshot."""
        return all_parts([group.evaluate(world) for group in self.groups])
