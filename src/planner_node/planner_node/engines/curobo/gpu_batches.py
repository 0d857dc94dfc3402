"""The GPU's solvers for many plans and many configurations, built when they are first needed."""

from __future__ import annotations

import numpy as np

from handiwork_core.contracts.planning import SceneQuery
from handiwork_core.robot.robot import ArmSpec

from .batch_core import BatchCore, lanes_for
from .device.cuda import Cuda
from .gpu_core import GpuCore
from .model.bounding_spheres import BoundingSpheres
from .model.buffers import BufferSizes
from .model.scene_rows import Rows, SceneRows
from .model.spheres import objects_off
from .solvers.configurations import ConfigurationSolvers
from .sphere_set import SphereSet

LEAST_PLANS = 16
"""Fewer requests are planned one after the other."""


class GpuBatches:
    """Batches in the world of an engine; for the engine's thread.

    Args:
        core: The engine's core, whose world they use.
        cuda: The loaded libraries.
    """

    def __init__(self, core: GpuCore, cuda: Cuda) -> None:
        self._core, self._cuda = core, cuda
        self._rows = SceneRows(core.world_T_root)
        self._fine = SphereSet(core.robot, core.world_T_root, is_fine=True)
        self._planner: BatchCore | None = None
        self._configurations: dict[str, ConfigurationSolvers] = {}
        self._bounds: dict[str, BoundingSpheres] = {}

    def planner(self, count: int) -> BatchCore | None:
        """Return the planner of a batch. It stays until a larger batch needs more lanes.

        Args:
            count: Number of requests.

        Returns:
            The planner; None when the requests are to be planned in turn.
        """
        if count < LEAST_PLANS or self._core.is_building:
            return None
        coarse, _ = self._core.sphere_counts
        lanes = lanes_for(count, coarse, BufferSizes.of(self._now(SceneQuery())))
        if not lanes:
            return None
        if self._planner is None or self._planner.lanes < lanes:
            if self._planner is not None:
                self._planner.close()
            self._planner = BatchCore(self._core.robot, self._core.world_T_root, self._cuda, lanes)
        return self._planner

    def configurations(self, name: str, scene: SceneQuery) -> ConfigurationSolvers:
        """Return the checks and inverse kinematics of an arm, in the present world.

        Args:
            name: Name of the arm.
            scene: The interpretation of the world.

        Raises:
            Failed: There is no such arm, or the scene names something unknown.
            EngineLost: The GPU failed.
        """
        arm, rows = self._core.arm(name), self._now(scene)
        made = self._configurations.get(arm.name)
        if made is None or not made.room.holds(rows):
            if made is not None:
                made.close()
            made = self._opened(arm, BufferSizes.of(rows))
        nowhere = np.zeros((0, len(arm.joint_names)))
        fine = self._fine.rows(arm, scene, self._core.scene, nowhere)
        made.update(fine, self._bounds[arm.name].rows(fine), rows)
        return made

    def close(self) -> None:
        """Free the GPU."""
        if self._planner is not None:
            self._planner.close()
        for made in self._configurations.values():
            made.close()
        self._planner = None
        self._configurations.clear()

    def _now(self, scene: SceneQuery) -> Rows:
        world = self._core.scene.world
        return self._rows.read(self._core.scene, world, objects_off(scene, world))

    def _opened(self, arm: ArmSpec, room: BufferSizes) -> ConfigurationSolvers:
        if arm.name not in self._bounds:
            self._bounds[arm.name] = BoundingSpheres(self._fine.robot, arm)
        with self._fine.config(arm) as config, self._bounds[arm.name].config() as bounds:
            made = ConfigurationSolvers(self._cuda, config, bounds, arm.joint_names, room)
        self._configurations[arm.name] = made
        return made
