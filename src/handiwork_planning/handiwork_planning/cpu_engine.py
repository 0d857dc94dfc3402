"""Planning on the CPU with kernels that Numba compiles."""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from handiwork_core.contracts.planning import (
    CandidatesRequest,
    CandidatesResult,
    CandidateVerdict,
    Capability,
    Engine,
    IkRequest,
    IkResult,
    PathRest,
    PlanRequest,
    PlanResult,
    PoseGoals,
    Report,
    SceneQuery,
    ShouldStop,
    Verdict,
)
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.nearest_pose import missing_turn
from handiwork_core.robot.robot import Robot

if TYPE_CHECKING:
    from .planner import Core

MOST_NAMED = 64
"""Number of goal poses among which the nearest possible orientation is looked for, for a message."""


def _import_checks() -> None:
    """Import what candidates and validation need: it takes a second, for which no first goal has to wait."""
    from . import candidates
    from .validation import motion_limits, rest_of_path, trajectory_check

    del candidates, motion_limits, rest_of_path, trajectory_check


class CpuEngine(Engine):
    """Plans by RRT-Connect with many goals, straight lines by inverse kinematics, and jerk-limited timing, on one core.

    The GIL is released in kernels. The first creation on a machine compiles them (about a minute); the result is kept
    in ``__pycache__`` beside the sources, or in the folder that NUMBA_CACHE_DIR names.
    """

    name: ClassVar[str] = "cpu"
    capabilities: ClassVar[frozenset[Capability]] = frozenset(Capability)

    def __init__(self, robot: Robot, world_T_base: Pose, report: Report) -> None:
        report(0.0, "loading Numba")
        from .planner import Core
        from .warm_up import warm_up

        self._core: Core = Core(robot, world_T_base)
        warm_up(robot, world_T_base, report)
        report(1.0, "ready")
        Thread(target=_import_checks, name="import of checks", daemon=True).start()

    @classmethod
    def preload(cls, robot: Robot, report: Report) -> None:
        """Load the kernels; see ``Engine.preload``.

        Args:
            robot: The robot.
            report: Receives the progress.
        """
        report(0.0, "loading Numba")
        from .warm_up import warm_up

        warm_up(robot, Pose.identity(), report)

    def update_world(self, world: World) -> None:
        """See ``Engine.update_world``."""
        self._core.scene.update(world)

    def plan(self, request: PlanRequest, should_stop: ShouldStop) -> PlanResult:
        """See ``Engine.plan``."""
        from .search.requests import Deadline, Failed

        deadline = Deadline.start(should_stop, request.budget_s)
        version = self._core.scene.world.version
        try:
            trajectory, goal = self._core.plan(request, deadline)
        except Failed as f:
            lacks = self._missing_turn(request) if f.outcome.code is Code.NO_IK else ""
            return PlanResult(
                f.outcome.code,
                f"{f.outcome.message}; {lacks}" if lacks else f.outcome.message,
                planning_time_s=deadline.used_s,
                blocking=f.outcome.blocking,
                depth_m=f.depth_m,
                position_error_m=f.outcome.position_error_m,
                angle_error_rad=f.outcome.angle_error_rad,
                world_version=version,
                seed=request.seed,
            )
        text = self._core.remark(request, trajectory)
        return PlanResult(
            Code.OK, text, trajectory, goal, deadline.used_s, world_version=version, seed=request.seed
        )

    def _missing_turn(self, request: PlanRequest) -> str:
        """Return which turn an arm with few joints lacks for the poses of a request; empty where it lacks none."""
        arm, goal = self._core.arm(request.arm), request.goal
        if not isinstance(goal, PoseGoals):
            return ""
        robot = self._core.robot
        root_T_base = link_poses(robot, dict(request.scene.gripper_m), (arm.base_link,))[arm.base_link]
        base_T_world = (self._core.world_T_root @ root_T_base).inverse()
        poses = [(base_T_world @ pose).matrix() for pose in goal.world_T_ee[:MOST_NAMED]]
        return missing_turn(robot, arm, np.array(poses).reshape(-1, 4, 4), request.seed)

    def check_candidates(self, request: CandidatesRequest, should_stop: ShouldStop) -> CandidatesResult:
        """See ``Engine.check_candidates``."""
        from .candidates import judge
        from .kernels.rng import new_state
        from .search.requests import Deadline, Failed, within_limits

        deadline = Deadline.start(should_stop, request.budget_s)
        verdicts: list[CandidateVerdict] = []
        code, message = Code.OK, ""
        try:
            arm = self._core.arm(request.arm)
            queries = tuple(self._core.read(arm, s) for s in request.scenes or (SceneQuery(),))
            start = within_limits(arm, queries[0], request.start_q, "start")
            for i, candidate in enumerate(request.candidates):
                deadline.poll()
                if not candidate.world_T_ee:
                    raise Failed(Code.BAD_GOAL, f"candidate {i} has no pose; give at least one")
                state = new_state(request.seed + 7919 * i)
                verdicts.append(judge(arm, queries, start, arm.home_q, candidate, state, deadline))
        except Failed as failed:
            code, message = failed.outcome.code, failed.outcome.message
            missing = len(request.candidates) - len(verdicts)
            verdicts += [CandidateVerdict(code, np.zeros((0, 0)))] * missing
        return CandidatesResult(
            code, message, tuple(verdicts), deadline.used_s, self._core.scene.world.version
        )

    def solve_ik(self, request: IkRequest, should_stop: ShouldStop) -> IkResult:
        """See ``Engine.solve_ik``."""
        from .batch_ik import solve_batch

        return solve_batch(self._core, request, should_stop)

    def explain(self, arm: str, q: Array, scene: SceneQuery) -> Verdict:
        """See ``Engine.explain``."""
        from .search.requests import Failed, clearance, within_limits

        try:
            spec = self._core.arm(arm)
            query = self._core.read(spec, scene)
            inside = within_limits(spec, query, q, "configuration")
        except Failed as failed:
            return Verdict(failed.outcome.code, failed.outcome.message)
        gap, pair = query.deepest(inside, over_margin=True)
        if pair is None:
            return Verdict(Code.OK, "nothing within 1 m", clearance_m=gap)
        if gap < 0.0:
            return Verdict(Code.START_IN_COLLISION, f"{pair.a} and {pair.b} are {clearance(gap)}", pair, gap)
        return Verdict(
            Code.OK, f"free; nearest are {pair.a} and {pair.b}, {1e3 * gap:.1f} mm apart", pair, gap
        )

    def validate(
        self,
        arm: str,
        trajectory: Trajectory,
        scene: SceneQuery,
        start_q: Array,
        rest: PathRest | None = None,
    ) -> Verdict:
        """See ``Engine.validate``. Shares no code with the planner's own checks."""
        from .search.requests import Failed
        from .validation import motion_limits, rest_of_path, trajectory_check

        core = self._core
        try:
            spec = core.arm(arm)
            core.read(spec, scene)
        except Failed as failed:
            return Verdict(failed.outcome.code, failed.outcome.message)
        if rest is not None:
            world = core.scene.world
            return rest_of_path.collisions(
                core.robot, spec, core.world_T_root, world, scene, trajectory, rest
            )
        verdict = motion_limits.motion(core.robot, spec, trajectory, start_q)
        if verdict.code is not Code.OK:
            return verdict
        return trajectory_check.collisions(
            core.robot, spec, core.world_T_root, core.scene.world, scene, trajectory
        )
