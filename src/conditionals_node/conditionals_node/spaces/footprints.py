"""Bodies seen from above: the polygons of their convex shapes. A mesh counts as its convex hull here."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from handiwork_core.model.geometry import Array, Pose, frozen
from handiwork_core.model.world import WorldObject
from handiwork_core.scene.bounds import hull_points

from .footprint_kernels import Ends
from .hulls import GeometryError, hull
from .place_kernels import between_at, between_many, inset_at, insets_of_many
from .reach_kernels import reach_of_many

Placed = tuple[Array, Array, Array]
"""Sizes (n,), orientations (n, 4) and positions (n, 3) of a body in many worlds."""
Footprint = tuple[Array, Ends, Ends]
"""Corners in world, (k, 2), m; where each piece begins, (m + 1,); number of corners of each piece, (m,)."""


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """The corners of a body's shapes, (k, 3) in its frame, m; the shape j has rows ``ends[j]`` to ``ends[j + 1]``."""

    points: Array
    ends: Ends


@functools.lru_cache(maxsize=1024)
def pieces(item: WorldObject) -> Pieces:
    """Return the corners of a body's shapes.

    Args:
        item: The body.

    Raises:
        GeometryError: It has no shape, or one without finite points.
    """
    parts = [_corners(hull_points(shape)) for shape in item.shapes]
    if not parts or any(not len(part) or not np.isfinite(part).all() for part in parts):
        raise GeometryError(f"object {item.name!r} has a shape without points, or none; give it a solid")
    return Pieces(frozen(np.vstack(parts)), np.cumsum([0, *(len(part) for part in parts)]))


@functools.lru_cache(maxsize=1024)
def shortest(a: WorldObject, a_pose: Pose, b: WorldObject, b_pose: Pose) -> tuple[float, float]:
    """Return the shortest vector (x, y) from body b to body a, seen from above, m.

    Bodies and poses compare by identity, and a pose stays until it changes.

    Args:
        a: The body at the vector's end.
        a_pose: world_T_a.
        b: The body at the vector's start.
        b_pose: world_T_b.

    Raises:
        GeometryError: See ``pieces``.
    """
    one, two, a_turn, b_turn = pieces(a), pieces(b), a_pose.rotation.wxyz, b_pose.rotation.wxyz
    x, y = between_at(
        one.points, one.ends, a_turn, a_pose.translation_m, two.points, two.ends, b_turn, b_pose.translation_m
    )
    return x, y


@functools.lru_cache(maxsize=1024)
def inset(item: WorldObject, pose: Pose, reference: WorldObject, reference_pose: Pose) -> float:
    """Return how far a body's centre is within the outline of a reference, m; see ``shortest``.

    Args:
        item: The body.
        pose: Its pose in world.
        reference: The reference.
        reference_pose: Its pose in world.

    Raises:
        GeometryError: See ``pieces`` and ``hull``.
    """
    shape, turn, place = pieces(reference), reference_pose.rotation.wxyz, reference_pose.translation_m
    centre = hull(item).centroid
    found: float = inset_at(
        shape.points, shape.ends, turn, place, centre, pose.rotation.wxyz, pose.translation_m
    )
    return found


def insets(item: WorldObject, placed: Placed, x: Array, y: Array) -> Array:
    """Return how far points are within the outline of a body in many worlds, (n,), m; less than 0 outside.

    Args:
        item: The body.
        placed: Its poses.
        x: The points' x, (n,), m.
        y: The points' y, (n,), m.
    """
    found, out = pieces(item), np.empty(len(x))
    insets_of_many(found.points, found.ends, *placed, np.ascontiguousarray(x), np.ascontiguousarray(y), out)
    return out


def beside(a: WorldObject, a_placed: Placed, b: WorldObject, b_placed: Placed) -> tuple[Array, Array]:
    """Return the shortest vector from one body to another, seen from above, in many worlds, m; zero where they overlap.

    Args:
        a: The body at the vector's end.
        a_placed: Its poses.
        b: The body at the vector's start.
        b_placed: Its poses.

    Returns:
        x and y, (n,) each.
    """
    one, two, x, y = pieces(a), pieces(b), np.empty(len(a_placed[0])), np.empty(len(a_placed[0]))
    between_many(one.points, one.ends, *a_placed, two.points, two.ends, *b_placed, x, y)
    return x, y


def reach(item: WorldObject, placed: Placed, directions: Array) -> tuple[Array, Array]:
    """Return the least and the greatest coordinate of a body along a direction in many worlds, (n,) each, m.

    Args:
        item: The body.
        placed: Its poses.
        directions: Unit vectors in world, (n, 3).
    """
    out = np.empty((2, len(directions)))
    reach_of_many(pieces(item).points, *placed, np.ascontiguousarray(directions), out)
    return out[0], out[1]


def _corners(points: Array) -> Array:
    try:
        return np.asarray(points[ConvexHull(points).vertices], dtype=np.float64)
    except (QhullError, ValueError):  # flat, or without points, which the caller refuses
        return points
