"""Signed distances from points to solids, each from its definition; plain NumPy, shares nothing with the planner."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import Shape, ShapeKind, World


def rotation(wxyz: Array) -> Array:
    """Return the rotation matrix (3, 3) of a unit quaternion.

    The columns are the turned axes, v' = v + 2 u x (u x v + w v).

    Args:
        wxyz: The quaternion, (4,).
    """
    w, u = float(wxyz[0]), np.asarray(wxyz[1:], dtype=np.float64)
    axes = np.eye(3)
    inner = np.cross(u, axes) + w * axes
    return np.asarray((axes + 2.0 * np.cross(u, inner)).T)


def to_frame(pose: Pose, points: Array) -> Array:
    """Return points in a pose's own frame, (..., 3), m.

    Args:
        pose: The pose in the outer frame.
        points: Points in the outer frame, (..., 3), m.
    """
    return np.asarray((points - pose.translation_m) @ rotation(pose.rotation.wxyz))


def distance(shape: Shape, points: Array) -> Array:
    """Return signed distances of points to a shape, (...,), m; negative is inside.

    Args:
        shape: The shape.
        points: Points in the shape's frame, (..., 3), m.
    """
    if shape.kind is ShapeKind.BOX:
        return _corner(np.abs(points) - 0.5 * shape.size)
    if shape.kind is ShapeKind.SPHERE:
        return np.asarray(np.linalg.norm(points, axis=-1) - shape.size[0])
    across, along = np.linalg.norm(points[..., :2], axis=-1), np.abs(points[..., 2])
    if shape.kind is ShapeKind.CYLINDER:
        return _corner(np.stack([across - shape.size[0], along - 0.5 * shape.size[1]], axis=-1))
    if shape.kind is ShapeKind.CAPSULE:
        return np.asarray(np.hypot(across, np.maximum(along - 0.5 * shape.size[1], 0.0)) - shape.size[0])
    assert shape.vertices is not None
    return _hull(shape.vertices, points)


def world_distance(world: World, points: Array) -> Array:
    """Return signed distances of points to the nearest object, (...,), m.

    Args:
        world: The world.
        points: Points in the world, (..., 3), m.
    """
    nearest = np.full(points.shape[:-1], np.inf)
    for name, body in world.objects.items():
        local = to_frame(world.states[name].world_T_object, points)
        for shape in body.shapes:
            nearest = np.minimum(nearest, distance(shape, to_frame(shape.object_T_shape, local)))
    return nearest


def _corner(beyond: Array) -> Array:
    """Return the distance to a corner or face.

    ``beyond`` (..., k): distances beyond each pair of parallel faces, which meet at right angles.
    """
    outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=-1)
    return np.asarray(outside + np.minimum(beyond.max(axis=-1), 0.0))


def _hull(vertices: Array, points: Array) -> Array:
    """Return the distance by the face planes inside, by the nearest triangle outside."""
    hull = ConvexHull(vertices)
    flat = points.reshape(-1, 3)
    depth = (flat @ hull.equations[:, :3].T + hull.equations[:, 3]).max(axis=1)
    out = depth > 0.0
    if out.any():
        corners = vertices[hull.simplices]
        depth[out] = np.min([_triangle(corner, flat[out]) for corner in corners], axis=0)
    return np.asarray(depth.reshape(points.shape[:-1]))


def _triangle(corners: Array, points: Array) -> Array:
    """Return the distance (m,) of ``points`` (m, 3) to a triangle (3, 3): to its plane, or to an edge."""
    edges = [(corners[i], corners[(i + 1) % 3] - corners[i]) for i in range(3)]
    normal = np.cross(edges[0][1], -edges[2][1])
    normal = normal / np.linalg.norm(normal)
    sides, gaps = [], []
    for start, edge in edges:
        sides.append((points - start) @ np.cross(normal, edge))
        share = np.clip((points - start) @ edge / (edge @ edge), 0.0, 1.0)
        gaps.append(np.linalg.norm(points - start - share[:, None] * edge, axis=1))
    above = np.min(sides, axis=0) >= 0.0
    return np.asarray(np.where(above, np.abs((points - corners[0]) @ normal), np.min(gaps, axis=0)))
