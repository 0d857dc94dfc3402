"""The view of one world. Results that several predicates share are kept in ``World.derived``."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TypeVar, cast

from conditionals_node.spaces.cavities import Inside, inside_of
from conditionals_node.spaces.cavity_kernels import depth_in_cavity
from conditionals_node.spaces.footprints import inset, pieces, shortest
from conditionals_node.spaces.hulls import GeometryError, Hull, hull
from conditionals_node.spaces.kernels import depth_of_one
from conditionals_node.spaces.reach_kernels import reach_of_one
from conditionals_node.spaces.samples import samples
from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import (
    Contact,
    ObjectState,
    World,
    WorldObject,
)

from .bounding_boxes import boxes
from .contact_sums import Touch, contacts_by_body, lifts_of, summed_contacts, weight_of
from .float_arithmetic import FloatArithmetic
from .views import Box, Insertion, Point, Unknown, Vec

CENTROID, ENDLESS = Point.CENTROID, math.inf
FACES = {-1.0: "rim", -2.0: "size"}
IDENTITY_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

Axes = tuple[Vec[float], Vec[float], Vec[float]]
V = TypeVar("V")


class WorldView(FloatArithmetic):
    """The ``View`` of a snapshot; its numbers are floats.

    Args:
        world: The snapshot.
    """

    __slots__ = ("_world",)

    def __init__(self, world: World) -> None:
        self._world = world

    def origin(self, name: str) -> Vec[float]:
        """Return the origin of an object's frame in world, m."""
        return cast("Vec[float]", tuple(self._state(name).world_T_object.translation_m.tolist()))

    def axes(self, name: str) -> Axes:
        """Return the x, y and z axis of an object's frame in world."""
        return _axes(self._state(name).world_T_object.rotation.wxyz.tolist())

    def frame_axes(self, frame: str) -> Axes:
        """Return the axes of "world", "robot" or an object."""
        if frame == "world":
            return IDENTITY_AXES
        if frame in self._world.frames:
            return _axes(self._world.frames[frame].rotation.wxyz.tolist())
        if frame in self._world.states:
            return self.axes(frame)
        known = sorted({"world", *self._world.frames, *self._world.states})
        raise Unknown(f"frame {frame!r} is not known; known are {known}")

    def centre(self, name: str, point: Point = Point.CENTROID) -> Vec[float]:
        """Return the point that stands for an object, in world, m."""
        found = self._hull(name)
        x, y, z = (found.centroid if point is Point.CENTROID else found.vertex_mean).tolist()
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = self.axes(name)
        px, py, pz = self.origin(name)
        return (
            px + ax * x + bx * y + cx * z,
            py + ay * x + by * y + cy * z,
            pz + az * x + bz * y + cz * z,
        )

    def box(self, name: str) -> Box[float]:
        """Return the axis-aligned box around an object, m."""
        pose, item = self._state(name).world_T_object, self._item(name)
        try:
            return box_of(item, pose)
        except GeometryError as error:
            raise Unknown(str(error)) from error

    def depth(
        self, name: str, container: str, point: Point, closed: bool, above_rim: float | None
    ) -> tuple[float, float, str]:
        """Return the depth of an object's point in a container's hull, and the nearest face."""
        world = self._world
        try:
            of, at = world.states[name].world_T_object, world.states[container].world_T_object
            inner, outer = hull(world.objects[name]), hull(world.objects[container])
        except (KeyError, GeometryError):
            # Again, step by step: these name the missing part.
            of, at = self._state(name).world_T_object, self._state(container).world_T_object
            inner, outer = self._hull(name), self._hull(container)
        faces = outer.closed_faces if closed else outer.open_faces
        depth, face = depth_of_one(
            faces.packed,
            inner.centroid_spot if point is CENTROID else inner.mean_spot,
            of.rotation.wxyz,
            of.translation_m,
            at.rotation.wxyz,
            at.translation_m,
            ENDLESS if above_rim is None else outer.top_z + above_rim,
            0.5,
            ENDLESS,
            0.0,
        )
        return depth, face, "rim" if face < 0.0 else faces.labels[int(face)]

    def inside(
        self, name: str, container: str, share: float, above_rim: float, closed: bool
    ) -> Insertion[float]:
        """Return how deep an object is in a container's cavity, or in its hull when the container is convex."""
        world = self._world
        try:
            of, at = world.states[name].world_T_object, world.states[container].world_T_object
            inner, outer = hull(world.objects[name]), inside_of(world.objects[container])
        except (KeyError, GeometryError):
            # Again, step by step: these name the missing part.
            of, at = self._state(name).world_T_object, self._state(container).world_T_object
            inner, outer = self._hull(name), self._inside(container)
        q_o, p_o, q_c, p_c = of.rotation.wxyz, of.translation_m, at.rotation.wxyz, at.translation_m
        if outer.is_convex:
            whole = outer.hull
            if closed:
                faces, ceiling, reach = whole.closed_faces, ENDLESS, ENDLESS
            else:
                faces, ceiling, reach = whole.open_faces, whole.top_z + above_rim, whole.height
            spot, room = inner.centroid_spot, whole.bulk - inner.bulk
            depth, face = depth_of_one(faces.packed, spot, q_o, p_o, q_c, p_c, ceiling, share, reach, room)
            return depth, None, None, None, FACES[face] if face < 0.0 else faces.labels[int(face)]
        cavity = outer.cavity
        if cavity is None:
            return -outer.hull.bulk, None, None, None, "nothing"
        reach, points = ENDLESS if closed else cavity.depth, samples(world.objects[name])
        field = cavity.walls, cavity.rims, cavity.frame, points
        depth, inside, needed, rim, tilt = depth_in_cavity(
            *field, q_o, p_o, q_c, p_c, share, reach, above_rim
        )
        return depth, inside, needed, tilt - cavity.own_tilt, "rim" if rim else "wall"

    def inset(self, name: str, reference: str) -> float:
        """Return how far an object's centre is within a reference's outline, seen from above, m."""
        return self._of_both(inset, name, reference)

    def beside(self, name: str, reference: str) -> tuple[float, float]:
        """Return the shortest vector from a reference to an object, seen from above, m."""
        return self._of_both(shortest, name, reference)

    def reach(self, name: str, direction: Vec[float]) -> tuple[float, float]:
        """Return the least and the greatest coordinate of an object along a direction, m."""
        pose, points = self._state(name).world_T_object, _shaped(pieces, self._item(name)).points
        low, high = reach_of_one(points, pose.rotation.wxyz, pose.translation_m, *direction)
        return low, high

    def speed(self, name: str) -> float:
        """Return the speed of the object's origin, m/s."""
        return math.hypot(*self._state(name).world_v_object.tolist())

    def turn_rate(self, name: str) -> float:
        """Return the size of the angular velocity, rad/s."""
        return math.hypot(*self._state(name).world_w_object.tolist())

    def movable(self) -> list[str]:
        """Return the objects that are not static, sorted."""
        return sorted(name for name, item in self._world.objects.items() if not item.is_static)

    def push(self, on: str, by: str) -> Vec[float]:
        """Return the net force on a body from another, N."""
        return self._touch(on, by)[:3]

    def touch(self, a: str, b: str) -> float:
        """Return the sum of the forces between two bodies without regard to direction, N."""
        return self._touch(a, b)[3]

    def needed(self, min_force: float, weight_share: float, *names: str) -> float:
        """Return the force from which bodies count as touching, N."""
        if weight_share == 0.0:
            return min_force
        objects = self._world.objects
        return min(min_force, *[weight_share * weight_of(objects.get(name)) for name in names])

    def lift(self, name: str) -> float:
        """Return the sum of the upward forces on a body, N."""
        lifts = self._world.derived.get("lifts")
        if lifts is None:
            lifts = self._world.derived["lifts"] = lifts_of(self._world)
        return cast("dict[str, float]", lifts).get(name, 0.0)

    def contact_point(self, on: str, by: str) -> Vec[float]:
        """Return the mean point of two bodies' contacts, m; nan where they do not touch."""
        return self._touch(on, by)[4:]

    def joint(self, name: str) -> float:
        """Return the measured position of a joint, rad or m."""
        joints = self._world.joints.position
        value = joints.get(name, math.nan)
        if math.isnan(value):
            raise Unknown(f"joint {name!r} is not measured; known are {sorted(joints)}")
        return value

    def _state(self, name: str) -> ObjectState:
        try:
            return self._world.states[name]
        except KeyError:
            known = sorted(self._world.states)
            raise Unknown(f"object {name!r} has no pose in the world; known are {known}") from None

    def _item(self, name: str) -> WorldObject:
        try:
            return self._world.objects[name]
        except KeyError:
            known = sorted(self._world.objects)
            raise Unknown(f"object {name!r} has no geometry in the world; known are {known}") from None

    def _hull(self, name: str) -> Hull:
        return _shaped(hull, self._item(name))

    def _of_both(self, measure: Callable[[WorldObject, Pose, WorldObject, Pose], V], a: str, b: str) -> V:
        states, objects = self._world.states, self._world.objects
        try:
            return measure(objects[a], states[a].world_T_object, objects[b], states[b].world_T_object)
        except (KeyError, GeometryError):
            # Again, step by step: these name the missing part.
            poses = [self._state(name).world_T_object for name in (a, b)]
            return _shaped(measure, self._item(a), poses[0], self._item(b), poses[1])

    def _inside(self, name: str) -> Inside:
        return _shaped(inside_of, self._item(name))

    def _touch(self, on: str, by: str) -> Touch:
        derived = self._world.derived
        key = ("touch", on, by)
        found = derived.get(key)
        if found is None:
            index = derived.get("contacts")
            if index is None:
                index = derived["contacts"] = contacts_by_body(self._world)
            found = derived[key] = summed_contacts(on, by, cast("dict[str, list[Contact]]", index))
        return cast("Touch", found)


@functools.lru_cache(maxsize=1024)
def box_of(item: WorldObject, pose: Pose) -> Box[float]:
    """Return the box around an object in world.

    Both arguments compare by identity, and an object that has not moved keeps its pose from world to world.

    Args:
        item: The object.
        pose: world_T_object.

    Returns:
        Lowest corner, then highest, m.

    Raises:
        GeometryError: The object has no usable geometry.
    """
    found = boxes(item, pose.rotation.wxyz[None], pose.translation_m[None])[0].tolist()
    return cast("Box[float]", tuple(found))


def _shaped(measure: Callable[..., V], *of: object) -> V:
    try:
        return measure(*of)
    except GeometryError as error:
        raise Unknown(str(error)) from error


def _axes(wxyz: list[float]) -> Axes:
    w, x, y, z = wxyz
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)),
        (2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)),
        (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)),
    )
