"""The ``planner/*`` services. A handler converts the message, queues a job on the engine's thread, and never blocks."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import numpy as np
from handiwork_msgs import srv
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.task import Future

from handiwork_core.contracts.planning import (
    NO_Q,
    Candidate,
    CandidatesRequest,
    Goal,
    IkRequest,
    JointGoals,
    PathRest,
    PlanRequest,
    PoseGoals,
    StraightGoal,
)
from handiwork_core.intake.limits import GOAL_POSES, SCENES
from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.robot.robot import ArmSpec
from handiwork_ros import conversions as to
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.ports.frames import FrameBuffer
from handiwork_ros.rclpy_support.safe_callbacks import guard_service, with_outcome
from planner_node.pipeline.engine_worker import QUEUE_LIMIT, EngineWorker
from planner_node.pipeline.pipeline import PlanningPipeline
from planner_node.pipeline.request_checks import (
    RequestRefused,
    check_limits,
    checked_arm,
    checked_q,
    ordered_q,
)

from .scene_services import add_scene_services

Job = Callable[[PlanningPipeline, Callable[[], bool]], Any]
NOT_ACTIVE = "planner_node is not active; wait until handiwork/status says ACTIVE"


class PlanningServices:
    """The planner's services. They exist as long as the node, and serve between ``open`` and ``shut``.

    Args:
        node: The node.
        frames: The received frames.
    """

    def __init__(self, node: ManagedNode, frames: FrameBuffer) -> None:
        self.node, self.frames = node, frames
        self.pipeline: PlanningPipeline | None = None
        self._worker: EngineWorker | None = None
        # A waiting handler keeps its group busy: in the node's own group it would stop the life signs and the world.
        group = ReentrantCallbackGroup()
        handlers: dict[str, tuple[Any, Any]] = {
            "plan_to_poses": (srv.PlanToPoses, self._plan_to_poses),
            "plan_to_joints": (srv.PlanToJoints, self._plan_to_joints),
            "plan_straight": (srv.PlanStraight, self._plan_straight),
            "check_candidates": (srv.CheckCandidates, self._check_candidates),
            "solve_ik": (srv.SolveIk, self._solve_ik),
            "validate_trajectory": (srv.ValidateTrajectory, self._validate),
            "explain": (srv.Explain, self._explain),
        }
        for name, (kind, handler) in handlers.items():
            node.create_service(kind, f"planner/{name}", guard_service(node, handler), callback_group=group)
        self._publish_obstacles = add_scene_services(self)

    def open(self, pipeline: PlanningPipeline, worker: EngineWorker) -> None:
        """Serve requests from now on.

        Args:
            pipeline: The pipeline of all requests.
            worker: The engine's thread.
        """
        self.pipeline, self._worker = pipeline, worker
        self._publish_obstacles()

    def shut(self) -> None:
        """Refuse requests from now on; jobs under way continue to their end."""
        self.pipeline = None

    def ready_pipeline(self) -> PlanningPipeline:
        """Return the pipeline.

        Raises:
            Refused: NOT_ACTIVE, while the node is not active.
        """
        if self.pipeline is None:
            raise RequestRefused(Code.NOT_ACTIVE, NOT_ACTIVE)
        return self.pipeline

    def pose_in_world(self, pose: Any, frame_id: str, field: str) -> Pose:
        """Convert a message's pose to ``world``.

        Args:
            pose: The pose message.
            frame_id: Its frame.
            field: Name of the field, for errors.

        Returns:
            world_T_pose.

        Raises:
            Refused: The frame is not named.
            UnknownFrame: The frame is not known.
        """
        inner, frame = to.pose_from_msg(pose, field), self._world_T_frame(frame_id, field)
        return inner if frame is None else frame @ inner

    def poses_in_world(
        self, poses: Sequence[Any], frame_id: str, field: str, field_of: Callable[[int], str]
    ) -> tuple[Pose, ...]:
        """Convert many poses of a message to ``world``.

        Args:
            poses: The pose messages.
            frame_id: Their frame.
            field: Name of the field, for errors of the frame.
            field_of: Returns the field name of the pose with an index, for errors of poses.

        Returns:
            world_T_pose of each.

        Raises:
            Refused: The frame is not named.
            UnknownFrame: The frame is not known.
        """
        inner, frame = to.poses_from_msg(poses, field_of), self._world_T_frame(frame_id, field)
        return inner if frame is None else tuple(frame @ pose for pose in inner)

    def _world_T_frame(self, frame_id: str, field: str) -> Pose | None:
        """Return the pose of a frame in ``world``; None for ``world`` itself."""
        if not frame_id:
            text = f"{field}: header.frame_id is empty; name the frame, such as 'world'"
            raise RequestRefused(Code.UNKNOWN_FRAME, text, f"{field}.header.frame_id")
        if frame_id == "world":
            return None
        return self.frames.lookup("world", frame_id, f"{field}.header.frame_id")

    async def _run(self, response: Any, job: Job, fill: Callable[[Any], None]) -> Any:
        """Await the job's value; only ``fill`` and the return come after it."""
        pipeline, worker, done = self.ready_pipeline(), self._worker, Future()
        executor = self.node.executor
        if worker is None or executor is None:
            raise RequestRefused(Code.NOT_ACTIVE, NOT_ACTIVE)

        def work() -> None:
            executor.create_task(done.set_result, self._value(pipeline, job, worker))

        if not worker.submit(work):
            raise RequestRefused(Code.BUSY, f"{QUEUE_LIMIT} requests are under way already; ask again later")
        value = await done
        if isinstance(value, Outcome):
            return with_outcome(response, value)
        fill(value)
        return response

    def _value(self, pipeline: PlanningPipeline, job: Job, worker: EngineWorker) -> Any:
        """Return the job's value, or its failure as an outcome; runs on the engine's thread."""
        try:
            if worker.stopping.is_set():
                return Outcome(Code.SHUTDOWN, "planner_node is shutting down; ask again once it is back")
            return job(pipeline, worker.stopping.is_set)
        except HandiworkError as error:
            return error.outcome
        except Exception as error:  # noqa: BLE001 - the border of engine code
            self.node.get_logger().error(f"engine {pipeline.engine.name!r} failed:\n{traceback.format_exc()}")
            return Outcome(
                Code.INTERNAL, f"engine {pipeline.engine.name!r} raised {error!r}; see planner_node's log"
            )

    def _options(self, msg: Any) -> tuple[to.PlanOptions, ArmSpec, Any, float]:
        """Return options, arm, start (dof,) or empty for the measured one, and the deadline, counted from now."""
        arrived_s = time.monotonic()
        pipeline, options = self.ready_pipeline(), to.options_from_msg(msg)
        arm = checked_arm(pipeline.robot, options.arm)
        check_limits(options.budget_s, options.velocity_scaling, options.acceleration_scaling)
        start = NO_Q if options.start is None else ordered_q(options.start.position, arm, "options.start")
        return options, arm, start, arrived_s + options.budget_s

    async def _plan(self, request: Any, response: Any, goal_of: Callable[[ArmSpec], Goal]) -> Any:
        options, arm, start, deadline_s = self._options(request.options)
        asked = PlanRequest(
            arm.name,
            start,
            goal_of(arm),
            options.scene,
            options.hold_vec_weight,
            options.budget_s,
            options.velocity_scaling,
            options.acceleration_scaling,
            options.seed,
        )

        def fill(value: Any) -> None:
            response.result = to.plan_result_to_msg(value)

        version = options.min_world_version
        return await self._run(
            response, lambda pipeline, stop: pipeline.plan(asked, version, deadline_s, stop), fill
        )

    def _poses(self, array: Any, field: str) -> tuple[Pose, ...]:
        to.at_most(f"{field}.poses", len(array.poses), GOAL_POSES, "poses")
        if not array.poses:
            raise RequestRefused(Code.BAD_GOAL, f"{field} is empty; send at least one pose", field)
        return self.poses_in_world(array.poses, array.header.frame_id, field, lambda i: f"{field}[{i}]")

    async def _plan_to_poses(self, request: Any, response: Any) -> Any:
        return await self._plan(
            request, response, lambda _arm: PoseGoals(self._poses(request.goals, "goals"))
        )

    async def _plan_to_joints(self, request: Any, response: Any) -> Any:
        return await self._plan(
            request, response, lambda arm: JointGoals(self._joint_goals(request.goals, arm))
        )

    def _joint_goals(self, goals: Any, arm: ArmSpec) -> Any:
        to.at_most("goals", len(goals), GOAL_POSES * len(arm.joint_names), "numbers")
        return checked_q(goals, arm, "goals")

    async def _plan_straight(self, request: Any, response: Any) -> Any:
        def goal(_arm: ArmSpec) -> Goal:
            if not 0.0 < request.max_deviation < float("inf"):
                text = f"max_deviation is {request.max_deviation}; send a number above 0"
                raise RequestRefused(Code.BAD_NUMBER, text, "max_deviation")
            pose = self.pose_in_world(request.goal.pose, request.goal.header.frame_id, "goal")
            return StraightGoal(pose, request.max_deviation)

        return await self._plan(request, response, goal)

    def _candidates(self, request: Any) -> tuple[Candidate, ...]:
        count = sum(len(c.poses) for c in request.candidates)
        to.at_most("candidates", count, GOAL_POSES, "poses")
        to.at_most("scenes", len(request.scenes), SCENES, "scenes")
        places = [(i, k) for i, c in enumerate(request.candidates) for k in range(len(c.poses))]
        poses = iter(
            self.poses_in_world(
                [pose for c in request.candidates for pose in c.poses],
                request.frame_id,
                "candidates",
                lambda n: "candidates[{}].poses[{}]".format(*places[n]),
            )
        )
        return tuple(Candidate(tuple(islice(poses, len(c.poses)))) for c in request.candidates)

    async def _check_candidates(self, request: Any, response: Any) -> Any:
        options, arm, start, deadline_s = self._options(request.options)
        candidates = self._candidates(request)
        counts = {len(c.world_T_ee) for c in candidates}
        if not candidates or 0 in counts:
            raise RequestRefused(
                Code.BAD_GOAL, "candidates is empty or holds an empty one; send poses", "candidates"
            )
        scenes = tuple(to.scene_from_msg(s, f"scenes[{i}]") for i, s in enumerate(request.scenes)) or (
            options.scene,
        )
        if len(scenes) > 1 and counts != {len(scenes)}:
            poses = sorted(counts)
            text = (
                f"scenes has {len(scenes)} entries for candidates of {poses} poses; send one, or one per pose"
            )
            raise RequestRefused(Code.BAD_GOAL, text, "scenes")
        asked = CandidatesRequest(arm.name, start, candidates, scenes, options.budget_s, options.seed)

        def fill(value: Any) -> None:
            response.outcome = to.outcome_to_msg(Outcome(value.code, value.message))
            response.verdicts = [to.candidate_verdict_to_msg(v) for v in value.verdicts]
            response.planning_time, response.world_version = float(value.planning_time_s), value.world_version

        version = options.min_world_version
        return await self._run(
            response, lambda pipeline, stop: pipeline.check_candidates(asked, version, deadline_s, stop), fill
        )

    async def _solve_ik(self, request: Any, response: Any) -> Any:
        options, arm, start, _deadline_s = self._options(request.options)
        poses = self._poses(request.poses, "poses")
        asked = IkRequest(arm.name, poses, start, options.scene, request.avoid_collision, options.seed)

        def fill(value: Any) -> None:
            found = any(code is Code.OK for code in value.codes)
            text = "" if found else f"none of {len(value.codes)} poses has a solution; see codes"
            response.outcome = to.outcome_to_msg(Outcome(Code.OK if found else Code.NO_IK, text))
            response.codes = [int(code) for code in value.codes]
            response.positions = np.ravel(value.q).tolist()
            response.position_errors = value.position_error_m.tolist()
            response.angle_errors = value.angle_error_rad.tolist()
            response.planning_time = float(value.planning_time_s)

        version = options.min_world_version
        return await self._run(response, lambda pipeline, stop: pipeline.solve_ik(asked, version, stop), fill)

    async def _validate(self, request: Any, response: Any) -> Any:
        options, arm, start, _deadline_s = self._options(request.options)
        trajectory, rest = to.trajectory_from_msg(request.trajectory), _rest(request)

        def fill(value: Any) -> None:
            _fill_verdict(response, *value)
            response.point_index = value[0].at

        scene, version = options.scene, options.min_world_version
        return await self._run(
            response,
            lambda pipeline, _stop: pipeline.validate(arm, trajectory, scene, start, version, rest),
            fill,
        )

    async def _explain(self, request: Any, response: Any) -> Any:
        options, arm, start, _deadline_s = self._options(request.options)
        q = checked_q(request.positions, arm, "positions")[0] if len(request.positions) else start
        scene, version = options.scene, options.min_world_version

        def fill(value: Any) -> None:
            _fill_verdict(response, *value)

        return await self._run(
            response, lambda pipeline, _stop: pipeline.explain(arm, q, scene, version), fill
        )


def _rest(request: Any) -> PathRest | None:
    """Return the rest of a trajectory that is under way; None for one that has not begun."""
    if not request.under_way:
        return None
    if not 0.0 <= request.from_time < float("inf"):
        text = f"from_time is {request.from_time}; send the time that the arm has reached, 0 or more"
        raise RequestRefused(Code.BAD_NUMBER, text, "from_time")
    stamp_s = to.time_from_msg(request.min_states_stamp)
    return PathRest(request.from_time, frozenset(request.changed), request.min_objects_version, stamp_s)


def _fill_verdict(response: Any, verdict: Any, version: int) -> None:
    response.outcome = to.outcome_to_msg(to.verdict_outcome(verdict))
    response.clearance, response.world_version = float(verdict.clearance_m), version
