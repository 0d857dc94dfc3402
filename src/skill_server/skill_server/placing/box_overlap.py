"""Overlap of oriented boxes, and points inside of a box seen from above."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, HalfspaceIntersection

from handiwork_core.model.geometry import Array
from skill_server.geometry.solids import OrientedBox

FLAT_M = 1e-9
"""An overlap whose largest inscribed ball is not bigger counts as none."""


def iou(a: OrientedBox, b: OrientedBox) -> float:
    """Return the intersection over union of two boxes, by exact half-space intersection.

    Args:
        a: First box.
        b: Second box, in the same frame.

    Returns:
        The ratio, 0 to 1; 0 for touching and for flat boxes.
    """
    volume_a, volume_b = float(np.prod(a.size)), float(np.prod(b.size))
    if min(a.size.min(), b.size.min()) <= 0.0:
        return 0.0
    common = _common_volume(a, b)
    return common / (volume_a + volume_b - common)


def _common_volume(a: OrientedBox, b: OrientedBox) -> float:
    halfspaces = np.concatenate([_halfspaces(a), _halfspaces(b)])
    norms = np.ones((len(halfspaces), 1))
    found = linprog(
        c=(0.0, 0.0, 0.0, -1.0),
        A_ub=np.hstack([halfspaces[:, :3], norms]),
        b_ub=-halfspaces[:, 3],
        bounds=[(None, None)] * 3 + [(0.0, None)],
    )
    if not found.success or found.x[3] <= FLAT_M:
        return 0.0
    corners = HalfspaceIntersection(halfspaces, found.x[:3]).intersections
    return float(ConvexHull(corners).volume)


def _halfspaces(box: OrientedBox) -> Array:
    """Return rows (normal, offset) with normal @ x + offset <= 0 inside (6, 4)."""
    axes = box.pose.rotation.matrix().T
    middle = axes @ box.pose.translation_m
    upper = np.hstack([axes, -(middle + box.size / 2.0)[:, None]])
    lower = np.hstack([-axes, (middle - box.size / 2.0)[:, None]])
    return np.concatenate([upper, lower])


def inset_from_above(point: Array, box: OrientedBox) -> float:
    """Return how far a point is in x and y within the outline of a box, m.

    Outside it is negative: the distance to the farthest of the lines through the sides that the point is beyond.

    Args:
        point: Point in the world, (3,), m.
        box: Box in the world.
    """
    sides = ConvexHull(box.corners()[:, :2]).equations
    return -float((sides[:, :2] @ point[:2] + sides[:, 2]).max())


def inside_from_above(point: Array, box: OrientedBox) -> bool:
    """Check whether a point is in x and y strictly within the outline of a box.

    Args:
        point: Point in the world, (3,), m.
        box: Box in the world.

    Returns:
        True inside.
    """
    return inset_from_above(point, box) > 0.0
