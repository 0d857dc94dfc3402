"""Shapes of the world for the primitives, meshes and planes of a collision object."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike

from handiwork_core.model.geometry import Array, Pose, Rotation, frozen
from handiwork_core.model.world import Shape, ShapeKind
from handiwork_core.scene.mesh import closed_mesh
from moveit_facade.model.error_codes import ErrorCode, RequestError

PLANE_EDGE_M, PLANE_DEPTH_M = 10.0, 0.1
"""Edge and depth of the box that stands for a plane, m."""
CORNERS = 24
"""Corners of the base of a cone."""
LARGEST_M = 1000.0
"""Greatest dimension of a primitive, m."""


class Primitive(IntEnum):
    """The kinds of ``shape_msgs/msg/SolidPrimitive``."""

    BOX = 1
    SPHERE = 2
    CYLINDER = 3
    CONE = 4
    PRISM = 5


COUNTS = {
    Primitive.BOX: 3,
    Primitive.SPHERE: 1,
    Primitive.CYLINDER: 2,
    Primitive.CONE: 2,
    Primitive.PRISM: 1,
}
"""Numbers of dimensions by kind."""


def solid(kind: int, dimensions: Sequence[float], pose: Pose, polygon: ArrayLike, field: str) -> Shape:
    """Return the shape of a primitive.

    Args:
        kind: A value of ``Primitive``.
        dimensions: As in ``SolidPrimitive``: BOX x y z; SPHERE radius; CYLINDER and CONE height, radius; PRISM
            height [m].
        pose: Its pose in the object.
        polygon: PRISM: corners of the base, (n, 3), m; others: empty.
        field: Name of the field in errors.

    Raises:
        RequestError: The kind is unknown, or a dimension is missing or out of its range.
    """
    if kind not in COUNTS:
        text = f"{field}.type is {kind}; send 1 box, 2 sphere, 3 cylinder, 4 cone or 5 prism"
        raise RequestError(ErrorCode.INVALID_OBJECT_NAME, text)
    kind = Primitive(kind)
    if len(dimensions) < COUNTS[kind] or not all(0.0 < d <= LARGEST_M for d in dimensions[: COUNTS[kind]]):
        text = (
            f"{field}.dimensions are {list(dimensions)}; a {kind.name.lower()} has {COUNTS[kind]} "
            f"above 0 and at most {LARGEST_M:g} m"
        )
        raise RequestError(ErrorCode.INVALID_OBJECT_NAME, text)
    if kind is Primitive.BOX:
        return Shape(ShapeKind.BOX, frozen(dimensions[:3]), pose)
    if kind is Primitive.SPHERE:
        return Shape(ShapeKind.SPHERE, frozen(dimensions[:1]), pose)
    if kind is Primitive.CYLINDER:
        height, radius = dimensions[:2]
        return Shape(ShapeKind.CYLINDER, frozen((radius, height)), pose)
    points = _cone(*dimensions[:2]) if kind is Primitive.CONE else _prism(dimensions[0], polygon, field)
    return Shape(ShapeKind.CONVEX, frozen(()), pose, frozen(points))


def mesh_shape(vertices: ArrayLike, triangles: ArrayLike, pose: Pose, field: str) -> tuple[Shape, str]:
    """Return the shape of a mesh: the mesh itself if it closes a solid, else its convex hull.

    Args:
        vertices: Vertices, (n, 3), m.
        triangles: Indices of corners, (m, 3).
        pose: Its pose in the object.
        field: Name of the field in errors.

    Returns:
        The shape, and a sentence if the hull is used, else an empty text.

    Raises:
        RequestError: There are fewer than four vertices, or a number is not finite.
    """
    points = np.asarray(vertices, dtype=np.float64).reshape(-1, 3)
    if len(points) < 4 or not np.isfinite(points).all():
        text = f"{field} has {len(points)} vertices, or some that are not finite; send at least 4 finite ones"
        raise RequestError(ErrorCode.INVALID_OBJECT_NAME, text)
    try:
        closed, corners = closed_mesh(points, np.asarray(triangles, dtype=np.int64).reshape(-1, 3))
    except ValueError as error:
        if np.linalg.matrix_rank(points - points[0], tol=1e-6) < 3:
            raise RequestError(ErrorCode.INVALID_OBJECT_NAME, f"{field} is flat; send a solid") from error
        note = f"{field} {error}; its convex hull is the obstacle"
        return Shape(ShapeKind.CONVEX, frozen(()), pose, frozen(np.unique(points, axis=0))), note
    return Shape(ShapeKind.MESH, frozen(()), pose, closed, corners), ""


def plane_shape(coefficients: Sequence[float], pose: Pose, field: str) -> Shape:
    """Return the box that stands for a plane: its upper face lies in the plane, below the end of the normal.

    Args:
        coefficients: a, b, c, d of ``a x + b y + c z + d = 0``.
        pose: Pose of the plane's frame in the object.
        field: Name of the field in errors.

    Raises:
        RequestError: The normal is zero, or a number is not finite.
    """
    normal, offset = np.array(coefficients[:3], dtype=np.float64), float(coefficients[3])
    length = float(np.linalg.norm(normal))
    if not (np.isfinite(length) and length > 1e-9 and np.isfinite(offset)):
        text = f"{field}.coef is {list(coefficients)}; send a normal that is not zero, and finite numbers"
        raise RequestError(ErrorCode.INVALID_OBJECT_NAME, text)
    normal = normal / length
    helper = np.eye(3)[int(np.argmin(np.abs(normal)))]
    x = np.cross(helper, normal)
    x /= np.linalg.norm(x)
    turn = Rotation.from_matrix(np.column_stack((x, np.cross(normal, x), normal)))
    middle = normal * (-offset / length - 0.5 * PLANE_DEPTH_M)
    size = frozen((PLANE_EDGE_M, PLANE_EDGE_M, PLANE_DEPTH_M))
    return Shape(ShapeKind.BOX, size, pose @ Pose.of(middle, turn))


def _cone(height: float, radius: float) -> Array:
    angles = np.linspace(0.0, 2.0 * np.pi, CORNERS, endpoint=False)
    outer = radius / np.cos(np.pi / CORNERS)  # around the circle, so that nothing of the cone is left out
    base = np.column_stack((outer * np.cos(angles), outer * np.sin(angles), np.full(CORNERS, -0.5 * height)))
    return np.vstack((base, [[0.0, 0.0, 0.5 * height]]))


def _prism(height: float, polygon: ArrayLike, field: str) -> Array:
    corners = np.asarray(polygon, dtype=np.float64).reshape(-1, 3)[:, :2]
    if len(corners) < 3 or not np.isfinite(corners).all():
        text = f"{field}.polygon has {len(corners)} corners; a prism has at least 3 finite ones"
        raise RequestError(ErrorCode.INVALID_OBJECT_NAME, text)
    half = np.full((len(corners), 1), 0.5 * height)
    return np.vstack((np.hstack((corners, -half)), np.hstack((corners, half))))
