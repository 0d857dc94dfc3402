"""The service ``planner/plan_batch``: many problems in one request, each answered for itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from handiwork_msgs import srv
from handiwork_msgs.msg import PlanProblem
from handiwork_msgs.msg import PlanResult as PlanResultMsg
from rclpy.callback_groups import CallbackGroup

from handiwork_core.contracts.planning import (
    Goal,
    JointGoals,
    PathGoal,
    PlanRequest,
    PoseGoals,
    StraightGoal,
)
from handiwork_core.intake.limits import BATCH_PROBLEMS, GOAL_POSES
from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_ros import conversions as to
from handiwork_ros.rclpy_support.safe_callbacks import guard_service
from planner_node.pipeline.pipeline import PlanningPipeline
from planner_node.pipeline.request_checks import MAX_BUDGET_S, RequestRefused

from .request_reading import RequestReader, check_deviation, joint_goals, options_for, plan_request

if TYPE_CHECKING:
    from .services import PlanningServices


@dataclass(frozen=True, slots=True, eq=False)
class _Answer:
    """What the response is filled with; made on the thread of the batch, because it takes long."""

    results: list[PlanResultMsg]
    world_version: int
    planning_time_s: float


def add_batch_service(services: PlanningServices, group: CallbackGroup) -> None:
    """Create the service on the node.

    Args:
        services: The planner's services.
        group: A group whose handlers may wait.
    """

    async def plan_batch(request: Any, response: Any) -> Any:
        arrived_s, robot = time.monotonic(), services.ready_pipeline().robot
        batches = services.batches
        assert batches is not None  # it is there when the pipeline is
        _check(request)
        asked = [problem_from_msg(one, services.reader, robot) for one in request.problems]
        version = max(one.options.min_world_version for one in request.problems)
        deadline_s = arrived_s + request.allowed_planning_time

        def job(_pipeline: PlanningPipeline, should_stop: Callable[[], bool]) -> _Answer:
            done = batches.plan(asked, version, deadline_s, should_stop)
            messages = [to.plan_result_to_msg(result) for result in done.results]
            return _Answer(messages, done.world_version, done.planning_time_s)

        worker = batches.worker if batches.is_beside_engine else None
        return await services.run(response, job, _fill, worker)

    handler = guard_service(services.node, plan_batch)
    services.node.create_service(srv.PlanBatch, "planner/plan_batch", handler, callback_group=group)


def problem_from_msg(problem: Any, reader: RequestReader, robot: Robot) -> PlanRequest | Outcome:
    """Read one problem of a batch.

    Args:
        problem: The message.
        reader: Reads poses.
        robot: The robot.

    Returns:
        The request, or the reason why it is refused.
    """
    try:
        options, arm, start, _deadline_s = options_for(problem.options, robot)
        return plan_request(options, arm, start, _goal(problem, arm, reader))
    except HandiworkError as error:
        return error.outcome


def _goal(problem: Any, arm: ArmSpec, reader: RequestReader) -> Goal:
    if problem.kind == PlanProblem.TO_JOINTS:
        return JointGoals(joint_goals(problem.goals, arm))
    if problem.kind not in (PlanProblem.TO_POSES, PlanProblem.STRAIGHT, PlanProblem.ALONG):
        text = f"kind is {problem.kind}; send TO_POSES, TO_JOINTS, STRAIGHT or ALONG of PlanProblem"
        raise RequestRefused(Code.BAD_GOAL, text, "kind")
    poses = reader.goal_poses(problem.poses, "poses")
    if problem.kind == PlanProblem.TO_POSES:
        return PoseGoals(poses)
    check_deviation(problem)
    if problem.kind == PlanProblem.ALONG:
        return PathGoal(poses, problem.max_deviation)
    if len(poses) != 1:
        raise RequestRefused(Code.BAD_GOAL, f"poses has {len(poses)} for a straight line; send one", "poses")
    return StraightGoal(poses[0], problem.max_deviation)


def _check(request: Any) -> None:
    problems, limit_s = request.problems, request.allowed_planning_time
    to.at_most("problems", len(problems), BATCH_PROBLEMS, "problems")
    if not problems:
        raise RequestRefused(Code.BAD_GOAL, "problems is empty; send at least one", "problems")
    to.at_most("problems", sum(len(one.poses.poses) for one in problems), GOAL_POSES, "poses")
    to.at_most("problems", sum(len(one.goals) for one in problems), 10 * GOAL_POSES, "numbers")
    if not 0.0 < limit_s <= MAX_BUDGET_S:
        text = f"allowed_planning_time is {limit_s:g}; send a number above 0 and at most {MAX_BUDGET_S:g}"
        raise RequestRefused(Code.BAD_NUMBER, text, "allowed_planning_time")


def _fill(response: Any, value: _Answer) -> None:
    response.outcome = to.outcome_to_msg(OK)
    response.results = value.results
    response.planning_time, response.world_version = value.planning_time_s, value.world_version
