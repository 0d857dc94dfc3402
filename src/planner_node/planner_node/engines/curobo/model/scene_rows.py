"""Our world as cuRobo's boxes, meshes and voxel grid in the robot's base frame: only changes are sent."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.world import (
    Indices,
    Shape,
    ShapeKind,
    World,
)
from handiwork_core.voxels.voxel_map import UNMODELLED
from handiwork_planning.distance.voxel_field import Field
from handiwork_planning.scene.scene import CollisionScene

from .field_rows import FieldRows, field_rows
from .solids import mesh_of

Flags = NDArray[np.bool_]
_GEOMETRIES = itertools.count(1)
"""Numbers of geometries. No two conversions have the same one, so that lanes of a batch may change theirs."""


@dataclass(frozen=True, slots=True, eq=False)
class SolidMesh:
    """A mesh whose key is a digest of its content.

    Attributes:
        key: The first 16 digits of the digest.
        vertices: Corners in the shape's frame, (n, 3), m.
        triangles: Indices of corners, (m, 3).
    """

    key: str
    vertices: Array
    triangles: Indices


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The obstacles for cuRobo: which of them are on, and their poses.

    Attributes:
        geometry: Number of these boxes and solids; others have another one.
        boxes: Full edge lengths of the boxes, (b, 3), m.
        solids: The meshes.
        box_poses: shape_T_base of the boxes as x, y, z in m and wxyz, (b, 7).
        solid_poses: shape_T_base of the meshes, (s, 7).
        box_on: Whether each box is an obstacle, (b,).
        solid_on: Whether each mesh is an obstacle, (s,).
        field: Distances to what nobody modelled; None when nothing was measured.
        field_on: Whether it is an obstacle.
    """

    geometry: int
    boxes: Array
    solids: tuple[SolidMesh, ...]
    box_poses: Array
    solid_poses: Array
    box_on: Flags
    solid_on: Flags
    field: FieldRows | None = None
    field_on: bool = False

    @property
    def cells(self) -> int:
        """Number of cells of the voxel grid; 0 when there is none."""
        return 0 if self.field is None else self.field.values.size

    def equals(self, other: Rows) -> bool:
        """Check whether both have the same obstacles at the same poses.

        Args:
            other: The other obstacles.
        """
        names = ("box_poses", "solid_poses", "box_on", "solid_on")
        same = self.geometry == other.geometry and self.field is other.field
        return (
            same
            and self.field_on == other.field_on
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)
        )


class SceneRows:
    """Converts worlds to rows, and keeps what the last conversion made.

    Args:
        world_T_base: The robot's base in the world.
    """

    def __init__(self, world_T_base: Pose) -> None:
        self._world_T_base = world_T_base
        self._shapes: list[Shape] = []
        self._solids: dict[int, tuple[Shape, SolidMesh]] = {}
        self._is_box: Flags = np.zeros(0, dtype=bool)
        self._boxes: Array = np.zeros((0, 3))
        self._made: tuple[SolidMesh, ...] = ()
        self._at: Array = np.zeros((0, 12))
        self._poses: Array = np.zeros((0, 7))
        self._geometry = 0
        self._field: tuple[Field, FieldRows] | None = None
        self._last: Rows | None = None

    def read(self, scene: CollisionScene, world: World, off: set[str]) -> Rows:
        """Convert a world.

        Args:
            scene: The same world in packed form.
            world: The world.
            off: Names of objects that are switched off.

        Returns:
            The obstacles; the same as at the last call when nothing has changed.
        """
        objects = [o for name, o in world.objects.items() if name in world.states]
        shapes = [shape for o in objects for shape in o.shapes]
        if len(shapes) != len(self._shapes) or any(
            a is not b for a, b in zip(shapes, self._shapes, strict=True)
        ):
            self._rebuild(shapes)
        # Obstacles that nobody modelled are one shape more, the last.
        self._place(scene.arrays.pose[: len(shapes)])
        on = np.array([name not in off for name in scene.names[: len(shapes)]], dtype=bool)
        box = self._is_box
        now = Rows(
            self._geometry,
            self._boxes,
            self._made,
            self._poses[box],
            self._poses[~box],
            on[box],
            on[~box],
            self._measured(scene, world),
            UNMODELLED not in off,
        )
        if self._last is None or not now.equals(self._last):
            self._last = now
        return self._last

    def _measured(self, scene: CollisionScene, world: World) -> FieldRows | None:
        if world.voxels is None:
            self._field = None
            return None
        field = scene.arrays.field
        if self._field is None or self._field[0] is not field:
            self._field = (field, field_rows(field, scene.arrays.field_frame, self._world_T_base))
        return self._field[1]

    def _rebuild(self, shapes: list[Shape]) -> None:
        self._geometry = next(_GEOMETRIES)
        self._shapes = shapes
        self._is_box = np.array([s.kind is ShapeKind.BOX for s in shapes], dtype=bool)
        self._boxes = np.array([s.size for s in shapes if s.kind is ShapeKind.BOX]).reshape(-1, 3)
        others = [s for s in shapes if s.kind is not ShapeKind.BOX]
        made = [known[1] if (known := self._solids.get(id(s))) else _solid(s) for s in others]
        self._solids = {id(s): (s, solid) for s, solid in zip(others, made, strict=True)}
        self._made = tuple(made)
        self._at = np.full((len(shapes), 12), np.nan)
        self._poses = np.zeros((len(shapes), 7))

    def _place(self, poses: Array) -> None:
        """Store ``poses`` (m, 12), world_T_shape. Only those that changed are converted to quaternions."""
        for i in np.flatnonzero((self._at != poses).any(axis=1)):
            rotation = Rotation.from_matrix(poses[i, :9].reshape(3, 3))
            there = Pose.of(poses[i, 9:], rotation).inverse() @ self._world_T_base
            self._poses[i] = (*there.translation_m, *there.rotation.wxyz)
        self._at = poses.copy()


def _solid(shape: Shape) -> SolidMesh:
    vertices, triangles = mesh_of(shape)
    digest = hashlib.sha1(
        np.ascontiguousarray(vertices).tobytes() + triangles.tobytes(), usedforsecurity=False
    )
    return SolidMesh(digest.hexdigest()[:16], vertices, triangles)
