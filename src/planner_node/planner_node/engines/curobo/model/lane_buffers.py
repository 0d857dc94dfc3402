"""The GPU's copies of the spheres and obstacles of all lanes of a batch: filled on the CPU, sent in one copy each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from handiwork_core.model.geometry import Array
from planner_node.engines.curobo.device.cuda import Cuda

from .buffers import FieldBuffer
from .scene_rows import Rows, SolidMesh

MESHES_KEPT = 1024
"""Meshes that stay on the GPU while no lane uses them."""


@dataclass(frozen=True, slots=True, eq=False)
class LaneScene:
    """What one lane is given.

    Attributes:
        lane: Index of the problem on the GPU.
        links: Names of the links with spheres.
        spheres: Centres and radii in the links' frames, link after link, (s, 4), m.
        rows: The obstacles.
    """

    lane: int
    links: tuple[str, ...]
    spheres: Array
    rows: Rows

    @classmethod
    def of(cls, lane: int, spheres: Mapping[str, Array], rows: Rows) -> LaneScene:
        """Return a lane's scene with the spheres of all links in one array.

        Args:
            lane: Index of the problem on the GPU.
            spheres: Link -> centres and radii in the link's frame, (s, 4), m.
            rows: The obstacles.
        """
        return cls(lane, tuple(spheres), np.concatenate(list(spheres.values())), rows)


class LaneSpheres:
    """The arm's spheres in link frames, for all lanes.

    Args:
        cuda: The loaded libraries.
        params: cuRobo's kinematics parameters, which hold the spheres.
    """

    def __init__(self, cuda: Cuda, params: Any) -> None:  # noqa: ANN401
        self._cuda, self._params = cuda, params
        self._now = params.link_spheres.cpu().numpy().copy()
        self._places: dict[tuple[str, ...], Array] = {}

    def write(self, scenes: Sequence[LaneScene]) -> None:
        """Copy the spheres of some lanes to the GPU; those of the others stay.

        Args:
            scenes: What the lanes are given.
        """
        for scene in scenes:
            if scene.links not in self._places:
                rows = [self._params.get_sphere_index_from_link_name(link) for link in scene.links]
                self._places[scene.links] = np.concatenate([row.cpu().numpy() for row in rows])
            self._now[scene.lane, self._places[scene.links]] = scene.spheres
        self._params.link_spheres.copy_(self._cuda.device.to_device(self._now))


class LaneWorlds:
    """Boxes, meshes and voxel grids of the worlds of all lanes.

    Args:
        cuda: The loaded libraries.
        data: cuRobo's scene data.
    """

    def __init__(self, cuda: Cuda, data: Any) -> None:  # noqa: ANN401
        self._cuda, self._data = cuda, data
        self._boxes, self._solids = _Host(cuda, data.cuboids), _Host(cuda, data.meshes)
        self._ids = data.meshes.mesh_ids.cpu().numpy().copy()
        self._fields = FieldBuffer(cuda, data.voxels, len(self._ids))
        self._used: dict[int, tuple[str, ...]] = {}
        self._known: dict[str, Any] = {}
        """Key -> mesh on the GPU; those that were used last come last."""

    def write(self, scenes: Sequence[LaneScene]) -> None:
        """Copy the obstacles of some lanes to the GPU; those of the others stay.

        Args:
            scenes: What the lanes are given; there must be room for their obstacles.
        """
        for scene in scenes:
            lane, rows = scene.lane, scene.rows
            self._boxes.fill(lane, rows.boxes, rows.box_poses, rows.box_on)
            sizes = np.array([np.ptp(solid.vertices, axis=0) for solid in rows.solids]).reshape(-1, 3)
            self._solids.fill(lane, sizes, rows.solid_poses, rows.solid_on)
            self._ids[lane, : len(rows.solids)] = [self._id(solid) for solid in rows.solids]
            self._used[lane] = tuple(solid.key for solid in rows.solids)
            self._fields.write(lane, rows)
        self._boxes.send()
        self._solids.send()
        meshes = self._data.meshes
        meshes.mesh_ids.copy_(self._cuda.torch.as_tensor(self._ids))
        self._forget()

    def _id(self, solid: SolidMesh) -> int:
        """Return the number of a mesh on the GPU. cuRobo's own loader takes twice as long, for sizes and names."""
        mesh = self._known.pop(solid.key, None)
        if mesh is None:
            warp, device = self._cuda.warp, self._data.meshes._wp_device
            points = warp.array(solid.vertices.astype(np.float32), dtype=warp.vec3, device=device)
            corners = warp.array(solid.triangles.astype(np.int32).ravel(), dtype=int, device=device)
            mesh = warp.Mesh(points=points, indices=corners, bvh_constructor="sah")
        self._known[solid.key] = mesh
        return int(mesh.id)

    def _forget(self) -> None:
        """Free the meshes that were used longest ago and that no lane uses, but for MESHES_KEPT."""
        used = {key for keys in self._used.values() for key in keys}
        unused = [key for key in self._known if key not in used]
        for key in unused[: max(0, len(unused) - MESHES_KEPT)]:
            del self._known[key]


class _Host:
    """Sizes, poses and switches of one kind of obstacle on the CPU, and the GPU's arrays of the same shapes."""

    def __init__(self, cuda: Cuda, store: Any) -> None:  # noqa: ANN401
        self._cuda, self._store = cuda, store
        self._dims = store.dims.cpu().numpy().copy()
        self._poses = store.inv_pose.cpu().numpy().copy()
        self._on = store.enable.cpu().numpy().copy()
        self._count = store.count.cpu().numpy().copy()

    def fill(self, lane: int, sizes: Array, poses: Array, on: Array) -> None:
        """Store the obstacles of a lane.

        Args:
            lane: Index of the problem.
            sizes: Edge lengths, (k, 3), m.
            poses: shape_T_base, (k, 7): x, y, z in m and wxyz.
            on: Whether each is an obstacle, (k,).
        """
        count = len(sizes)
        self._dims[lane, :count, :3], self._poses[lane, :count, :7] = sizes, poses
        self._on[lane], self._count[lane] = 0, count
        self._on[lane, :count] = on

    def send(self) -> None:
        """Copy everything to the GPU."""
        torch, store = self._cuda.torch, self._store
        for host, there in (
            (self._dims, store.dims),
            (self._poses, store.inv_pose),
            (self._on, store.enable),
            (self._count, store.count),
        ):
            there.copy_(torch.as_tensor(host))
