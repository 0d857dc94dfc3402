"""The planner of the stack in this process: the same checks and the same engine, in a world that is given."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

from handiwork_core.bundles.bundle import Bundle, BundleError
from handiwork_core.contracts.delegating import Validation
from handiwork_core.contracts.planning import (
    Attachment,
    Candidate,
    CandidatesRequest,
    CandidatesResult,
    Engine,
    Goal,
    PathGoal,
    PlanRequest,
    PlanResult,
    PoseGoals,
    SceneQuery,
    ShouldStop,
    StraightGoal,
    Verdict,
)
from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot
from handiwork_core.safety.config import SafetyConfig
from handiwork_ros.conversions import (
    candidate_verdict_from_msg,
    candidate_verdict_to_msg,
    outcome_from_msg,
    outcome_to_msg,
    plan_result_from_msg,
    plan_result_to_msg,
    pose_from_msg,
    pose_to_msg,
    scene_from_msg,
    scene_to_msg,
    trajectory_from_msg,
    trajectory_to_msg,
    verdict_outcome,
)
from planner_node.pipeline.pipeline import PlanningPipeline, WorldReaders
from planner_node.pipeline.planning_scene import PlanningScene

MakeEngine = Callable[[Robot, Pose], Engine]

MORE_TIME = 10.0
"""The factor of planning budgets: this machine may be slower than the one that recorded."""


class InProcessPlanner:
    """Answers as ``planner_node`` does. All passes through messages, so that numbers are rounded as there.

    Args:
        robot: The robot.
        engine: The engine.
        world: World whose obstacles of the planner alone, and attachments, count for all requests.
        world_T_root: Pose of the robot's root link.
    """

    def __init__(self, robot: Robot, engine: Engine, world: World, world_T_root: Pose) -> None:
        self._robot, self._lock, self._world = robot, threading.Lock(), world
        table = PlanningScene()
        own = tuple(world.planner_objects.values())
        if own:
            table.update(world, own, tuple(Pose.identity() for _ in own), ())
        for name, (link, link_T_object) in world.planner_attached.items():
            table.attach(Attachment(name, link, link_T_object))
        readers = WorldReaders(lambda: self._world, lambda: True, lambda: 0.0)
        self._pipeline = PlanningPipeline(
            robot, engine, table, readers, world_T_root, SafetyConfig().tool_speed
        )

    def plan(self, request: PlanRequest, world: World, should_stop: ShouldStop) -> PlanResult:
        """Plan in a world; see ``Planner.plan``.

        Args:
            request: The planning problem.
            world: The world.
            should_stop: True ends the request.
        """
        sent = replace(request, goal=_goal(request.goal), scene=_scene(request.scene))
        end_s = time.monotonic() + MORE_TIME * request.budget_s
        with self._lock:
            self._world = world
            try:
                result = self._pipeline.plan(sent, 0, end_s, should_stop)
            except HandiworkError as error:
                return PlanResult(error.outcome.code, error.outcome.message, seed=request.seed)
        return plan_result_from_msg(plan_result_to_msg(result))

    def check_candidates(
        self, request: CandidatesRequest, world: World, should_stop: ShouldStop
    ) -> CandidatesResult:
        """Check candidates in a world; see ``Planner.check_candidates``.

        Args:
            request: The candidates.
            world: The world.
            should_stop: True ends the request.
        """
        candidates = tuple(Candidate(_poses(one.world_T_ee)) for one in request.candidates)
        scenes = tuple(_scene(one) for one in request.scenes or (SceneQuery(),))
        sent = replace(request, candidates=candidates, scenes=scenes)
        end_s = time.monotonic() + MORE_TIME * request.budget_s
        with self._lock:
            self._world = world
            try:
                result = self._pipeline.check_candidates(sent, 0, end_s, should_stop)
            except HandiworkError as error:
                return CandidatesResult(error.outcome.code, error.outcome.message, ())
        dof = len(self._robot.arm(request.arm).joint_names)
        verdicts = tuple(
            candidate_verdict_from_msg(candidate_verdict_to_msg(one), dof) for one in result.verdicts
        )
        return replace(result, verdicts=verdicts)

    def validate(self, arm: str, asked: Validation, world: World) -> Verdict:
        """Check a trajectory in a world; see ``Planner.validate`` and ``validate_rest``.

        Args:
            arm: Name of the arm.
            asked: The trajectory and its scene.
            world: The world.
        """
        spec, rest, whole = self._robot.arm(arm), asked.rest, asked.trajectory
        sent = whole if rest is None else whole.remaining(rest.from_s)
        if rest is not None:  # the message holds what remains, and any world here is new enough
            rest = replace(rest, from_s=0.0, objects_version=0, states_stamp_s=0.0)
        trajectory = trajectory_from_msg(trajectory_to_msg(sent))
        with self._lock:
            self._world = world
            try:
                start_q = self._pipeline.measured_q(spec)
                verdict, _version = self._pipeline.validate(
                    spec, trajectory, _scene(asked.scene), start_q, 0, rest
                )
            except HandiworkError as error:
                return Verdict(error.outcome.code, error.outcome.message)
        outcome = outcome_from_msg(outcome_to_msg(verdict_outcome(verdict)))
        if outcome.code is Code.UNSET:
            return Verdict(Code.INTERNAL, "the engine gave no verdict")
        return Verdict(outcome.code, outcome.message, outcome.blocking, verdict.clearance_m, verdict.at)


def planner_of(bundle: Bundle, robot: Robot, make_engine: MakeEngine) -> InProcessPlanner:
    """Make the planner for a bundle.

    Args:
        bundle: The bundle.
        robot: Its robot.
        make_engine: Makes the planning engine for a robot whose base has a pose.

    Raises:
        BundleError: The pose of the base is not known.
    """
    world = bundle.seen[0].world
    base = world.frames.get("robot") or next(iter(bundle.before.values())).world_T_base
    if base is None:
        raise BundleError(
            "the pose of the robot's base is not in the bundle, so nothing can be planned again"
        )
    return InProcessPlanner(robot, make_engine(robot, base), world, base)


def _pose(pose: Pose) -> Pose:
    return pose_from_msg(pose_to_msg(pose))


def _poses(poses: tuple[Pose, ...]) -> tuple[Pose, ...]:
    return tuple(_pose(one) for one in poses)


def _scene(scene: SceneQuery) -> SceneQuery:
    return scene_from_msg(scene_to_msg(scene))


def _goal(goal: Goal) -> Goal:
    if isinstance(goal, (PoseGoals, PathGoal)):
        return replace(goal, world_T_ee=_poses(goal.world_T_ee))
    return replace(goal, world_T_ee=_pose(goal.world_T_ee)) if isinstance(goal, StraightGoal) else goal
