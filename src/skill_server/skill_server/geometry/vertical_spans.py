"""Lowest and highest crossing of a body's surface with vertical lines."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull

from handiwork_core.model.geometry import Array, Pose, frozen
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.scene.bounds import hull_points
from handiwork_core.scene.shape_cache import kept_with_shape

HULL_DIRECTIONS = 256
"""A mesh with more corners than this is represented by its outermost ones, so that its hull stays small."""
ON_EDGE = 1e-9
"""Barycentric coordinate by which a line may miss a triangle, so that none slips through between two neighbours."""


def body_triangles(body: WorldObject, *, as_hulls: bool = False) -> Array:
    """Return the surface of a body as triangles.

    Args:
        body: Body with at least one shape.
        as_hulls: Take the convex hull of a mesh, for one of many corners of its outermost ones in many directions.

    Returns:
        Corners in the body's frame, (t, 3, 3), m.
    """
    return np.concatenate(
        [
            _mesh_triangles(shape)
            if shape.kind is ShapeKind.MESH and not as_hulls
            else _hull_triangles(shape)
            for shape in body.shapes
        ]
    )


@kept_with_shape
def _mesh_triangles(shape: Shape) -> Array:
    assert shape.vertices is not None
    return frozen(shape.object_T_shape.apply(shape.vertices)[shape.triangles])


@kept_with_shape
def _hull_triangles(shape: Shape) -> Array:
    points = _outermost(hull_points(shape))
    # QJ also gives flat shapes a hull.
    return frozen(points[ConvexHull(points, qhull_options="QJ").simplices])


def _outermost(points: Array) -> Array:
    """Return the points themselves where they are few, else those that are outermost in evenly spread directions."""
    if len(points) <= HULL_DIRECTIONS:
        return points
    i = np.arange(HULL_DIRECTIONS) + 0.5
    z, turn = 1.0 - 2.0 * i / HULL_DIRECTIONS, i * np.pi * (1.0 + np.sqrt(5.0))
    flat = np.sqrt(1.0 - z * z)
    directions = np.stack([flat * np.cos(turn), flat * np.sin(turn), z])
    return np.asarray(points[np.unique(np.argmax(points @ directions, axis=0))])


def moved_triangles(triangles: Array, pose: Pose) -> Array:
    """Return triangles in an outer frame.

    Args:
        triangles: Corners, (t, 3, 3), m.
        pose: Pose of their frame in the outer one.

    Returns:
        Corners in the outer frame, (t, 3, 3), m.
    """
    return pose.apply(triangles.reshape(-1, 3)).reshape(-1, 3, 3)


def vertical_spans(triangles: Array, points: Array) -> tuple[Array, Array]:
    """Return the lowest and the highest crossing of a surface with vertical lines.

    Args:
        triangles: Corners in the world, (t, 3, 3), m.
        points: Where the lines pass, x and y in the world, (n, 2), m.

    Returns:
        Heights of the lowest and the highest crossing, (n,) each, m; inf and -inf for a line without one.
    """
    near = np.ones(len(triangles), dtype=np.bool_)
    for axis in (0, 1):
        one, two, three = triangles[
            :, :, axis
        ].T  # pairwise, which is much faster than a reduction over three
        near &= np.maximum(np.maximum(one, two), three) >= points[:, axis].min(initial=np.inf)
        near &= np.minimum(np.minimum(one, two), three) <= points[:, axis].max(initial=-np.inf)
    a, b, c = triangles[near].transpose(1, 0, 2)
    ab, ac = (b - a)[:, :2], (c - a)[:, :2]
    area = ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]
    lies = np.abs(area) > 1e-15  # a vertical triangle is bounded by others that lie
    a, b, c, ab, ac, area = a[lies], b[lies], c[lies], ab[lies], ac[lies], area[lies]
    to = points[:, None, :] - a[None, :, :2]
    u = (to[..., 0] * ac[:, 1] - to[..., 1] * ac[:, 0]) / area
    v = (ab[:, 0] * to[..., 1] - ab[:, 1] * to[..., 0]) / area
    hit = (u >= -ON_EDGE) & (v >= -ON_EDGE) & (u + v <= 1.0 + ON_EDGE)
    height = a[:, 2] + u * (b - a)[:, 2] + v * (c - a)[:, 2]
    low = np.where(hit, height, np.inf).min(axis=1, initial=np.inf)
    high = np.where(hit, height, -np.inf).max(axis=1, initial=-np.inf)
    return low, high
