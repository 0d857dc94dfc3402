"""The packed world: rebuilt when its geometry changes, moved in place when only poses do."""

from __future__ import annotations

import numpy as np

from handiwork_core.geometry import Array, Pose
from handiwork_core.world import Shape, ShapeKind, World, WorldObject

from .arrays import SceneArrays, flat
from .hulls import triangulate
from .mesh_tree import tree_of


class Scene:
    """``arrays`` for the kernels, ``names`` (m,) the object of each shape, ``version`` of the geometry."""

    def __init__(self) -> None:
        self.world = World(0.0)
        self.names: tuple[str, ...] = ()
        self.arrays = _pack([])
        self._local: list[Pose] = []
        self._seen: dict[str, int] = {}

    def update(self, world: World) -> None:
        """Take a snapshot. Objects without a known pose are left out: nothing can be said about them."""
        placed = {name: id(o) for name, o in world.objects.items() if name in world.states}
        if placed != self._seen:
            self._rebuild(world)
            self._seen = placed
        self.world = world
        for i, (name, local) in enumerate(zip(self.names, self._local, strict=True)):
            state = world.states[name].world_T_object
            rotation = state.rotation.matrix()
            row = self.arrays.pose[i]
            row[:9] = (rotation @ local.rotation.matrix()).ravel()
            row[9:] = rotation @ local.translation_m + state.translation_m

    def _rebuild(self, world: World) -> None:
        chosen: list[tuple[WorldObject, Shape]] = [
            (o, s) for name, o in world.objects.items() if name in world.states for s in o.shapes
        ]
        self.names = tuple(o.name for o, _ in chosen)
        shapes = [s for _, s in chosen]
        self._local = [_centre(s) for s in shapes]
        self.arrays = _pack(shapes)


def half_size(shape: Shape) -> Array:
    """(3,) as ``SceneArrays.size`` holds it."""
    out = np.zeros(3)
    if shape.kind is ShapeKind.BOX:
        out[:] = 0.5 * shape.size
    elif shape.kind is ShapeKind.SPHERE:
        out[0] = shape.size[0]
    elif shape.kind in (ShapeKind.CYLINDER, ShapeKind.CAPSULE):
        out[:2] = shape.size[0], 0.5 * shape.size[1]
    return out


def _centre(shape: Shape) -> Pose:
    """The shape's frame, moved to the middle of its vertices' box, if it has any: so its bounding ball is small."""
    if shape.vertices is None:
        return shape.object_T_shape
    return shape.object_T_shape @ Pose.of(_middle(shape.vertices))


def _middle(vertices: Array) -> Array:
    """(3,) of the axis-aligned box of ``vertices`` (n, 3)."""
    return np.asarray(0.5 * (vertices.min(axis=0) + vertices.max(axis=0)))


def _radius(shape: Shape, size: Array) -> float:
    if shape.kind is ShapeKind.CAPSULE:
        return float(size[0] + size[1])
    if shape.vertices is not None:
        return float(np.linalg.norm(shape.vertices - _middle(shape.vertices), axis=1).max())
    return float(np.linalg.norm(size))


def _pack(shapes: list[Shape]) -> SceneArrays:
    sizes, rows = [half_size(s) for s in shapes], [_triangles(s) for s in shapes]
    trees = [_tree(s) for s in shapes]
    counts = [len(r) for r in rows]
    sums = np.cumsum([[0, 0]] + [[len(nodes), len(faces)] for nodes, faces in trees], axis=0)
    return SceneArrays(
        kind=np.array([int(s.kind) for s in shapes], dtype=np.int64),
        pose=np.array([flat(s.object_T_shape) for s in shapes]).reshape(-1, 12),
        size=np.array(sizes).reshape(-1, 3),
        bound=np.array([_radius(s, h) for s, h in zip(shapes, sizes, strict=True)]),
        triangle_start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        triangles=np.ascontiguousarray(np.concatenate([np.zeros((0, 13)), *rows])),
        mesh_start=sums.astype(np.int64),
        mesh_nodes=np.ascontiguousarray(np.concatenate([np.zeros((0, 8)), *(nodes for nodes, _ in trees)])),
        mesh_faces=np.ascontiguousarray(np.concatenate([np.zeros((0, 31)), *(faces for _, faces in trees)])),
    )


def _tree(shape: Shape) -> tuple[Array, Array]:
    """``mesh_nodes`` and ``mesh_faces`` of one shape, MESH only."""
    if shape.kind is not ShapeKind.MESH:
        return np.zeros((0, 8)), np.zeros((0, 31))
    assert shape.vertices is not None
    assert shape.triangles is not None
    return tree_of(shape.vertices - _middle(shape.vertices), shape.triangles)


def _triangles(shape: Shape) -> Array:
    if shape.kind is not ShapeKind.CONVEX:
        return np.zeros((0, 13))
    assert shape.vertices is not None
    return triangulate(shape.vertices - _middle(shape.vertices))
