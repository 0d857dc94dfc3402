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

from .attempts import Attempts, Goals
from .device.cuda import Cuda
from .model.buffers import BufferSizes
from .model.robot_config import held_links, robot_config
from .model.scene_rows import Rows, SceneRows
from .model.spheres import SphereSheet, objects_off
from .solvers.single_solvers import Solvers
from .task import CuroboTask, is_for_cpu


class GpuCore(Core):
    """The CPU engine's core, with its checks, straight lines and fallback, but with free motions from cuRobo.

    Args:
        robot: The robot.
        world_T_base: The robot's base in the world.
        cuda: The loaded libraries.
        report: Receives the progress of loading.
        is_seeded: Whether the CPU engine's path is one of the first seeds.
    """

    def __init__(
        self, robot: Robot, world_T_base: Pose, cuda: Cuda, report: Report, *, is_seeded: bool
    ) -> None:
        super().__init__(robot, world_T_base)
        self._cuda, self._is_seeded = cuda, is_seeded
        self._base_T_world = world_T_base.inverse()
        self._solvers: dict[str, Solvers] = {}
        self._sheets: dict[str, SphereSheet] = {}
        self._rows = SceneRows(world_T_base)
        self.handed_over = 0
        """The number of requests for which cuRobo found no motion, and that the CPU engine's search then planned."""
        for i, arm in enumerate(robot.arms.values()):
            share = 1.0 / len(robot.arms)
            self._open(arm, BufferSizes(), lambda f, text, i=i, s=share: report((i + f) * s, text))  # type: ignore[misc]

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
        """
        if is_for_cpu(request):
            return super().plan(request, deadline)
        task = CuroboTask.of(self, request, deadline)
        solvers, prepare = self._ready(task)
        solvers.set_path_weights(task.judge.path_weights)
        attempts = Attempts(solvers, prepare, task.judge, task.start, task.home, request.seed, deadline)
        try:
            return attempts.run(task.goals, with_cpu_path=self._is_seeded)
        except Failed as failed:
            if failed.outcome.code is not Code.PATH_BLOCKED:
                raise
            self.handed_over += 1
            return super().plan(request, deadline)

    def _ready(self, task: CuroboTask) -> tuple[Solvers, Callable[[Array], None]]:
        """Return the arm's solvers in this request's world, and the function that writes its spheres for given ends."""
        arm, scene, world = task.arm, task.request.scene, self.scene.world
        sheet = self._sheets[arm.name]
        rows = self._rows.read(self.scene, world, objects_off(scene, world))
        solvers = self._with_room(arm, rows)
        solvers.begin()

        def prepare(ends: Array) -> None:
            places = np.unique(np.concatenate([task.start[None], ends]), axis=0)
            solvers.update(sheet.rows(scene, world, task.query, places), rows)

        return solvers, prepare

    def prepare_world(self) -> None:
        """Send a new world to the GPU before the first request that plans in it."""
        rows = self._rows.read(self.scene, self.scene.world, set())
        for name in list(self._solvers):
            self._with_room(self.robot.arm(name), rows).update_world(rows)

    def _with_room(self, arm: ArmSpec, rows: Rows) -> Solvers:
        """Return the arm's solvers. When the world has outgrown them they are built again, which takes seconds."""
        solvers = self._solvers[arm.name]
        room = solvers.room.for_rows(rows)
        if room == solvers.room:
            return solvers
        solvers.close()
        return self._open(arm, room, lambda _share, _text: None)

    def close(self) -> None:
        """Free the GPU."""
        for solvers in self._solvers.values():
            solvers.close()
        self._solvers.clear()

    def memory_bytes(self) -> int:
        """Return the memory of the GPU that is in use, that of other processes included."""
        return next(iter(self._solvers.values())).memory_bytes()

    def _open(self, arm: ArmSpec, room: BufferSizes, report: Report) -> Solvers:
        with robot_config(self.robot, (arm,)) as config:
            solvers = Solvers(self._cuda, config, arm.joint_names, room, report)
        self._solvers[arm.name] = solvers
        self._sheets[arm.name] = SphereSheet(self.robot, arm, held_links((arm,))[arm.name])
        home = np.array(arm.home_q)
        query = self.read(arm, SceneQuery())
        goals = Goals(home[None], np.zeros(1, dtype=np.int64), self._base_T_world, query)
        empty = self._rows.read(CollisionScene(), World(0.0), set())
        solvers.update(self._sheets[arm.name].rows(SceneQuery(), World(0.0), query, home[None]), empty)
        solvers.warm_up(home, goals.base_pose(goals.tools()[0]), report)
        return solvers
