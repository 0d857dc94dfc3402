"""Lowest and highest crossing of a body's surface with vertical lines."""

from __future__ import annotations

import functools

import numpy as np
from scipy.spatial import ConvexHull

from handiwork_core.model.geometry import Array, Pose, frozen
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.scene.bounds import hull_points

ON_EDGE = 1e-9
"""Barycentric coordinate by which a line may miss a triangle, so that none slips through between two neighbours."""


def body_triangles(body: WorldObject, *, as_hulls: bool = False) -> Array:
    """Return the surface of a body as triangles.

    Args:
        body: Body with at least one shape.
        as_hulls: Take the convex hull of a mesh, which has far fewer triangles.

    Returns:
        Corners in the body's frame, (t, 3, 3), m.
    """
    return np.concatenate([_shape_triangles(shape, as_hulls) for shape in body.shapes])


@functools.lru_cache(maxsize=512)
def _shape_triangles(shape: Shape, as_hull: bool) -> Array:
    if shape.kind is ShapeKind.MESH and not as_hull:
        assert shape.vertices is not None
        return frozen(shape.object_T_shape.apply(shape.vertices)[shape.triangles])
    points = hull_points(shape)
    # QJ also gives flat shapes a hull.
    return frozen(points[ConvexHull(points, qhull_options="QJ").simplices])


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
    flat = triangles[:, :, :2]
    near = (flat.max(axis=1) >= points.min(axis=0)).all(axis=1) & (
        flat.min(axis=1) <= points.max(axis=0)
    ).all(axis=1)
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
