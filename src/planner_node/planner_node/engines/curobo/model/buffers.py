"""The GPU's copies of spheres and obstacles, written in place so that recorded CUDA graphs read the new values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from handiwork_core.model.geometry import Array
from planner_node.engines.curobo.device.cuda import Cuda

from .field_rows import FieldRows
from .scene_rows import Rows

STILL = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]


UNUSED_MOST = 8
"""So many places more than needed are kept: what they cost is less than to build the solvers again."""


@dataclass(frozen=True, slots=True)
class BufferSizes:
    """The numbers of solids that fit. Every place costs time, also an empty one: cuRobo's kernels read each.

    Attributes:
        boxes: Places for boxes.
        solids: Places for meshes.
        cells: Cells of the voxel grid; 0 for none.
    """

    boxes: int = 8
    solids: int = 1
    cells: int = 0

    @classmethod
    def of(cls, rows: Rows) -> BufferSizes:
        """Return a room for ``rows`` and one more of each kind.

        Args:
            rows: The obstacles.
        """
        return cls(len(rows.boxes) + 1, len(rows.solids) + 1, rows.cells)

    @property
    def cache(self) -> dict[str, Any]:
        """The setting of this name of cuRobo; the shape of its voxel grid is written with each field."""
        cache: dict[str, Any] = {"cuboid": self.boxes, "mesh": self.solids}
        if self.cells:
            cache["voxel"] = {"layers": 1, "dims": [float(self.cells), 1.0, 1.0], "voxel_size": 1.0}
        return cache

    def holds(self, rows: Rows) -> bool:
        """Check whether ``rows`` fit.

        Args:
            rows: The obstacles.
        """
        fit = len(rows.boxes) <= self.boxes and len(rows.solids) <= self.solids
        return fit and rows.cells <= self.cells

    def wastes(self, rows: Rows) -> bool:
        """Check whether a room made for ``rows`` would have fewer places by more than UNUSED_MOST.

        Args:
            rows: The obstacles.
        """
        exact = BufferSizes.of(rows)
        return self.boxes + self.solids - exact.boxes - exact.solids > UNUSED_MOST

    def for_rows(self, rows: Rows) -> BufferSizes:
        """Return a room in which ``rows`` fit.

        Args:
            rows: The obstacles.

        Returns:
            This room when they fit already, else one with a place more than they need, and none fewer than this.
        """
        if self.holds(rows):
            return self
        exact = BufferSizes.of(rows)
        return BufferSizes(
            max(self.boxes, exact.boxes), max(self.solids, exact.solids), max(self.cells, exact.cells)
        )


class SphereBuffer:
    """The arm's spheres in link frames, shared by all solvers.

    Args:
        cuda: The loaded libraries.
        params: cuRobo's kinematics parameters, which hold the spheres.
    """

    def __init__(self, cuda: Cuda, params: Any) -> None:  # noqa: ANN401
        self._cuda, self._params = cuda, params
        self._index: dict[str, Array] = {}
        self._now = params.link_spheres[0].cpu().numpy().copy()
        self._rows: Mapping[str, Array] | None = None

    def write(self, rows: Mapping[str, Array]) -> bool:
        """Copy the spheres to the GPU when they differ from those there.

        Args:
            rows: Link -> centres and radii in the link's frame, (s, 4), m.

        Returns:
            Whether something changed.
        """
        if rows is self._rows:
            return False
        self._rows, wanted = rows, self._now.copy()
        for link, spheres in rows.items():
            if link not in self._index:
                self._index[link] = self._params.get_sphere_index_from_link_name(link).cpu().numpy()
            wanted[self._index[link]] = spheres
        if np.array_equal(wanted, self._now):
            return False
        self._now = wanted
        self._params.link_spheres[0].copy_(self._cuda.device.to_device(wanted))
        return True


class FieldBuffer:
    """The voxel grid of each world.

    Args:
        cuda: The loaded libraries.
        store: cuRobo's voxel data; None when there is no room for a grid.
        lanes: Number of worlds.
    """

    def __init__(self, cuda: Cuda, store: Any, lanes: int = 1) -> None:  # noqa: ANN401
        self._cuda, self._store = cuda, store
        self._now: list[tuple[FieldRows | None, bool]] = [(None, False)] * lanes

    def write(self, lane: int, rows: Rows) -> bool:
        """Copy a world's field to the GPU when it differs from the one there.

        Args:
            lane: Index of the world.
            rows: The obstacles; there must be room for their field.

        Returns:
            Whether something changed.
        """
        before, wanted = self._now[lane], (rows.field, rows.field is not None and rows.field_on)
        if wanted == before:
            return False
        if rows.field is not None and rows.field is not before[0]:
            self._copy(lane, rows.field)
        if self._store is not None:
            self._store.enable[lane, 0] = int(wanted[1])
        self._now[lane] = wanted
        return True

    def forget(self) -> None:
        """Note that the GPU's copies were cleared."""
        self._now = [(None, False)] * len(self._now)

    def _copy(self, lane: int, field: FieldRows) -> None:
        torch, store, to = self._cuda.torch, self._store, self._cuda.device.to_device
        cells = np.array(field.values.shape)
        store.features[lane, 0, : field.values.size, 0].copy_(torch.from_numpy(field.values.ravel()))
        store.params[lane, 0].copy_(to(np.array([*cells, field.cell_m])))
        store.dims[lane, 0, :3] = to(cells * field.cell_m)
        store.inv_pose[lane, 0, :7] = to(field.pose)
        store.count[lane] = 1


