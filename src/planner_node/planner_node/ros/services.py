"""The ``planner/*`` services. A handler converts the message, queues a job on the engine's thread, and never blocks."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from handiwork_msgs import srv
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.task import Future

from handiwork_core.contracts.planning import (
    CandidatesRequest,
    Goal,
    IkRequest,
    JointGoals,
    PoseGoals,
)
from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.robot.robot import ArmSpec
from handiwork_ros import conversions as to
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.ports.frames import FrameBuffer
from handiwork_ros.rclpy_support.safe_callbacks import guard_service, with_outcome
from planner_node.pipeline.batches import BatchPlanner
from planner_node.pipeline.engine_worker import QUEUE_LIMIT, EngineWorker
from planner_node.pipeline.pipeline import PlanningPipeline
from planner_node.pipeline.request_checks import (
    RequestRefused,
    checked_q,
)

from .batch_service import add_batch_service
from .request_reading import (
    RequestReader,
    candidate_scenes,
    joint_goals,
    options_for,
    path_rest,
    plan_request,
)
from .response_writing import fill_candidates, fill_explanation, fill_ik, fill_plan, fill_validation
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
        self.reader = RequestReader(frames)
        self.pipeline: PlanningPipeline | None = None
        self.batches: BatchPlanner | None = None
        self._worker: EngineWorker | None = None
        # A waiting handler keeps its group busy: in the node's own group it would stop the life signs and the world.
        group = ReentrantCallbackGroup()
        handlers: dict[str, tuple[Any, Any]] = {
            "plan_to_poses": (srv.PlanToPoses, self._plan_to_poses),
            "plan_to_joints": (srv.PlanToJoints, self._plan_to_joints),
            "plan_straight": (srv.PlanStraight, self._plan_straight),
            "plan_along": (srv.PlanAlong, self._plan_along),
            "check_candidates": (srv.CheckCandidates, self._check_candidates),
            "solve_ik": (srv.SolveIk, self._solve_ik),
            "validate_trajectory": (srv.ValidateTrajectory, self._validate),
            "explain": (srv.Explain, self._explain),
        }
        for name, (kind, handler) in handlers.items():
            node.create_service(kind, f"planner/{name}", guard_service(node, handler), callback_group=group)
        add_batch_service(self, group)
        self._publish_obstacles = add_scene_services(self)

    def open(self, pipeline: PlanningPipeline, worker: EngineWorker, batches: BatchPlanner) -> None:
        """Serve requests from now on.

        Args:
            pipeline: The pipeline of all requests.
            worker: The engine's thread.
            batches: Plans batches.
        """
        self.pipeline, self._worker, self.batches = pipeline, worker, batches
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

    async def run(
        self,
        response: Any,
        job: Job,
        fill: Callable[[Any, Any], None],
        worker: EngineWorker | None = None,
    ) -> Any:
        """Await the value of a job; only ``fill`` and the return come after it.

        Args:
            response: The response.
            job: The job; its errors become the outcome of the response.
            fill: Writes the job's value into the response.
            worker: The thread of the job; None: the engine's.

        Returns:
            The response.

        Raises:
            Refused: The node is not active, or too many requests are under way.
        """
        pipeline, worker, done = self.ready_pipeline(), worker or self._worker, Future()
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
        fill(response, value)
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

    async def _plan(self, request: Any, response: Any, goal_of: Callable[[ArmSpec], Goal]) -> Any:
        options, arm, start, deadline_s = options_for(request.options, self.ready_pipeline().robot)
        asked = plan_request(options, arm, start, goal_of(arm))
        version = options.min_world_version
        return await self.run(
            response, lambda pipeline, stop: pipeline.plan(asked, version, deadline_s, stop), fill_plan
        )

    async def _plan_to_poses(self, request: Any, response: Any) -> Any:
        return await self._plan(
            request, response, lambda _arm: PoseGoals(self.reader.goal_poses(request.goals, "goals"))
        )

    async def _plan_to_joints(self, request: Any, response: Any) -> Any:
        return await self._plan(request, response, lambda arm: JointGoals(joint_goals(request.goals, arm)))

    async def _plan_straight(self, request: Any, response: Any) -> Any:
        return await self._plan(request, response, lambda _arm: self.reader.straight_goal(request))

    async def _plan_along(self, request: Any, response: Any) -> Any:
        return await self._plan(request, response, lambda _arm: self.reader.path_goal(request))

    async def _check_candidates(self, request: Any, response: Any) -> Any:
        options, arm, start, deadline_s = options_for(request.options, self.ready_pipeline().robot)
        candidates = self.reader.candidates(request)
        scenes = candidate_scenes(request, candidates, options.scene)
        asked = CandidatesRequest(arm.name, start, candidates, scenes, options.budget_s, options.seed)

        version = options.min_world_version
        return await self.run(
            response,
            lambda pipeline, stop: pipeline.check_candidates(asked, version, deadline_s, stop),
            fill_candidates,
        )

    async def _solve_ik(self, request: Any, response: Any) -> Any:
        options, arm, start, _deadline_s = options_for(request.options, self.ready_pipeline().robot)
        poses = self.reader.goal_poses(request.poses, "poses")
        asked = IkRequest(arm.name, poses, start, options.scene, request.avoid_collision, options.seed)
        version = options.min_world_version
        return await self.run(
            response, lambda pipeline, stop: pipeline.solve_ik(asked, version, stop), fill_ik
        )

    async def _validate(self, request: Any, response: Any) -> Any:
        options, arm, start, _deadline_s = options_for(request.options, self.ready_pipeline().robot)
        trajectory, rest = to.trajectory_from_msg(request.trajectory), path_rest(request)

        scene, version = options.scene, options.min_world_version
        return await self.run(
            response,
            lambda pipeline, _stop: pipeline.validate(arm, trajectory, scene, start, version, rest),
            fill_validation,
        )

    async def _explain(self, request: Any, response: Any) -> Any:
        options, arm, start, _deadline_s = options_for(request.options, self.ready_pipeline().robot)
        q = checked_q(request.positions, arm, "positions")[0] if len(request.positions) else start
        scene, version = options.scene, options.min_world_version

        return await self.run(
            response, lambda pipeline, _stop: pipeline.explain(arm, q, scene, version), fill_explanation
        )
