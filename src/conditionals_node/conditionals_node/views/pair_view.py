"""One world as rows of numbers, and ``View`` of many pairs of its objects at once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from conditionals_node.spaces.cavities import inside_of
from conditionals_node.spaces.footprint_kernels import between_two, inset_of_one
from conditionals_node.spaces.insertions import NO_POINTS, insertions
from conditionals_node.spaces.reach_kernels import reach_of_one
from handiwork_core.model.geometry import Array

from .array_arithmetic import ArrayArithmetic, array_axes
from .contact_sums import weight_of
from .row_kernels import Ends, depth_of_each
from .views import Box, Insertion, Point, Unknown, Vec
from .world_rows import Touches, WorldRows
from .world_view import IDENTITY_AXES

Axes = tuple[Vec[Array], Vec[Array], Vec[Array]]


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """The objects that one name means: their names, and their rows of the scene."""

    names: tuple[str, ...]
    rows: Ends


class RowsView(ArrayArithmetic):
    """A ``View`` in which some names mean another object in each row; all others mean themselves.

    Args:
        scene: The numbers of the world.
        slots: The objects of the names that differ by row.
        n: Number of rows.
    """

    def __init__(self, scene: WorldRows, slots: Mapping[str, Slot], n: int) -> None:
        super().__init__(n)
        self._scene, self._slots = scene, slots

    def origin(self, name: str) -> Vec[Array]:
        """Return the origin of an object's frame in world, m."""
        return _columns(self._scene.p[self._rows(name)])

    def axes(self, name: str) -> Axes:
        """Return the x, y and z axis of an object's frame in world."""
        return array_axes(self._scene.q[self._rows(name)])

    def frame_axes(self, frame: str) -> Axes:
        """Return the axes of "world", "robot" or an object."""
        frames = self._scene.world.frames
        if frame == "world":
            x, y, z = ((self.number(a), self.number(b), self.number(c)) for a, b, c in IDENTITY_AXES)
            return x, y, z
        return (
            array_axes(np.tile(frames[frame].rotation.wxyz, (self._n, 1)))
            if frame in frames
            else self.axes(frame)
        )

    def centre(self, name: str, point: Point = Point.CENTROID) -> Vec[Array]:
        """Return the point that stands for an object, in world, m."""
        return _columns(self._scene.centres(point)[self._rows(name)])

    def box(self, name: str) -> Box[Array]:
        """Return the axis-aligned box around an object, m."""
        found = self._scene.boxes()[self._rows(name)].T
        return found[0], found[1], found[2], found[3], found[4], found[5]

    def depth(
        self, name: str, container: str, point: Point, closed: bool, above_rim: float | None
    ) -> tuple[Array, Array, str]:
        """Return the depth of an object's point in a container's hull; the face has no meaning here."""
        scene, solids, depths = self._scene, self._scene.solids, np.empty(self._n)
        depth_of_each(
            *solids.planes[closed],
            solids.points[point],
            scene.q,
            scene.p,
            self._rows(name),
            self._rows(container),
            solids.tops,
            math.inf if above_rim is None else above_rim,
            depths,
        )
        return depths, depths, ""

    def inside(
        self, name: str, container: str, share: float, above_rim: float, closed: bool
    ) -> Insertion[Array]:
        """Return how deep an object is in a container's cavity; rows of one container are decided together."""
        scene, solids = self._scene, self._scene.solids
        of, at, ones = self._rows(name), self._rows(container), self.number(1.0)
        depths, tilts = np.empty(self._n), self.number(-math.pi)
        for one in np.unique(at):
            some = np.flatnonzero(at == one)
            i, k, outer = of[some], at[some], inside_of(scene.world.objects[solids.names[one]])
            placed = ones[some], scene.q[i], scene.p[i], ones[some], scene.q[k], scene.p[k]
            points = NO_POINTS if outer.cavity is None else solids.samples[i]
            found = insertions(outer, points, solids.bulks.rows(i), placed, share, above_rim, closed)
            depths[some] = found[0]
            tilts[some] = -math.pi if found[3] is None else found[3]
        # Only values count here; the shares are for the words.
        return depths, depths, depths, tilts, ""

    def inset(self, name: str, reference: str) -> Array:
        """Return how far an object's centre is within a reference's outline, seen from above, m."""
        x, y, _ = self.centre(name)
        places = zip(self._rows(reference).tolist(), x.tolist(), y.tolist(), strict=True)
        return np.array([inset_of_one(*self._scene.footprint(row), a, b) for row, a, b in places])

    def beside(self, name: str, reference: str) -> tuple[Array, Array]:
        """Return the shortest vector from a reference to an object, seen from above, m."""
        outline = self._scene.footprint
        pairs = zip(self._rows(name).tolist(), self._rows(reference).tolist(), strict=True)
        x, y = np.array([between_two(*outline(a), *outline(b)) for a, b in pairs]).T
        return x, y

    def reach(self, name: str, direction: Vec[Array]) -> tuple[Array, Array]:
        """Return the least and the greatest coordinate of an object along a direction, m."""
        scene, rows = self._scene, self._rows(name).tolist()
        along = np.stack(direction, axis=1).tolist()
        found = [
            reach_of_one(scene.solids.pieces[i].points, scene.q[i], scene.p[i], *to)
            for i, to in zip(rows, along, strict=True)
        ]
        low, high = np.array(found).T
        return low, high

    def speed(self, name: str) -> Array:
        """Return the speed of the object's origin, m/s."""
        return self.length(*_columns(self._scene.v[self._rows(name)]))

    def turn_rate(self, name: str) -> Array:
        """Return the size of the angular velocity, rad/s."""
        return self.length(*_columns(self._scene.w[self._rows(name)]))

    def movable(self) -> list[str]:
        """Refuse: the objects would differ from row to row."""
        raise Unknown("not for rows")

    def push(self, on: str, by: str) -> Vec[Array]:
        """Return the net force on a body from another, N."""
        rows, contacts, signs = self._touches(on, by)
        return _columns(self._summed(rows, self._scene.forces[contacts] * signs))

    def touch(self, a: str, b: str) -> Array:
        """Return the sum of the forces between two bodies without regard to direction, N."""
        rows, contacts, _ = self._touches(a, b)
        forces = self._scene.forces[contacts]
        return self._summed(rows, np.sqrt((forces * forces).sum(axis=1)))

    def needed(self, min_force: float, weight_share: float, *names: str) -> Array:
        """Return the force from which bodies count as touching, N."""
        if weight_share == 0.0:
            return self.number(min_force)
        objects = self._scene.world.objects
        weights = [[weight_of(objects.get(one)) for one in self._names(name)] for name in names]
        least: Array = np.array(weights).min(axis=0)
        return np.minimum(min_force, weight_share * least)

    def lift(self, name: str) -> Array:
        """Return the sum of the upward forces on a body, N."""
        lifts = self._scene.lifts()
        return np.array([lifts.get(one, 0.0) for one in self._names(name)])

    def contact_point(self, on: str, by: str) -> Vec[Array]:
        """Return the mean point of two bodies' contacts, m; nan where they do not touch."""
        rows, contacts, _ = self._touches(on, by)
        counts = np.bincount(rows, minlength=self._n)
        return _columns(self._summed(rows, self._scene.places[contacts]) / counts[:, None])

    def joint(self, name: str) -> Array:
        """Return the measured position of a joint, rad or m; nan without a measurement."""
        return self.number(self._scene.world.joints.position.get(name, math.nan))

    def _rows(self, name: str) -> Ends:
        slot = self._slots.get(name)
        if slot is not None:
            return slot.rows
        if name not in self._scene.solids.index:
            raise Unknown(f"object {name!r} has no rows")
        return np.full(self._n, self._scene.solids.index[name])

    def _touches(self, on: str, by: str) -> Touches:
        if self._scene.world.contacts is None:
            raise Unknown("no contact source")
        return self._scene.touching.between(self._names(on), self._names(by))

    def _names(self, name: str) -> tuple[str, ...]:
        slot = self._slots.get(name)
        return (name,) * self._n if slot is None else slot.names

    def _summed(self, rows: NDArray[np.intp], values: Array) -> Array:
        found = np.zeros((self._n, *values.shape[1:]))
        np.add.at(found, rows, values)
        return found


def _columns(rows: Array) -> Vec[Array]:
    return rows[:, 0], rows[:, 1], rows[:, 2]
