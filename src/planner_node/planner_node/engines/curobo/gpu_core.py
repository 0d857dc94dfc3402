"""Planning with cuRobo: it proposes goal configurations and motions, our checker takes them or asks for others."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from handiwork_core.geometry import Array, Pose
from handiwork_core.outcome import Code
from handiwork_core.planning import JointGoals, PlanRequest, PoseGoals, Report, StraightGoal
from handiwork_core.robot import ArmSpec, Robot
from handiwork_core.trajectory import Trajectory
from planner_node.engines.cpu.core import Core
from planner_node.engines.cpu.goals import joint_goals, pose_goals
from planner_node.engines.cpu.query import Query
from planner_node.engines.cpu.requests import Deadline, Failed, checked_start, limits_of
from robot_description.curobo_config import CuroboUse, curobo_config, held_link

from .attempts import Attempts, Goals, base_poses
from .cuda import Cuda
from .judging import Held, Judge
from .scene_rows import SceneRows
from .solvers import GOALS, Solvers
from .spheres import HELD_SPHERES, SphereSheet, objects_off, self_offsets

CHOICES = 16
"""Goal configurations that are asked of the GPU at once."""


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
        for i, arm in enumerate(robot.arms.values()):
            share = 1.0 / len(robot.arms)
            self._open(arm, lambda f, text, i=i, s=share: report((i + f) * s, text))  # type: ignore[misc]

    def plan(self, request: PlanRequest, deadline: Deadline) -> tuple[Trajectory, int]:
        """See ``Core.plan``. Straight lines, and ways past another arm, are the CPU's; see docs/explanation."""
        if isinstance(request.goal, StraightGoal) or request.scene.others:
            return super().plan(request, deadline)
        arm = self.arm(request.arm)
        start, query = checked_start(arm, self.read(arm, request.scene), request.start_q)
        deadline.poll()
        _check_scalings(request)
        held = Held.of(request, query, start, self.world_T_base)
        if held is not None and isinstance(request.goal, PoseGoals):
            held.check_goals(request.goal.world_T_ee)
        solvers = self.ready(arm, request, query, start)
        goals = self._goals(request, arm, query, start, solvers, deadline, held)
        if isinstance(request.goal, JointGoals):
            query = query.grazing_at(request.goal.q)
        limits = limits_of(self.robot, arm, request.velocity_scaling, request.acceleration_scaling)
        judge = Judge(query, limits, arm.joint_names, held)
        solvers.set_path_weights(judge.path_weights)
        attempts = Attempts(solvers, judge, start, np.array(arm.home_q), request.seed, deadline)
        try:
            return attempts.run(goals, with_cpu_path=self._is_seeded)
        except Failed as failed:
            if held is None or failed.code is not Code.PATH_BLOCKED:
                raise
            return super().plan(request, deadline)

    def ready(self, arm: ArmSpec, request: PlanRequest, query: Query, start: Array) -> Solvers:
        """The arm's solvers with this request's spheres and world."""
        solvers, scene, world = self._solvers[arm.name], request.scene, self.scene.world
        spheres = self._sheets[arm.name].rows(scene, world, query, start)
        try:
            solvers.update(spheres, self._rows.read(self.scene, world, objects_off(scene, world)))
        except ValueError as error:
            raise Failed(Code.UNSUPPORTED, str(error)) from error
        solvers.reset_seed()
        return solvers

    def prepare_world(self) -> None:
        """Send a new world to the GPU before anybody waits for a plan in it."""
        try:
            rows = self._rows.read(self.scene, self.scene.world, set())
            for solvers in self._solvers.values():
                solvers.update_world(rows)
        except ValueError:
            return  # the request that needs it is told

    def base_rows(self, poses: tuple[Pose, ...]) -> Array:
        """(g, 7) in the frame that cuRobo plans in."""
        return base_poses(self._base_T_world, poses)

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
        solvers: Solvers,
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
        chosen = np.unique(np.linspace(0, max(len(poses) - 1, 0), GOALS).astype(int))
        picked = tuple(poses[i] for i in chosen) if poses else ()
        if picked:
            found = solvers.reach_any(self.base_rows(picked), start, CHOICES)
            goals = Goals.polished(found.q, chosen[found.goal], poses, self._base_T_world, query)
            if len(goals.q):
                return goals
        seeds = np.array([start, arm.home_q])
        q, owner = pose_goals(query, poses, seeds, request.seed, deadline)
        return Goals(q, owner, self._base_T_world, query)

    def _open(self, arm: ArmSpec, report: Report) -> None:
        use = CuroboUse((arm.name,), held_spheres=HELD_SPHERES)
        held = held_link(use, arm.name)
        with tempfile.TemporaryDirectory() as folder:
            urdf = Path(folder) / f"{self.robot.name}.urdf"
            urdf.write_text(self.robot.urdf)
            config = curobo_config(self.robot, urdf, use)
            config["robot_cfg"]["kinematics"]["self_collision_buffer"] = self_offsets(self.robot, arm, held)
            solvers = Solvers(self._cuda, config, arm.joint_names, report)
        self._solvers[arm.name] = solvers
        self._sheets[arm.name] = SphereSheet(self.robot, arm, held)
        home = np.array(arm.home_q)
        query = self.read(arm, PlanRequest("", home, JointGoals(home[None])).scene)
        pose = Goals(home[None], np.zeros(1, dtype=np.int64), self._base_T_world, query).poses()[0]
        self.ready(arm, PlanRequest(arm.name, home, JointGoals(home[None])), query, home)
        solvers.warm_up(home, pose, report)


def _check_scalings(request: PlanRequest) -> None:
    for name in ("velocity_scaling", "acceleration_scaling"):
        scaling = getattr(request, name)
        if not 0.0 < scaling <= 1.0:
            raise Failed(Code.BAD_NUMBER, f"{name} is {scaling}; give a number above 0 and at most 1")
