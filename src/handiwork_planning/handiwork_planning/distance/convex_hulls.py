"""Convex hulls as triangles."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array


def triangulate(vertices: Array) -> Array:
    """Return the hull of points as rows of ``SceneArrays.triangles``, (t, 13).

    Args:
        vertices: Points, (n, 3), m.

    Raises:
        ValueError: the points have no volume.
    """
    from scipy.spatial import ConvexHull, QhullError  # type: ignore[import-untyped]  # heavy, and rarely needed

    try:
        hull = ConvexHull(vertices)
    except (QhullError, ValueError) as error:
        raise ValueError(
            f"a convex shape of {len(vertices)} vertices has no volume; give four that are not flat"
        ) from error
    corners = vertices[hull.simplices]
    return np.ascontiguousarray(
        np.concatenate([corners.reshape(-1, 9), hull.equations[:, :3], -hull.equations[:, 3:]], axis=1)
    )
