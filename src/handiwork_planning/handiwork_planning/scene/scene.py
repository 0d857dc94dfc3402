"""The packed world: rebuilt when its geometry changes, moved in place when only poses do."""

from __future__ import annotations

from operator import is_

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.world import World, WorldObject
from handiwork_core.voxels.voxel_map import UNMODELLED, VoxelMap
from handiwork_planning.distance.voxel_field import NO_FIELD, Field, field_of, frame_of
from handiwork_planning.kernels.arrays import FIELD, SceneArrays

from .shape_packing import NO_ROWS, Packed, Packer
from .shape_poses import Placing


class CollisionScene:
    """The world as arrays for the kernels.

    ``arrays`` has the shapes, ``names`` (m,) the object of each shape. Obstacles that nobody modelled are one shape,
    the last, with the name UNMODELLED.
    """

    def __init__(self) -> None:
        self.world = World(0.0)
        self.names: tuple[str, ...] = ()
        self.arrays = _joined([])
        self._packer = Packer()
        self._placing = Placing((), [], np.zeros((0, 12)))
        self._objects: list[WorldObject] = []
        self._voxels: VoxelMap | None = None

    def update(self, world: World) -> None:
        """Take a snapshot. Objects without a known pose are left out: nothing can be said about them.

        Args:
            world: Objects and their states.
        """
        states = world.states
        objects = [o for name, o in world.objects.items() if name in states]
        same = len(objects) == len(self._objects) and all(map(is_, objects, self._objects))
        if not same or world.voxels is not self._voxels:
            self._rebuild(objects, world.voxels)
        self.world = world
        self._placing.move(states, self.arrays.pose)

    def _rebuild(self, objects: list[WorldObject], voxels: VoxelMap | None) -> None:
        packed = self._packer.pack([shape for o in objects for shape in o.shapes])
        self.names = tuple(o.name for o in objects for _ in o.shapes)
        local = np.array([p.centre for p in packed]).reshape(-1, 12)
        self._placing = Placing(tuple(o.name for o in objects), [len(o.shapes) for o in objects], local)
        arrays = _joined(packed)
        if voxels is not None:
            known = (self.arrays.field, self.arrays.field_frame)
            field = known if voxels is self._voxels else (field_of(voxels), frame_of(voxels))
            arrays = _with_field(arrays, voxels, *field)
            self.names = (*self.names, UNMODELLED)
        self.arrays, self._objects, self._voxels = arrays, objects, voxels


def _joined(packed: list[Packed]) -> SceneArrays:
    """Return the packed shapes one after the other; their poses are not set yet."""
    starts = np.cumsum([[0, 0, 0], *([len(part) for part in p.rows] for p in packed)], axis=0, dtype=np.int64)
    triangles, nodes, faces = (np.concatenate([NO_ROWS[i], *(p.rows[i] for p in packed)]) for i in range(3))
    return SceneArrays(
        kind=np.array([p.kind for p in packed], dtype=np.int64),
        pose=np.zeros((len(packed), 12)),
        size=np.array([p.size for p in packed]).reshape(-1, 3),
        bound=np.array([p.bound for p in packed], dtype=np.float64),
        triangle_start=starts[:, 0].copy(),
        triangles=triangles,
        mesh_start=starts[:, 1:].copy(),
        mesh_nodes=nodes,
        mesh_faces=faces,
        field=NO_FIELD,
        field_frame=np.ones(4),
    )


def _with_field(arrays: SceneArrays, voxels: VoxelMap, field: Field, frame: Array) -> SceneArrays:
    """Return the shapes with one more, which is all occupied cells; its size is that of the box around them."""
    corners = voxels.corners()
    if not len(corners[0]):
        corners = (voxels.grid.first_m[None], voxels.grid.first_m[None])
    low, high = corners[0].min(axis=0), corners[1].max(axis=0)
    half = 0.5 * (high - low)
    pose = np.concatenate([np.eye(3).ravel(), low + half])
    return arrays._replace(
        kind=np.append(arrays.kind, FIELD),
        pose=np.vstack([arrays.pose, pose]),
        size=np.vstack([arrays.size, half]),
        bound=np.append(arrays.bound, np.linalg.norm(half)),
        triangle_start=np.append(arrays.triangle_start, arrays.triangle_start[-1]),
        mesh_start=np.vstack([arrays.mesh_start, arrays.mesh_start[-1]]),
        field=field,
        field_frame=frame,
    )
