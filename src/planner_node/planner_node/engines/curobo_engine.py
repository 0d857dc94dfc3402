"""Planning on a GPU with cuRobo, judged by the CPU engine's checks."""

from __future__ import annotations

from typing import ClassVar

from handiwork_core.contracts.planning import Capability, Report
from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot
from handiwork_planning.cpu_engine import CpuEngine


class CuroboEngine(CpuEngine):
    """Free motions by cuRobo v2 (NVlabs/curobo, Apache-2.0); needs an NVIDIA GPU, torch and cuRobo.

    The CPU engine finds goal configurations, candidates and straight lines, in less time than one GPU call takes. All
    results have passed the CPU engine's checks, whose texts also explain failures. Torch and cuRobo are imported when
    it is created.

    A GPU that fails raises ``fallback_engine.EngineLost``: wrap this engine in ``FallbackEngine``.

    Args:
        robot: The robot.
        world_T_base: The robot's base in the world.
        report: Receives the progress.
    """

    name: ClassVar[str] = "curobo"
    capabilities: ClassVar[frozenset[Capability]] = frozenset(Capability) - {Capability.VOXELS}
    is_seeded: ClassVar[bool] = False

    def __init__(self, robot: Robot, world_T_base: Pose, report: Report) -> None:
        super().__init__(robot, world_T_base, lambda share, text: report(0.2 * share, text))
        report(0.2, "importing torch and cuRobo")
        from .curobo.device.cuda import load
        from .curobo.gpu_core import GpuCore

        self._gpu = GpuCore(
            robot,
            world_T_base,
            load(),
            lambda share, text: report(0.25 + 0.75 * share, text),
            is_seeded=self.is_seeded,
        )
        self._core = self._gpu
        report(1.0, "ready")

    @classmethod
    def why_not(cls) -> str:
        """Return the reason why this engine cannot run here; see ``Engine.why_not``."""
        from .curobo.device.availability import why_absent

        return why_absent()

    def update_world(self, world: World) -> None:
        """Take a new snapshot and send it to the GPU; see ``Engine.update_world``.

        Args:
            world: The snapshot.
        """
        super().update_world(world)
        self._gpu.prepare_world()

    def close(self) -> None:
        """Free the GPU."""
        self._gpu.close()


class SeededCuroboEngine(CuroboEngine):
    """cuRobo with the CPU engine's path among its first seeds."""

    name: ClassVar[str] = "curobo_seeded"
    is_seeded: ClassVar[bool] = True
