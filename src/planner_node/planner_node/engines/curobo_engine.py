"""Planning on a GPU with cuRobo, judged by the CPU engine's checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from handiwork_core.contracts.planning import (
    IkRequest,
    IkResult,
    PlanRequest,
    PlanResult,
    Report,
    SceneQuery,
    ShouldStop,
)
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot
from handiwork_planning.cpu_engine import CpuEngine
from handiwork_planning.process_pool import Problem


class CuroboEngine(CpuEngine):
    """Free motions by cuRobo v2 (NVlabs/curobo, Apache-2.0); needs an NVIDIA GPU, torch and cuRobo.

    The CPU engine finds goal configurations, candidates and straight lines, in less time than one GPU call takes. All
    results have passed the CPU engine's checks, whose texts also explain failures. Torch and cuRobo are imported when
    it is created. Batches of plans, and large ones of inverse kinematics, go to the GPU together.

    A GPU that fails raises ``fallback_engine.EngineLost``: wrap this engine in ``FallbackEngine``. So does a robot
    whose arms have joints that follow theirs by ``<mimic>``: how cuRobo moves these is not verified.

    Args:
        robot: The robot.
        world_T_base: The robot's base in the world.
        report: Receives the progress.
        builds_planners: Whether the solvers of plans are built at once, which takes seconds; False: at an arm's first
            plan, for a program that only asks for kinematics and checks.
    """

    name: ClassVar[str] = "curobo"
    is_seeded: ClassVar[bool] = False
    is_finetuned: ClassVar[bool] = False
    waits_for_builds: ClassVar[bool] = False
    """True where a request waits until solvers are built; else the CPU engine plans in the meantime."""

    def __init__(
        self, robot: Robot, world_T_base: Pose, report: Report, *, builds_planners: bool = True
    ) -> None:
        from .curobo.model.robot_config import check_followers

        check_followers(robot)
        super().__init__(robot, world_T_base, lambda share, text: report(0.2 * share, text))
        report(0.2, "compiling the last steps of inverse kinematics, and importing torch and cuRobo")
        from handiwork_planning.ik.finish import compile_finish

        from .curobo.device.cuda import load
        from .curobo.gpu_batches import GpuBatches
        from .curobo.gpu_core import GpuCore

        arm = next(iter(robot.arms.values()))
        compile_finish(self._core.read(arm, SceneQuery()), np.array(arm.home_q))
        cuda = load()
        self._gpu = GpuCore(
            robot,
            world_T_base,
            cuda,
            lambda share, text: report(0.25 + 0.75 * share, text),
            is_seeded=self.is_seeded,
            is_finetuned=self.is_finetuned,
            waits_for_builds=self.waits_for_builds,
            builds_now=builds_planners,
        )
        self._core = self._gpu
        self._batches = GpuBatches(self._gpu, cuda)
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

    def plan_batch(self, requests: Sequence[PlanRequest], should_stop: ShouldStop) -> list[PlanResult]:
        """Plan many requests at once, few in turn; see ``Engine.plan_batch``.

        Args:
            requests: The planning problems.
            should_stop: Turns true when the results are no longer wanted.

        Returns:
            One result per request, in order.
        """
        batch = self._batches.planner(len(requests))
        if batch is None:
            return super().plan_batch(requests, should_stop)
        world = self._core.scene.world
        return batch.plan([Problem(world, request) for request in requests], should_stop)

    def solve_ik(self, request: IkRequest, should_stop: ShouldStop) -> IkResult:
        """See ``Engine.solve_ik``. The GPU solves large batches of poses of which not all can be reached.

        Args:
            request: The EE poses.
            should_stop: Turns true when the result is no longer wanted.

        Returns:
            One configuration or code per pose.
        """
        from .curobo.batch_configurations import LEAST_POSES, is_for_gpu, solve_many, solved_share

        count = len(request.world_T_ee)
        if count < LEAST_POSES or request.scene.others or self._gpu.is_building:
            return super().solve_ik(request, should_stop)
        on_cpu = super().solve_ik
        if not is_for_gpu(count, solved_share(request, lambda some: on_cpu(some, should_stop))):
            return on_cpu(request, should_stop)
        opened = lambda: self._batches.configurations(request.arm, request.scene)  # noqa: E731
        return solve_many(self._gpu, request, opened, should_stop)

    def free(self, arm: str, q: Array, scene: SceneQuery) -> NDArray[np.bool_]:
        """Check many configurations at once, with the fine spheres, 1.5 mm larger.

        So a configuration this close to something counts as touching; none that touches counts as free. A body that is
        allowed to touch another one is left out.

        Args:
            arm: Name of the arm; empty for the only one.
            q: Configurations, (m, n), rad or m.
            scene: The interpretation of the world, without other arms.

        Returns:
            Whether each configuration is free, (m,).

        Raises:
            ValueError: The scene has other arms.
            EngineLost: The GPU failed.
        """
        if scene.others:
            raise ValueError("scene.others names arms; check them with explain, one configuration at a time")
        self._gpu.wait_for_builds()
        return self._batches.configurations(arm, scene).free(np.atleast_2d(q))

    def close(self) -> None:
        """Free the GPU."""
        self._batches.close()
        self._gpu.close()


class SeededCuroboEngine(CuroboEngine):
    """cuRobo with the CPU engine's path among its first seeds."""

    name: ClassVar[str] = "curobo_seeded"
    is_seeded: ClassVar[bool] = True


class FinetunedCuroboEngine(CuroboEngine):
    """cuRobo with further passes that shorten the motions; planning takes about twice as long."""

    name: ClassVar[str] = "curobo_finetuned"
    is_finetuned: ClassVar[bool] = True
