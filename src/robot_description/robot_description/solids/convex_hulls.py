"""Convex hulls as meshes with few corners that cover their points."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull

from handiwork_core.dynamics.mass_properties import hull_triangles
from handiwork_core.model.geometry import Array
from handiwork_core.model.world import Indices

Part = tuple[Array, Indices]
"""Vertices, (n, 3), m, and triangles, (m, 3), outwards, of a convex solid."""

VERTICES = 64
"""Largest number of corners of a simplified hull."""
FLAT_M = 1e-4
"""Largest distance of a point from a simplified hull before that is made larger, m."""


def hull_of(points: Array) -> Part:
    """Return the convex hull of points.

    Args:
        points: Points, (n, 3), m.

    Raises:
        ValueError: They lie in a plane.
    """
    try:
        triangles = hull_triangles(points)
    except ValueError as error:
        raise ValueError("is flat and has no hull; give it thickness") from error
    corners, places = np.unique(triangles, return_inverse=True)
    return np.asarray(points[corners], dtype=np.float64), places.reshape(-1, 3)


def simplified(part: Part) -> Part:
    """Return a hull with at most ``VERTICES`` corners that covers the part.

    Args:
        part: The part.
    """
    points = part[0]
    if len(points) <= VERTICES:
        return part
    ends = np.concatenate([points.argmin(axis=0), points.argmax(axis=0)])
    rays = points - points.mean(axis=0)
    chosen = list(dict.fromkeys([*ends.tolist(), int(np.linalg.norm(rays, axis=1).argmax())]))
    hull = ConvexHull(points[_spread(points, chosen)], incremental=True)
    off = (points @ hull.equations[:, :3].T + hull.equations[:, 3]).max(axis=1)
    while off.max() > FLAT_M and len(hull.points) < VERTICES:
        hull.add_points(points[[int(off.argmax())]])
        off = (points @ hull.equations[:, :3].T + hull.equations[:, 3]).max(axis=1)
    kept = hull.points[hull.vertices]
    # Each face is moved outwards by the same share of its distance from the middle, until no point is left out.
    middle = kept.mean(axis=0)
    depth = -(hull.equations[:, :3] @ middle + hull.equations[:, 3])
    share = (((points - middle) @ hull.equations[:, :3].T) / depth).max()
    return hull_of(middle + max(1.0, float(share)) * (kept - middle))


def _spread(points: Array, chosen: list[int]) -> list[int]:
    """Add points until they span a solid: the farthest from a line, and from a plane."""
    rows = list(chosen)
    while np.linalg.matrix_rank(points[rows] - points[rows[0]], tol=1e-9) < 3:
        _, _, axes = np.linalg.svd(points[rows] - points[rows[0]])
        rank = int(np.linalg.matrix_rank(points[rows] - points[rows[0]], tol=1e-9))
        off = np.linalg.norm((points - points[rows[0]]) @ axes[rank:].T, axis=1)
        rows.append(int(off.argmax()))
    return rows