class WorldBuffer:
    """Boxes, meshes and voxel grid of the only world.

    Args:
        cuda: The loaded libraries.
        data: cuRobo's scene data.
    """

    def __init__(self, cuda: Cuda, data: Any) -> None:  # noqa: ANN401
        self._cuda, self._data = cuda, data
        self._field = FieldBuffer(cuda, data.voxels)
        self._now: Rows | None = None

    def write(self, rows: Rows) -> bool:
        """Copy to the GPU what differs from the obstacles there.

        Args:
            rows: The obstacles; there must be room for them.

        Returns:
            Whether something changed.
        """
        before = self._now
        if rows is before:
            return False
        changed = before is None or before.geometry != rows.geometry
        if changed:
            self._now = None
            self._load(rows)
        for name in ("box_poses", "box_on", "solid_poses", "solid_on"):
            now = getattr(rows, name)
            if before is None or changed or not np.array_equal(now, getattr(before, name)):
                self._write(name, now)
                changed = True
        changed |= self._field.write(0, rows)
        self._now = rows
        return changed

    def _load(self, rows: Rows) -> None:
        self._data.clear(0)
        self._field.forget()
        boxes, meshes = self._data.cuboids, self._data.meshes
        count = len(rows.boxes)
        boxes.dims[0, :count, :3] = self._cuda.device.to_device(rows.boxes)
        boxes.count[0] = count
        boxes.names[0][:count] = [f"box{i}" for i in range(count)]
        used = {solid.key for solid in rows.solids} | {name for names in meshes.names for name in names}
        for key in [key for key in meshes.wp_cache if key not in used]:
            del meshes.wp_cache[key]
        if rows.solids:
            made = [
                self._cuda.Mesh(name=s.key, vertices=s.vertices, faces=s.triangles, pose=STILL)
                for s in rows.solids
            ]
            meshes.load_batch(made, 0)

    def _write(self, name: str, values: Array) -> None:
        store = self._data.cuboids if name.startswith("box") else self._data.meshes
        count = len(values)
        if name.endswith("poses"):
            store.inv_pose[0, :count, :7] = self._cuda.device.to_device(values)
        else:
            on = self._cuda.device.to_device(values.astype(float))
            store.enable[0, :count] = on.to(store.enable.dtype)
