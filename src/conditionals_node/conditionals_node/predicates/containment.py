"""Is one object inside another? The container is its convex hull without the faces that look up."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum
from typing import ClassVar

import numpy as np

from conditionals_node.geometry import GeometryError, hull
from handiwork_core.predicate import Evidence, Finding, Predicate
from handiwork_core.robot import Robot
from handiwork_core.world import World

from .checks import all_of, decided, finger_bodies, is_released, is_slow, missing


class Point(Enum):
    """Which point of the object is tested."""

    CENTROID = "centroid"
    """Centroid of the hull's volume: does not depend on how a mesh is cut into triangles."""
    VERTEX_MEAN = "vertex_mean"
    """Mean of the hull's corners."""


def depth_in(world: World, name: str, container: str, point: Point, above_rim: float | None) -> float:
    """How deep the object's point is within the open-topped container [m]; negative outside.

    ``above_rim``: how far over the container's highest point still counts [m]; None is without end.

    Raises:
        GeometryError: one of them has no volume.
    """
    inner, outer = hull(world.objects[name]), hull(world.objects[container])
    local = inner.centroid if point is Point.CENTROID else inner.vertex_mean
    world_T_container = world.states[container].world_T_object
    p = world_T_container.inverse().apply(world.states[name].world_T_object.apply(local))
    outside = float((outer.open_planes[:, :3] @ p + outer.open_planes[:, 3]).max())
    if above_rim is not None:
        outside = max(outside, float(p[2] - outer.vertices[:, 2].max()) - above_rim)
    return -outside


@dataclass(frozen=True, slots=True)
class ObjectInContainer(Predicate):
    """The object's centre is in the open-topped hull of the container.

    ``tolerance``: how far outside still counts [m]; ``above_rim``: how far over the rim still counts [m], None: any;
    ``require_gripper_detached``: no finger may press on it with ``min_force`` [N]; ``require_stationary``: it must be
    slower than ``stationary_threshold`` [m/s]. ``fingers`` come from the robot when left out.
    """

    name: ClassVar[str] = "object_in_container"
    object: str
    container: str
    tolerance: float = 0.0
    above_rim: float | None = None
    point: Point = Point.CENTROID
    require_gripper_detached: bool = False
    require_stationary: bool = False
    stationary_threshold: float = 0.05
    min_force: float = 0.1
    fingers: tuple[str, ...] = ()

    def for_robot(self, robot: Robot) -> Predicate:
        """Fill in ``fingers``."""
        return self if self.fingers else replace(self, fingers=finger_bodies(robot))

    def subjects(self) -> tuple[str, ...]:
        """Object and container."""
        return (self.object, self.container)

    @property
    def needs_contacts(self) -> bool:
        """Only to know whether the gripper has let go."""
        return self.require_gripper_detached

    def evaluate(self, world: World) -> Finding:
        """Geometry first, then what else is required."""
        unknown = missing(world, self.object, self.container)
        if unknown is not None:
            return unknown
        parts = [_inside(self, world)]
        if self.require_gripper_detached:
            parts.append(is_released(world, self.object, self.fingers, self.min_force))
        if self.require_stationary:
            parts.append(is_slow(world, self.object, self.stationary_threshold))
        return all_of(parts)


def _inside(self: ObjectInContainer, world: World) -> Finding:
    unknown = missing(world, self.object, self.container)
    if unknown is not None:
        return unknown
    try:
        depth = depth_in(world, self.object, self.container, self.point, self.above_rim)
    except GeometryError as error:
        return Finding.unknown(str(error))
    margin = depth + self.tolerance
    # The boundary belongs to the inside.
    margin = margin if margin != 0.0 else math.ulp(0.0)
    side = "inside" if margin > 0.0 else "outside"
    reason = f"centre of {self.object} is {abs(depth):.3f} m {side} {self.container}"
    return decided(margin, reason, Evidence("depth", depth, "m", self.object))


@dataclass(frozen=True, slots=True)
class ObjectOutsideOf(Predicate):
    """The object's centre is not in the open-topped hull of the container; see ``object_in_container``."""

    name: ClassVar[str] = "object_outside_of"
    object: str
    container: str
    tolerance: float = 0.0
    above_rim: float | None = None
    point: Point = Point.CENTROID

    def subjects(self) -> tuple[str, ...]:
        """Object and container."""
        return (self.object, self.container)

    def evaluate(self, world: World) -> Finding:
        """The opposite of being inside; what is unknown stays unknown."""
        inside = ObjectInContainer(self.object, self.container, self.tolerance, self.above_rim, self.point)
        found = _inside(inside, world)
        if np.isnan(found.margin):
            return found
        return decided(-found.margin, found.reason, *found.evidence)
