"""The view of many worlds; its numbers are arrays (n,). Results that predicates share are in ``Worlds.derived``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar, cast

import numpy as np

from conditionals_node.spaces.cavities import inside_of
from conditionals_node.spaces.footprints import Placed, beside, insets, reach
from conditionals_node.spaces.hulls import GeometryError, Hull, hull
from conditionals_node.spaces.insertions import NO_POINTS, Bulk, insertions
from conditionals_node.spaces.kernels import depth_of_many
from conditionals_node.spaces.samples import samples
from conditionals_node.views.bounding_boxes import boxes
from conditionals_node.views.contact_sums import weight_of
from conditionals_node.views.views import (
    Box,
    Insertion,
    Point,
    Unknown,
    Vec,
)
from handiwork_core.model.geometry import Array
from handiwork_core.model.world import WorldObject

from .array_arithmetic import ArrayArithmetic, Axes, array_axes
from .batch_worlds import Poses, Worlds

V = TypeVar("V")
NO_FACE = np.array(np.nan)
NO_BULK = np.zeros(1)


class BatchView(ArrayArithmetic):
    """The ``View`` of a batch.

    Args:
        worlds: The batch.
    """

    def __init__(self, worlds: Worlds) -> None:
        super().__init__(worlds.n)
        self._worlds = worlds

    def origin(self, name: str) -> Vec[Array]:
        """Return the origin of an object's frame in world, m."""
        return _columns(self._poses(name).position)

    def axes(self, name: str) -> Axes:
        """Return the x, y and z axis of an object's frame in world."""
        return self._kept(("axes", name), lambda: array_axes(self._poses(name).wxyz))

    def frame_axes(self, frame: str) -> Axes:
        """Return the axes of "world", "robot" or an object."""
        if frame == "world":
            one, zero = self.number(1.0), self.number(0.0)
            return (one, zero, zero), (zero, one, zero), (zero, zero, one)
        if frame in self._worlds.frames:
            return self._kept(("frame", frame), lambda: array_axes(self._worlds.frames[frame].wxyz))
        if frame in self._worlds.poses:
            return self.axes(frame)
        known = sorted({"world", *self._worlds.frames, *self._worlds.poses})
        raise Unknown(f"frame {frame!r} is not known; known are {known}")

    def centre(self, name: str, point: Point = Point.CENTROID) -> Vec[Array]:
        """Return the point that stands for an object, in world, m."""
        return self._kept(("centre", name, point), lambda: self._centre(name, point))

    def box(self, name: str) -> Box[Array]:
        """Return the axis-aligned box around an object, m."""
        return self._kept(("box", name), lambda: self._box(name))

    def depth(
        self, name: str, container: str, point: Point, closed: bool, above_rim: float | None
    ) -> tuple[Array, Array, str]:
        """Return the depth of an object's point in a container's hull; the face is nan without a name."""
        of, at = self._poses(name), self._poses(container)
        inner, outer = self._hull(name), self._hull(container)
        depths = np.empty(self._n)
        depth_of_many(
            (outer.closed_faces if closed else outer.open_faces).packed,
            (inner.centroid_spot if point is Point.CENTROID else inner.mean_spot)[None],
            self._size(name),
            of.wxyz,
            of.position,
            self._size(container),
            at.wxyz,
            at.position,
            outer.top_z,
            math.inf if above_rim is None else above_rim,
            0.5,
            math.inf,
            NO_BULK,
            0.0,
            depths,
        )
        return depths, NO_FACE, ""

    def inside(
        self, name: str, container: str, share: float, above_rim: float, closed: bool
    ) -> Insertion[Array]:
        """Return how deep an object is in a container's cavity, or in its hull when the container is convex."""
        poses = *self._placed(name), *self._placed(container)
        inner, outer = self._hull(name), self._shaped(lambda: inside_of(self._item(container)))
        points = NO_POINTS if outer.cavity is None else samples(self._item(name))[None]
        return insertions(outer, points, Bulk.of([inner]), poses, share, above_rim, closed)

    def inset(self, name: str, reference: str) -> Array:
        """Return how far an object's centre is within a reference's outline, seen from above, m."""
        x, y, _ = self.centre(name)
        return self._shaped(lambda: insets(self._item(reference), self._placed(reference), x, y))

    def beside(self, name: str, reference: str) -> tuple[Array, Array]:
        """Return the shortest vector from a reference to an object, seen from above, m."""
        a, b = self._placed(name), self._placed(reference)
        return self._shaped(lambda: beside(self._item(name), a, self._item(reference), b))

    def reach(self, name: str, direction: Vec[Array]) -> tuple[Array, Array]:
        """Return the least and the greatest coordinate of an object along a direction, m."""
        return self._shaped(lambda: reach(self._item(name), self._placed(name), np.stack(direction, axis=1)))

    def speed(self, name: str) -> Array:
        """Return the speed of the object's origin, m/s."""
        self._poses(name)
        return self._length("velocities", name)

    def turn_rate(self, name: str) -> Array:
        """Return the size of the angular velocity, rad/s."""
        self._poses(name)
        return self._length("turn_rates", name)

    def movable(self) -> list[str]:
        """Return the objects that are not static, sorted."""
        return sorted(name for name, item in self._worlds.objects.items() if not item.is_static)

    def push(self, on: str, by: str) -> Vec[Array]:
        """Return the net force on a body from another, N."""
        return self._kept(("push", on, by), lambda: _columns(self._force(on, by)))

    def touch(self, a: str, b: str) -> Array:
        """Return the sum of the forces between two bodies without regard to direction, N."""
        return self._kept(("touch", *sorted((a, b))), lambda: self._squeeze(a, b))

    def needed(self, min_force: float, weight_share: float, *names: str) -> Array:
        """Return the force from which bodies count as touching, one for all worlds, N."""
        if weight_share == 0.0:
            return np.asarray(min_force)
        objects = self._worlds.objects
        return np.asarray(min(min_force, *[weight_share * weight_of(objects.get(name)) for name in names]))

    def lift(self, name: str) -> Array:
        """Return the sum of the upward forces on a body, N."""
        return self._kept(("lift", name), lambda: self._lift(name))

    def contact_point(self, on: str, by: str) -> Vec[Array]:
        """Return the mean point of two bodies' contacts, m; nan where they do not touch."""
        points = self._worlds.contact_points
        found = points.get((on, by), points.get((by, on)))
        if found is None:
            return (self.number(np.nan),) * 3
        return _columns(found)

    def joint(self, name: str) -> Array:
        """Return the measured position of a joint, rad or m."""
        try:
            return self._worlds.joints[name]
        except KeyError:
            known = sorted(self._worlds.joints)
            raise Unknown(f"joint {name!r} is not measured; known are {known}") from None

    def _kept(self, key: object, make: Callable[[], V]) -> V:
        derived = self._worlds.derived
        if key not in derived:
            derived[key] = make()
        return cast("V", derived[key])

    def _poses(self, name: str) -> Poses:
        try:
            return self._worlds.poses[name]
        except KeyError:
            known = sorted(self._worlds.poses)
            raise Unknown(f"object {name!r} has no pose in the worlds; known are {known}") from None

    def _placed(self, name: str) -> Placed:
        poses = self._poses(name)
        return self._size(name), poses.wxyz, poses.position

    def _shaped(self, measure: Callable[[], V]) -> V:
        try:
            return measure()
        except GeometryError as error:
            raise Unknown(str(error)) from error

    def _item(self, name: str) -> WorldObject:
        try:
            return self._worlds.objects[name]
        except KeyError:
            known = sorted(self._worlds.objects)
            raise Unknown(f"object {name!r} has no geometry in the worlds; known are {known}") from None

    def _hull(self, name: str) -> Hull:
        return self._shaped(lambda: hull(self._item(name)))

    def _centre(self, name: str, point: Point) -> Vec[Array]:
        found = self._hull(name)
        x, y, z = (found.centroid if point is Point.CENTROID else found.vertex_mean).tolist()
        a, b, c = self.axes(name)
        p, offsets = self.origin(name), [a[i] * x + b[i] * y + c[i] * z for i in range(3)]
        size = self._worlds.sizes.get(name)
        if size is not None:
            offsets = [size * offset for offset in offsets]
        return cast("Vec[Array]", tuple(p[i] + offsets[i] for i in range(3)))

    def _box(self, name: str) -> Box[Array]:
        poses = self._poses(name)
        found = self._shaped(lambda: boxes(self._item(name), poses.wxyz, np.zeros_like(poses.position)))
        size = self._worlds.sizes.get(name)
        if size is not None:
            found = found * size[:, None]
        found = np.ascontiguousarray(found.T).reshape(2, 3, -1)
        found += np.ascontiguousarray(poses.position.T)
        return cast("Box[Array]", tuple(found.reshape(6, -1)))

    def _size(self, name: str) -> Array:
        """Return the object's size relative to its geometry, (n,)."""
        given = self._worlds.sizes.get(name)
        return self._kept("ones", lambda: np.ones(self._n)) if given is None else given

    def _length(self, key: str, name: str) -> Array:
        found = getattr(self._worlds, key).get(name)
        if found is None:
            raise Unknown(f"{key} of object {name!r} are not given; add them to the worlds")
        return self.length(*_columns(found))

    def _squeeze(self, a: str, b: str) -> Array:
        """Return the sum of the sizes of the forces, (n,), N; that of the net force where only this is given."""
        given = [self._worlds.touches[pair] for pair in {(a, b), (b, a)} if pair in self._worlds.touches]
        if given and self._worlds.forces is not None:
            return sum(given, np.zeros(self._n))
        return self.length(*self.push(a, b))

    def _lift(self, name: str) -> Array:
        others = {a if b == name else b for a, b in self._worlds.forces or {} if name in (a, b)}
        total, part = np.zeros(self._n), np.empty(self._n)
        for other in others:
            total += np.maximum(self.push(name, other)[2], 0.0, out=part)
        return total

    def _force(self, on: str, by: str) -> Array:
        forces = self._worlds.forces
        if forces is None:
            raise Unknown("the worlds have no contact source; give forces")
        there, back = forces.get((on, by)), forces.get((by, on))
        if there is None or back is None:
            return there if there is not None else -back if back is not None else np.zeros((self._n, 3))
        return there - back


def _columns(rows: Array) -> Vec[Array]:
    return rows[:, 0], rows[:, 1], rows[:, 2]
