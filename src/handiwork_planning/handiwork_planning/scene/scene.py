"""The packed world: rebuilt when its geometry changes, moved in place when only poses do."""

from __future__ import annotations

from operator import is_

import numpy as np

from handiwork_core.model.world import World, WorldObject
from handiwork_planning.kernels.arrays import SceneArrays

from .shape_packing import NO_ROWS, Packed, Packer
from .shape_poses import Placing


class CollisionScene:
    """The world as arrays for the kernels.

    ``arrays`` has the shapes, ``names`` (m,) the object of each shape.
    """

    def __init__(self) -> None:
        self.world = World(0.0)
        self.names: tuple[str, ...] = ()
        self.arrays = _joined([])
        self._packer = Packer()
        self._placing = Placing((), [], np.zeros((0, 12)))
        self._objects: list[WorldObject] = []

    def update(self, world: World) -> None:
        """Take a snapshot. Objects without a known pose are left out: nothing can be said about them.

        Args:
            world: Objects and their states.
        """
        states = world.states
        objects = [o for name, o in world.objects.items() if name in states]
        if len(objects) != len(self._objects) or not all(map(is_, objects, self._objects)):
            self._rebuild(objects)
        self.world = world
        self._placing.move(states, self.arrays.pose)

    def _rebuild(self, objects: list[WorldObject]) -> None:
        packed = self._packer.pack([shape for o in objects for shape in o.shapes])
        self.names = tuple(o.name for o in objects for _ in o.shapes)
        local = np.array([p.centre for p in packed]).reshape(-1, 12)
        self._placing = Placing(tuple(o.name for o in objects), [len(o.shapes) for o in objects], local)
        self.arrays, self._objects = _joined(packed), objects


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
    )
