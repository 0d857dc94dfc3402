"""Planning with cuRobo: it proposes motions to our goal configurations, our checker takes them or asks for others."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from handiwork_core.geometry import Array, Pose
from handiwork_core.outcome import Code
from handiwork_core.planning import JointGoals, PlanRequest, PoseGoals, Report, SceneQuery, StraightGoal
from handiwork_core.robot import ArmSpec, Robot
from handiwork_core.trajectory import Trajectory
from handiwork_core.world import World
from planner_node.engines.cpu.core import Core
from planner_node.engines.cpu.goals import joint_goals, pose_goals
from planner_node.engines.cpu.query import Query
from planner_node.engines.cpu.requests import Deadline, Failed, checked_start, limits_of
from planner_node.engines.cpu.scene import Scene
from robot_description.curobo_config import CuroboUse, curobo_config, held_link

from .attempts import Attempts, Goals
from .buffers import Room
from .cuda import Cuda
from .judging import Held, Judge
from .scene_rows import Rows, SceneRows
from .solvers import Solvers
from .spheres import HELD_SPHERES, SphereSheet, objects_off, self_offsets


class GpuCore(Core):
    """As the CPU engine's core, whose checks, straight lines and fallback it has, with free motions from cuRobo.

    ``is_seeded``: the CPU engine's path is one of the first seeds.
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
        """Requests that cuRobo gave up on, and the CPU engine's search went on with."""
        for i, arm in enumerate(robot.arms.values()):
            share = 1.0 / len(robot.arms)
            self._open(arm, Room(), lambda f, text, i=i, s=share: report((i + f) * s, text))  # type: ignore[misc]

    def plan(self, request: PlanRequest, deadline: Deadline) -> tuple[Trajectory, int]:
        """See ``Core.plan``. Straight lines, and ways past another arm, are the CPU's; see docs/explanation."""
        if isinstance(request.goal, StraightGoal) or request.scene.others:
            return super().plan(request, deadline)
        arm = self.arm(request.arm)
        start, query = checked_start(arm, self.read(arm, request.scene), request.start_q)
        deadline.poll()
        _check_scalings(request)
        held = Held.of(request, query, start, self.world_T_root)
        if held is not None and isinstance(request.goal, PoseGoals):
            held.check_goals(request.goal.world_T_ee)
        goals = self._goals(request, arm, query, start, deadline, held)
        solvers, prepare = self._ready(arm, request, query, start)
        if isinstance(request.goal, JointGoals):
            query = query.grazing_at(request.goal.q)
        limits = limits_of(self.robot, arm, request.velocity_scaling, request.acceleration_scaling)
        judge = Judge(query, limits, arm.joint_names, held)
        solvers.set_path_weights(judge.path_weights)
        attempts = Attempts(solvers, prepare, judge, start, np.array(arm.home_q), request.seed, deadline)
        try:
            return attempts.run(goals, with_cpu_path=self._is_seeded)
        except Failed as failed:
            if failed.code is not Code.PATH_BLOCKED:
                raise
            self.handed_over += 1
            return super().plan(request, deadline)

    def _ready(
        self, arm: ArmSpec, request: PlanRequest, query: Query, start: Array
    ) -> tuple[Solvers, Callable[[Array], None]]:
        """The arm's solvers in this request's world, and what gives them its spheres for motions to given ends."""
        scene, world, sheet = request.scene, self.scene.world, self._sheets[arm.name]
        rows = self._rows.read(self.scene, world, objects_off(scene, world))
        solvers = self._with_room(arm, rows)
        solvers.begin()

        def prepare(ends: Array) -> None:
            places = np.unique(np.concatenate([start[None], ends]), axis=0)
            solvers.update(sheet.rows(scene, world, query, places), rows)

        return solvers, prepare

    def prepare_world(self) -> None:
        """Send a new world to the GPU before anybody waits for a plan in it."""
        rows = self._rows.read(self.scene, self.scene.world, set())
        for name in list(self._solvers):
            self._with_room(self.robot.arm(name), rows).update_world(rows)

    def _with_room(self, arm: ArmSpec, rows: Rows) -> Solvers:
        """The arm's solvers; built anew, which takes seconds, when the world has outgrown them."""
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
        """Of the GPU, with what other processes took."""
        return next(iter(self._solvers.values())).memory_bytes()

    def _goals(
        self,
        request: PlanRequest,
        arm: ArmSpec,
        query: Query,
        start: Array,
        deadline: Deadline,
        held: Held | None,
    ) -> Goals:
        """Goal configurations, exact and free, or Failed with the nearest miss."""
        if isinstance(request.goal, JointGoals):
            query = query.grazing_at(request.goal.q)
            q, owner = joint_goals(arm, query, request.goal.q)
            if held is not None:
                held.check_configurations(q, query)
            return Goals(q, owner, self._base_T_world, query)
        assert isinstance(request.goal, PoseGoals)
        poses = request.goal.world_T_ee
        seeds = np.array([start, arm.home_q])
        q, owner = pose_goals(query, poses, seeds, request.seed, deadline)
        return Goals(q, owner, self._base_T_world, query)

    def _open(self, arm: ArmSpec, room: Room, report: Report) -> Solvers:
        use = CuroboUse((arm.name,), held_spheres=HELD_SPHERES)
        held = held_link(use, arm.name)
        with tempfile.TemporaryDirectory() as folder:
            urdf = Path(folder) / f"{self.robot.name}.urdf"
            urdf.write_text(self.robot.urdf)
            config = curobo_config(self.robot, urdf, use)
            config["robot_cfg"]["kinematics"]["self_collision_buffer"] = self_offsets(self.robot, arm, held)
            solvers = Solvers(self._cuda, config, arm.joint_names, room, report)
        self._solvers[arm.name] = solvers
        self._sheets[arm.name] = SphereSheet(self.robot, arm, held)
        home = np.array(arm.home_q)
        query = self.read(arm, SceneQuery())
        goals = Goals(home[None], np.zeros(1, dtype=np.int64), self._base_T_world, query)
        empty = self._rows.read(Scene(), World(0.0), set())
        solvers.update(self._sheets[arm.name].rows(SceneQuery(), World(0.0), query, home[None]), empty)
        solvers.warm_up(home, goals.base_pose(goals.tools()[0]), report)
        return solvers


def _check_scalings(request: PlanRequest) -> None:
    for name in ("velocity_scaling", "acceleration_scaling"):
        scaling = getattr(request, name)
        if not 0.0 < scaling <= 1.0:
            raise Failed(Code.BAD_NUMBER, f"{name} is {scaling}; give a number above 0 and at most 1")
