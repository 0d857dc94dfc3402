"""Shapes as rows of numbers, each packed once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import Shape, ShapeKind
from handiwork_planning.distance.convex_hulls import triangulate
from handiwork_planning.distance.mesh_bvh import tree_of
from handiwork_planning.kernels.arrays import flat

NO_ROWS = (np.zeros((0, 13)), np.zeros((0, 8)), np.zeros((0, 31)))
"""``triangles``, ``mesh_nodes`` and ``mesh_faces`` of a shape that has none."""


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """The rows of one shape in ``SceneArrays``.

    Attributes:
        kind: ShapeKind.
        centre: Frame of the shape in its object, (12,), moved to the shape's middle.
        size: As ``SceneArrays.size``, (3,), m.
        bound: Radius of a ball around the shape's origin, m.
        rows: ``triangles``, ``mesh_nodes`` and ``mesh_faces``.
    """

    kind: int
    centre: Array
    size: Array
    bound: float
    rows: tuple[Array, Array, Array]


class Packer:
    """Remembers the shapes of the last scene by identity, and rows made of vertices by content."""

    def __init__(self) -> None:
        self._shapes: dict[int, tuple[Shape, Packed]] = {}
        self._rows: dict[tuple[bytes, bytes], tuple[Array, Array, Array]] = {}

    def pack(self, shapes: list[Shape]) -> list[Packed]:
        """Return one ``Packed`` per shape; shapes of the last scene that this one lacks are dropped.

        Args:
            shapes: All shapes of the scene, in order.

        Raises:
            ValueError: a convex shape has no volume.
        """
        packed = [
            known[1] if (known := self._shapes.get(id(shape))) else self._fresh(shape) for shape in shapes
        ]
        self._shapes = {id(s): (s, p) for s, p in zip(shapes, packed, strict=True)}
        used = {id(p.rows) for p in packed}
        self._rows = {key: rows for key, rows in self._rows.items() if id(rows) in used}
        return packed

    def _fresh(self, shape: Shape) -> Packed:
        if shape.vertices is None:
            size = half_size(shape)
            bound = float(size[0] + size[1] if shape.kind is ShapeKind.CAPSULE else np.linalg.norm(size))
            return Packed(int(shape.kind), flat(shape.object_T_shape), size, bound, NO_ROWS)
        middle = 0.5 * (shape.vertices.min(axis=0) + shape.vertices.max(axis=0))
        vertices = shape.vertices - middle
        key = (vertices.tobytes(), b"" if shape.triangles is None else shape.triangles.tobytes())
        if key not in self._rows:
            self._rows[key] = _rows(vertices, shape)
        bound = float(np.linalg.norm(vertices, axis=1).max())
        centre = flat(shape.object_T_shape @ Pose.of(middle))
        return Packed(int(shape.kind), centre, np.zeros(3), bound, self._rows[key])


def half_size(shape: Shape) -> Array:
    """Return the size (3,) as ``SceneArrays.size`` holds it, m.

    Args:
        shape: A shape without vertices.
    """
    out = np.zeros(3)
    if shape.kind is ShapeKind.BOX:
        out[:] = 0.5 * shape.size
    elif shape.kind is ShapeKind.SPHERE:
        out[0] = shape.size[0]
    else:
        out[:2] = shape.size[0], 0.5 * shape.size[1]
    return out


def _rows(vertices: Array, shape: Shape) -> tuple[Array, Array, Array]:
    """Return the rows of a CONVEX or MESH shape whose ``vertices`` (n, 3) are about its middle, m."""
    if shape.kind is ShapeKind.CONVEX:
        return triangulate(vertices), NO_ROWS[1], NO_ROWS[2]
    assert shape.triangles is not None
    return NO_ROWS[0], *tree_of(vertices, shape.triangles)
