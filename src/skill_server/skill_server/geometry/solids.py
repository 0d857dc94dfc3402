"""Bounds of convex solids: support distances, axis-aligned and oriented boxes, point containment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial import ConvexHull, QhullError

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.scene.bounds import support, world_aabb

from .mesh_contacts import inside_mesh


@dataclass(frozen=True, slots=True, eq=False)
class OrientedBox:
    """A box about the origin of its pose.

    Attributes:
        pose: Pose of the centre.
        size: Full lengths of the edges, (3,), m.
    """

    pose: Pose
    size: Array

    def corners(self) -> Array:
        """Return the corners, (8, 3), m, in the frame of the pose's parent."""
        signs = np.array(np.meshgrid((-0.5, 0.5), (-0.5, 0.5), (-0.5, 0.5))).reshape(3, 8).T
        return self.pose.apply(signs * self.size)

    def moved(self, outer: Pose) -> OrientedBox:
        """Return the same box in an outer frame.

        Args:
            outer: Pose of the present frame in the outer one.

        Returns:
            The box.
        """
        return OrientedBox(outer @ self.pose, self.size)


def object_box(body: WorldObject) -> OrientedBox:
    """Return a box around a whole object.

    Args:
        body: Object.

    Returns:
        The box in the object's frame, along the shape's own axes for a single shape, else along the object's.
    """
    if len(body.shapes) == 1:
        inner = shape_box(body.shapes[0])
        return inner.moved(body.shapes[0].object_T_shape)
    low, high = world_aabb(body, Pose.identity())
    return OrientedBox(Pose.of((low + high) / 2.0), high - low)


def shape_box(shape: Shape) -> OrientedBox:
    """Return a box around one shape; a hull or a mesh gets the smaller of two boxes.

    Args:
        shape: Solid.

    Returns:
        The box in the shape's frame.
    """
    if shape.vertices is None:
        half = np.array([support(shape, axis) for axis in np.eye(3)])
        return OrientedBox(Pose.identity(), 2.0 * half)
    boxes = [
        _box_along(shape.vertices, np.eye(3)),
        _box_along(shape.vertices, _principal_axes(shape.vertices)),
    ]
    return min(boxes, key=lambda box: float(np.prod(box.size)))


def _principal_axes(points: Array) -> Array:
    """Return the axes of inertia of the points as columns, right-handed (3, 3)."""
    _, _, rows = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    axes = np.asarray(rows.T, dtype=np.float64)
    if np.linalg.det(axes) < 0.0:
        axes[:, 2] *= -1.0
    return axes


def _box_along(points: Array, axes: Array) -> OrientedBox:
    local = points @ axes
    low, high = local.min(axis=0), local.max(axis=0)
    return OrientedBox(Pose.of(axes @ ((low + high) / 2.0), Rotation.from_matrix(axes)), high - low)


def contains(shape: Shape, points: Array, margin_m: float | Array = 0.0) -> npt.NDArray[np.bool_]:
    """Check which points are deeper inside of a solid than a margin; below 0: nearer to it than that.

    Hulls are judged by their faces, meshes by the nearest of many points of their surface: no margin of these may be
    below 0.

    Args:
        shape: Solid.
        points: Points in the shape's frame, (n, 3), m.
        margin_m: Least depth, m, one or one for each point, (n,).

    Returns:
        Mask, (n,).
    """
    p, s, m = points, shape.size, np.broadcast_to(np.asarray(margin_m, dtype=np.float64), len(points))
    if shape.kind is ShapeKind.MESH:
        return inside_mesh(shape, p, m)
    if shape.kind is ShapeKind.CONVEX:
        try:
            sides = ConvexHull(shape.vertices).equations
        except QhullError:  # flat: nothing is inside
            return np.zeros(len(p), dtype=np.bool_)
        return np.asarray((p @ sides[:, :3].T + sides[:, 3] < -m[:, None]).all(axis=1))
    if shape.kind is ShapeKind.SPHERE:
        return np.asarray(np.linalg.norm(p, axis=1) < s[0] - m)
    if shape.kind is ShapeKind.CYLINDER:
        return np.asarray((np.hypot(p[:, 0], p[:, 1]) < s[0] - m) & (np.abs(p[:, 2]) < s[1] / 2.0 - m))
    if shape.kind is ShapeKind.CAPSULE:
        along = np.clip(p[:, 2], -s[1] / 2.0, s[1] / 2.0)
        return np.asarray(np.linalg.norm(p - np.outer(along, (0.0, 0.0, 1.0)), axis=1) < s[0] - m)
    box = shape_box(shape)
    local = np.abs(box.pose.inverse().apply(p))
    return np.asarray((local < box.size / 2.0 - m[:, None]).all(axis=1))
