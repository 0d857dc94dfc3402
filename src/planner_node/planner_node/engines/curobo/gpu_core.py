"""Planning with cuRobo: it proposes motions to our goal configurations, and our checker accepts or refuses them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from handiwork_core.contracts.planning import PlanRequest, Report, SceneQuery
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_planning.planner import Core
from handiwork_planning.scene.scene import CollisionScene
from handiwork_planning.search.requests import Deadline, Failed

from .attempts import MOST, Attempts, Goals
from .device.builds import Builds
from .device.cuda import Cuda
from .model.buffers import BufferSizes
from .model.scene_rows import Rows, SceneRows
from .model.spheres import objects_off
from .solvers.single_solvers import Solvers
from .sphere_set import SphereSet
from .task import CuroboTask, is_for_cpu

COARSE_TRIES = 4
"""The largest number of attempts with the coarse spheres: where these find nothing, fine ones may pass."""
FINE_TRIES = 4
"""The largest number of attempts with the fine spheres after the coarse ones were tried."""
WASTED_MOST = 50
"""After so many requests in a row with too much room the solvers are built again with less."""
FINETUNES = (1, 3)
"""Passes that shorten a motion when the engine is asked for them: of straight seeds, and of others."""


class GpuCore(Core):
    """The CPU engine's core, with its checks, straight lines and fallback, but with free motions from cuRobo.

    While solvers are being built the CPU engine plans.

    Args:
        robot: The robot.
        world_T_base: The robot's base in the world.
        cuda: The loaded libraries.
        report: Receives the progress of loading.
        is_seeded: Whether the CPU engine's path is one of the first seeds.
        is_finetuned: Whether further passes shorten the motions.
        waits_for_builds: Whether a request waits until solvers are built, so that equal ones get equal answers.
        builds_now: Whether the solvers of plans are built here; False: at an arm's first plan.
    """

    def __init__(
        self,
        robot: Robot,
        world_T_base: Pose,
        cuda: Cuda,
        report: Report,
        *,
        is_seeded: bool = False,
        is_finetuned: bool = False,
        waits_for_builds: bool = False,
        builds_now: bool = True,
    ) -> None:
        super().__init__(robot, world_T_base)
        self._cuda, self._is_seeded = cuda, is_seeded
        self._finetunes = FINETUNES if is_finetuned else (0, 0)
        self._base_T_world = world_T_base.inverse()
        self._coarse = SphereSet(robot, world_T_base, is_fine=False)
        self._fine = SphereSet(robot, world_T_base, is_fine=True)
        self._solvers: dict[tuple[str, bool], Solvers] = {}
        """The solvers by name of the arm, and whether they have the fine spheres."""
        self._builds = Builds(waits=waits_for_builds)
        self._rows = SceneRows(world_T_base)
        self._wasteful = 0
        self.handed_over = 0
        """The number of requests for which cuRobo found no motion, and that the CPU engine's search then planned."""
        self.planned_again = 0
        """The number of requests for which the coarse spheres found no good motion, and the fine ones were tried."""
        for i, arm in enumerate(robot.arms.values() if builds_now else ()):
            share = 1.0 / len(robot.arms)
            self._open(
                arm,
                self._coarse,
                BufferSizes(),
                lambda f, text, i=i, s=share: report((i + f) * s, text),  # type: ignore[misc]
            )

    @property
    def is_building(self) -> bool:
        """True while solvers are being built, when nothing else may use the GPU.

        Raises:
            EngineLost: The last build failed; it is raised once.
        """
        return self._builds.is_busy()

    @property
    def sphere_counts(self) -> tuple[int, int]:
        """The numbers of coarse and of fine spheres, those for held objects included."""
        return self._coarse.count, self._fine.count

    def plan(self, request: PlanRequest, deadline: Deadline) -> tuple[Trajectory, int]:
        """Plan a motion; see ``Core.plan``. The CPU engine plans straight lines and motions past another arm.

        The reasons are in docs/explanation.

        Args:
            request: The request.
            deadline: Limit of its time.

        Returns:
            The trajectory and the index of the goal that it reaches.

        Raises:
            Failed: The request is invalid, no motion was found, or the time is used up.
            EngineLost: The GPU failed.
        """
        if is_for_cpu(request) or self._builds.is_busy():
            return super().plan(request, deadline)
        task = CuroboTask.of(self, request, deadline)
        for chosen in dict.fromkeys((self._coarse, self._fine)):
            self.planned_again += chosen is not self._coarse
            waited_s = self._builds.waited_s
            rows = self._rows.read(self.scene, self.scene.world, objects_off(request.scene, self.scene.world))
            solvers = self._with_room(task.arm, chosen, rows)
            # A build is for all later requests: it takes nothing of the time of the one that waits for it.
            deadline = deadline.postponed(self._builds.waited_s - waited_s)
            if solvers is None:
                break
            try:
                return self._try(task, chosen, solvers, rows, deadline)
            except Failed as failed:
                if failed.outcome.code is not Code.PATH_BLOCKED:
                    raise
            if self._coarse.is_fine:
                break
        self.handed_over += 1
        return super().plan(request, deadline)

    def _try(
        self, task: CuroboTask, chosen: SphereSet, solvers: Solvers, rows: Rows, deadline: Deadline
    ) -> tuple[Trajectory, int]:
        """Plan with one set of spheres."""
        arm, scene = task.arm, task.request.scene
        solvers.begin()
        solvers.set_path_weights(task.judge.path_weights)

        def prepare(ends: Array) -> None:
            places = np.unique(np.concatenate([task.start[None], ends]), axis=0)
            solvers.update(chosen.rows(arm, scene, self.scene, places), rows)

        attempts = Attempts(
            solvers, prepare, task.judge, task.start, task.home, task.request.seed, deadline, self._finetunes,
            self._tries(chosen), not chosen.is_fine,
        )  # fmt: skip
        return attempts.run(task.goals, with_cpu_path=self._is_seeded and chosen is self._coarse)

    def _tries(self, chosen: SphereSet) -> int:
        if not chosen.is_fine:
            return COARSE_TRIES
        return MOST if self._coarse.is_fine else FINE_TRIES

    def prepare_world(self) -> None:
        """Send a new world to the GPU before the first request that plans in it, or begin to make room for it."""
        if self._builds.is_busy():
            return
        rows = self._rows.read(self.scene, self.scene.world, set())
        for name, is_fine in list(self._solvers):
            solvers = self._with_room(self.robot.arm(name), self._set(is_fine), rows)
            if solvers is None:
                return
            solvers.update_world(rows)

    def _set(self, is_fine: bool) -> SphereSet:
        return self._coarse if is_fine == self._coarse.is_fine else self._fine

    def _with_room(self, arm: ArmSpec, chosen: SphereSet, rows: Rows) -> Solvers | None:
        """Return the arm's solvers; None when they are being built because the world has outgrown them."""
        solvers = self._solvers.get((arm.name, chosen.is_fine))
        if solvers is not None and solvers.room.holds(rows) and not self._is_wasteful(solvers, rows):
            return solvers

        def build() -> None:
            if solvers is not None:
                solvers.close()
            self._open(arm, chosen, BufferSizes.of(rows), lambda _share, _text: None)

        self._builds.start(build)
        return None if self._builds.is_busy() else self._solvers[arm.name, chosen.is_fine]

    def _is_wasteful(self, solvers: Solvers, rows: Rows) -> bool:
        """Check whether there was much too much room for long."""
        self._wasteful = self._wasteful + 1 if solvers.room.wastes(rows) else 0
        if self._wasteful <= WASTED_MOST:
            return False
        self._wasteful = 0
        return True

    def wait_for_builds(self) -> None:
        """Wait until no solvers are being built.

        Raises:
            EngineLost: The build failed.
        """
        self._builds.wait()

    def close(self) -> None:
        """Free the GPU."""
        self._builds.wait()
        for solvers in self._solvers.values():
            solvers.close()
        self._solvers.clear()

    def memory_bytes(self) -> int:
        """Return the memory of the GPU that is in use, that of other processes included."""
        free, total = self._cuda.torch.cuda.mem_get_info()
        return int(total - free)

    def _open(
        self, arm: ArmSpec, chosen: SphereSet, room: BufferSizes, report: Callable[[float, str], None]
    ) -> None:
        with chosen.config(arm) as config:
            solvers = Solvers(self._cuda, config, arm.joint_names, room, report)
        home = np.array(arm.home_q)
        nowhere, nothing = CollisionScene(), SceneQuery()
        query = Core(self.robot, self.world_T_root).read(arm, nothing)
        goals = Goals(home[None], np.zeros(1, dtype=np.int64), self._base_T_world, query)
        empty = SceneRows(self.world_T_root).read(nowhere, World(0.0), set())
        # A sheet of its own: this may run beside a request that the CPU engine plans.
        own = SphereSet(self.robot, self.world_T_root, is_fine=chosen.is_fine)
        solvers.update(own.rows(arm, nothing, nowhere, home[None]), empty)
        solvers.warm_up(home, goals.base_pose(goals.tools()[0]), report)
        self._solvers[arm.name, chosen.is_fine] = solvers
