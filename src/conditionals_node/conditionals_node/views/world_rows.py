"""One world as rows of numbers: poses and velocities of its objects, their geometry, and the forces of its contacts."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from conditionals_node.spaces.footprint_kernels import outline_of_one
from conditionals_node.spaces.footprints import Footprint, pieces
from conditionals_node.spaces.hulls import GeometryError, Hull, hull
from conditionals_node.spaces.insertions import Bulk
from conditionals_node.spaces.samples import samples
from handiwork_core.model.geometry import Array
from handiwork_core.model.world import World, WorldObject

from .bounding_boxes import outline
from .contact_sums import lifts_of
from .row_kernels import Ends, boxes_of_each, centres_of_each
from .views import Point

Pair = tuple[str, str]
Touches = tuple[NDArray[np.intp], NDArray[np.intp], Array]
"""Rows, contacts that belong to them, and 1 or -1 (k, 1): the row's body is the first or the second of the contact."""


class Solids:
    """The geometry of a world's objects in common arrays; objects without a usable one are left out.

    Args:
        objects: Objects by name.
        names: The objects to take.
    """

    def __init__(self, objects: Mapping[str, WorldObject], names: Sequence[str]) -> None:
        usable = {name: found for name in names if (found := _hull(objects.get(name))) is not None}
        self.names = list(usable)
        self.index = {name: i for i, name in enumerate(self.names)}
        hulls, outlines = list(usable.values()), [outline(objects[name]) for name in self.names]
        self.points = {
            Point.CENTROID: _stacked([found.centroid[None] for found in hulls], 3)[0],
            Point.VERTEX_MEAN: _stacked([found.vertex_mean[None] for found in hulls], 3)[0],
        }
        self.planes = {
            True: _stacked([found.planes for found in hulls], 4),
            False: _stacked([found.open_planes for found in hulls], 4),
        }
        self.tops = np.array([found.top_z for found in hulls])
        self.bulks = Bulk.of(hulls)
        self._items = [objects[name] for name in self.names]
        self.pieces = [pieces(item) for item in self._items]
        self.balls, self.discs = (
            _stacked([found.balls for found in outlines], 4),
            _stacked([found.discs for found in outlines], 7),
        )

    @functools.cached_property
    def samples(self) -> Array:
        """The points of the objects, for what asks for cavities, (n, k, 3), m."""
        return np.array([samples(item) for item in self._items])


class Touching:
    """The contacts of each pair of bodies; the same from world to world until a contact comes or goes.

    Args:
        pairs: The bodies of each contact.
    """

    def __init__(self, pairs: list[Pair]) -> None:
        self.pairs = pairs
        self._of: dict[Pair, list[tuple[int, float]]] = {}
        for i, (a, b) in enumerate(pairs):
            self._of.setdefault((a, b), []).append((i, 1.0))
            self._of.setdefault((b, a), []).append((i, -1.0))
        self._kept: dict[tuple[tuple[str, ...], tuple[str, ...]], Touches] = {}

    def between(self, on: tuple[str, ...], by: tuple[str, ...]) -> Touches:
        """Return the contacts of each row's pair.

        Args:
            on: The first body of each row.
            by: The second body of each row.

        Returns:
            See ``Touches``.
        """
        found = self._kept.get((on, by))
        if found is None:
            hits = [
                (r, *hit) for r, pair in enumerate(zip(on, by, strict=True)) for hit in self._of.get(pair, ())
            ]
            rows = np.array([hit[0] for hit in hits], dtype=np.intp)
            contacts = np.array([hit[1] for hit in hits], dtype=np.intp)
            found = self._kept[on, by] = rows, contacts, np.array([hit[2] for hit in hits]).reshape(-1, 1)
        return found


class WorldRows:
    """The numbers of one world: ``q`` (n, 4), ``p``, ``v`` and ``w`` (n, 3) of ``solids``, ``forces`` (m, 3).

    Args:
        world: The world.
        solids: Geometry of its objects.
        touching: Bodies of its contacts.
    """

    def __init__(self, world: World, solids: Solids, touching: Touching) -> None:
        states = [world.states[name] for name in solids.names]
        poses = [state.world_T_object for state in states]
        self.world, self.solids, self.touching = world, solids, touching
        self.q = _joined([pose.rotation.wxyz for pose in poses], 4)
        self.p = _joined([pose.translation_m for pose in poses], 3)
        self.v = _joined([state.world_v_object for state in states], 3)
        self.w = _joined([state.world_w_object for state in states], 3)
        contacts = world.contacts or ()
        self.forces = _joined([contact.force_on_a_n for contact in contacts], 3)
        self.places = _joined([contact.point_m for contact in contacts], 3)
        self._centres: dict[Point, Array] = {}
        self._boxes: Array | None = None
        self._footprints: dict[int, Footprint] = {}
        self._lifts: dict[str, float] | None = None

    def is_finite(self) -> bool:
        """Return True when all numbers are finite; the reasons for others are found one by one."""
        return math.isfinite(
            sum(float(a.sum()) for a in (self.q, self.p, self.v, self.w, self.forces, self.places))
        )

    def centres(self, point: Point) -> Array:
        """Return the points that stand for the objects.

        Args:
            point: The kind of point.

        Returns:
            (n, 3) in world, m.
        """
        if point not in self._centres:
            found = self._centres[point] = np.empty_like(self.p)
            centres_of_each(self.solids.points[point], self.q, self.p, found)
        return self._centres[point]

    def footprint(self, row: int) -> Footprint:
        """Return the outline of an object, seen from above.

        Args:
            row: Its row.
        """
        found = self._footprints.get(row)
        if found is None:
            shape = self.solids.pieces[row]
            outline = np.empty((len(shape.points), 2))
            counts = np.empty(len(shape.ends) - 1, dtype=np.int64)
            outline_of_one(shape.points, shape.ends, self.q[row], self.p[row], outline, counts)
            found = self._footprints[row] = outline, shape.ends, counts
        return found

    def lifts(self) -> dict[str, float]:
        """Return the sum of the upward forces on each body, N."""
        if self._lifts is None:
            self._lifts = lifts_of(self.world)
        return self._lifts

    def boxes(self) -> Array:
        """Return the boxes around all objects, (n, 6) in world, m: lowest corner, then highest."""
        if self._boxes is None:
            self._boxes = np.empty((len(self.p), 6))
            boxes_of_each(*self.solids.balls, *self.solids.discs, self.q, self.p, self._boxes)
        return self._boxes


def _hull(item: WorldObject | None) -> Hull | None:
    try:
        return None if item is None else hull(item)
    except GeometryError:
        return None


def _stacked(parts: Sequence[Array], width: int) -> tuple[Array, Ends]:
    ends = np.cumsum([0, *(len(part) for part in parts)])
    return np.ascontiguousarray(np.concatenate([np.zeros((0, width)), *parts])), ends


def _joined(parts: Sequence[Array], width: int) -> Array:
    """Return equally long arrays as rows; several times as fast as ``np.array``."""
    return np.concatenate(parts).reshape(-1, width) if parts else np.zeros((0, width))
