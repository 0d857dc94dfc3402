"""Many plans at once from plain Python programs, made by the planner of a running stack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType

from handiwork_msgs.srv import PlanBatch

from handiwork_core.contracts.planning import PlanRequest, PlanResult, ShouldStop, never_stop
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.robot.robot import Robot
from handiwork_ros.conversions import outcome_from_msg, plan_problem_to_msg, plan_result_from_msg
from handiwork_ros.rclpy_support.background_node import BackgroundNode
from handiwork_ros.rclpy_support.service_call import NoAnswer, call

GRACE_S = 10.0
"""The time for transport and for the start of the planner's processes in addition to that of the batch, s."""


@dataclass(frozen=True, slots=True, eq=False)
class BatchAnswer:
    """The planner's answer to a batch.

    Attributes:
        outcome: OK, or why the batch as a whole was not planned.
        results: One for each request, in their order; empty unless ``outcome`` is OK.
        planning_time_s: Time used, s of steady time.
        world_version: Version of the world in which all were planned.
    """

    outcome: Outcome
    results: tuple[PlanResult, ...] = ()
    planning_time_s: float = 0.0
    world_version: int = 0

    @property
    def ok(self) -> bool:
        """True when each request has a result, whatever that is."""
        return self.outcome.ok


class BatchPlanClient:
    """Sends batches to a running ``planner_node``. Leave it with ``close`` or by ``with``.

    Args:
        robot: The planner's robot.
        node_name: Name of its node.
        domain_id: ROS domain; None: that of the environment.
        namespace: Namespace of the stack; see ``SkillClient``.
    """

    def __init__(
        self,
        robot: Robot,
        *,
        node_name: str = "handiwork_batch_plan_client",
        domain_id: int | None = None,
        namespace: str | None = None,
    ) -> None:
        self._robot = robot
        self._background = BackgroundNode(node_name, domain_id=domain_id, namespace=namespace)
        self._client = self._background.node.create_client(PlanBatch, "planner/plan_batch")
        self._background.start()
        self._is_new = True

    def close(self) -> None:
        """Leave the ROS graph."""
        self._background.stop()
        self._background.destroy()

    def __enter__(self) -> BatchPlanClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def plan(
        self,
        requests: Sequence[PlanRequest],
        *,
        allowed_planning_time_s: float = 60.0,
        should_stop: ShouldStop = never_stop,
    ) -> BatchAnswer:
        """Plan many motions in the newest world of the planner. Nothing moves.

        Args:
            requests: The requests, 1,000 at most. An empty ``start_q`` means the measured joints, and ``budget_s``
                counts from the moment at which the request is begun.
            allowed_planning_time_s: Time for all of them, s; those not planned by then end as PLAN_BUDGET.
            should_stop: Returns True when the wait must end; the planner still plans the batch to its end.

        Returns:
            The planner's answer.

        Raises:
            KeyError: The robot has no arm of a request's name.
            ValueError: A start has not as many joints as the arm.
        """
        message = PlanBatch.Request(
            problems=[plan_problem_to_msg(self._robot, request) for request in requests],
            allowed_planning_time=float(allowed_planning_time_s),
        )
        timeout_s, is_new = allowed_planning_time_s + GRACE_S, self._is_new
        self._is_new = False
        answer = call(
            self._background.node,
            self._client,
            message,
            timeout_s=timeout_s,
            should_stop=should_stop,
            is_new=is_new,
        )
        if answer is NoAnswer.STOPPED:
            return BatchAnswer(Outcome(Code.CANCELED, "stopped while waiting for planner/plan_batch"))
        if isinstance(answer, NoAnswer):
            text = f"{self._client.srv_name} does not answer in {timeout_s:g} s"
            text = f"{text}; start the stack, or set its ROS_DOMAIN_ID"
            return BatchAnswer(Outcome(Code.UNRESPONSIVE, text))
        results = tuple(plan_result_from_msg(result) for result in answer.results)
        return BatchAnswer(
            outcome_from_msg(answer.outcome), results, answer.planning_time, answer.world_version
        )
