"""Predicates of one object inside another. The container is its convex hull without the faces that look up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import ClassVar

from conditionals_node.arguments.arguments import not_negative
from conditionals_node.views.views import Point, T, View
from handiwork_core.contracts.predicate import Finding, Predicate
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot

from .measured import Relation
from .motion import slow
from .parts import Part, all_parts
from .support import carried, check_cone


class RimPoint(Enum):
    """The part of the object whose height over the rim is limited."""

    POINT = "point"
    """The point that is tested for the hull; the height is along the container's own z axis."""
    UNDERSIDE = "underside"
    """The lowest point; the height is along z of world, over the highest point of the container."""


def over_rim(view: View[T], name: str, container: str, above_rim: float) -> Part[T]:
    """Measure how far the underside of an object is over the highest point of the container.

    Args:
        view: The worlds.
        name: The object.
        container: The container.
        above_rim: Height that still counts, m.

    Returns:
        A part whose margin is ``above_rim`` minus the height, m.
    """
    height = view.box(name)[2] - view.box(container)[5]
    return Part(
        above_rim - height,
        "underside of %s is %.3f m over the rim of %s, %g are allowed",
        (name, height, container, above_rim),
        (("above_rim", height, "m", name),),
    )


def deep(
    view: View[T], name: str, container: str, tolerance: float, above_rim: float | None, point: Point
) -> Part[T]:
    """Measure whether the object's point lies in the open-topped hull of the container; its boundary belongs to it.

    Args:
        view: The worlds.
        name: The object.
        container: The container.
        tolerance: Distance outside that still counts, m.
        above_rim: Height over the rim that still counts, m; None: any.
        point: The point of the object.

    Returns:
        A part whose margin is the depth plus ``tolerance``, m.
    """
    return _deep(view, name, container, tolerance, view.depth(name, container, point, False, above_rim))


def _deep(view: View[T], name: str, container: str, tolerance: float, found: tuple[T, T, str]) -> Part[T]:
    depth, _, label = found
    return Part(
        depth + tolerance,
        "centre of %s is %.3f m deep in %s, whose face %s is nearest",
        (name, depth, container, label),
        (("depth", depth, "m", name),),
    )


def _not(part: Part[T]) -> Part[T]:
    return replace(part, margin=-part.margin, closed=False)


@dataclass(frozen=True, slots=True)
class ObjectInContainer(Relation):
    """The object's centre is in the open-topped hull of the container.

    ``tolerance``: how far outside still counts [m]; ``above_rim``: how far over the rim still counts [m], None:
    any, for ``rim_point``: the tested point, or the object's underside, as for a bottle that stands in a low box;
    ``point``: centroid or vertex_mean of the object's hull; ``require_stationary``: it must be slower than
    ``stationary_threshold`` [m/s].
    """

    name: ClassVar[str] = "object_in_container"
    unit: ClassVar[str] = "m or m/s"
    container: str
    tolerance: float = 0.0
    above_rim: float | None = None
    point: Point = Point.CENTROID
    require_stationary: bool = False
    stationary_threshold: float = 0.05
    rim_point: RimPoint = RimPoint.POINT

    def references(self) -> tuple[str, ...]:
        """Return the container."""
        return (self.container,)

    def check(self) -> None:
        """Refuse a negative speed."""
        not_negative(stationary_threshold=self.stationary_threshold)

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the depth first, then the speed."""
        by_point = self.rim_point is RimPoint.POINT
        limit = self.above_rim if by_point else None
        parts = [deep(view, name, self.container, self.tolerance, limit, self.point)]
        if not by_point and self.above_rim is not None:
            parts.append(over_rim(view, name, self.container, self.above_rim))
        if self.require_stationary:
            parts.append(slow(view, name, self.stationary_threshold))
        return parts


class ObjectInside(ObjectInContainer):
    """Another name of ``object_in_container``."""

    name: ClassVar[str] = "object_inside"


@dataclass(frozen=True, slots=True)
class ObjectOutsideOf(Relation):
    """The object's centre is not in the open-topped hull of the container; see ``object_in_container``."""

    name: ClassVar[str] = "object_outside_of"
    container: str
    tolerance: float = 0.0
    above_rim: float | None = None
    point: Point = Point.CENTROID

    def references(self) -> tuple[str, ...]:
        """Return the container."""
        return (self.container,)

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the opposite of being inside."""
        return [_not(deep(view, name, self.container, self.tolerance, self.above_rim, self.point))]


@dataclass(frozen=True, slots=True)
class ObjectEnclosed(Relation):
    """The object's centre is in the whole hull of the container, faces that look up included."""

    name: ClassVar[str] = "object_enclosed"
    container: str
    tolerance: float = 0.0
    point: Point = Point.CENTROID

    def references(self) -> tuple[str, ...]:
        """Return the container."""
        return (self.container,)

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the depth."""
        found = view.depth(name, self.container, self.point, True, None)
        return [_deep(view, name, self.container, self.tolerance, found)]


@dataclass(frozen=True, slots=True)
class ObjectOutsideOfAndOnSurface(Relation):
    """The object's centre is not in the container, and the surface carries the object; see ``object_on_top``."""

    name: ClassVar[str] = "object_outside_of_and_on_surface"
    unit: ClassVar[str] = "m or N"
    container: str
    surface: str
    tolerance: float = 0.0
    above_rim: float | None = None
    point: Point = Point.CENTROID
    cone_deg: float = 45.0
    reads_contacts: ClassVar[bool] = True

    def references(self) -> tuple[str, ...]:
        """Return the surface and the container."""
        return (self.surface, self.container)

    def touched(self) -> tuple[str, ...]:
        """Return the surface."""
        return (self.surface,)

    def check(self) -> None:
        """Refuse a cone that is no half-angle."""
        check_cone(self.cone_deg)

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the place first, then the support."""
        view.origin(self.surface)
        inside = deep(view, name, self.container, self.tolerance, self.above_rim, self.point)
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
