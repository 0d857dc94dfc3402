"""Calls of the ``planner/*`` services that are awaited on the executor."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from handiwork_msgs import srv
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future

from handiwork_core.model.outcome import Code
from handiwork_ros.conversions import outcome_from_msg
from handiwork_ros.liveness.heartbeat import Heartbeats
from handiwork_ros.ports.planner import PLANNER
from handiwork_ros.rclpy_support.safe_callbacks import guard
from moveit_facade.model.error_codes import ErrorCode, RequestError, error_of

CHECK_S = 0.1
"""The period in which answers that do not come are given up, s of steady time."""
GRACE_S = 3.0
"""The time for queueing and transport beyond the budget of a request, s."""
BUSY_TRIES = 20
"""The number of repetitions while the planner's queue is full, one every ``CHECK_S``."""

KINDS = {
    "plan_to_poses": srv.PlanToPoses,
    "plan_to_joints": srv.PlanToJoints,
    "plan_along": srv.PlanAlong,
    "solve_ik": srv.SolveIk,
    "explain": srv.Explain,
    "validate_trajectory": srv.ValidateTrajectory,
    "attach_object": srv.AttachObject,
    "detach_object": srv.DetachObject,
    "update_scene": srv.UpdateScene,
}


@dataclass
class _Pending:
    """A call without an answer."""

    end_s: float
    answered: Future


class PlannerCalls:
    """Clients of the planner. Its methods are coroutines of the node's executor.

    Args:
        node: Hosts the clients.
        signs: Bond to the planner.
    """

    def __init__(self, node: Node, signs: Heartbeats) -> None:
        self._signs = signs
        group = ReentrantCallbackGroup()
        self._clients = {
            name: node.create_client(kind, f"planner/{name}", callback_group=group)
            for name, kind in KINDS.items()
        }
        self._pending: list[_Pending] = []
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(CHECK_S, guard(node, self._check), group, steady)
        signs.watch(PLANNER)

    def missing(self) -> list[str]:
        """Return the names of the services that are not there."""
        return [client.srv_name for client in self._clients.values() if not client.service_is_ready()]

    async def ask(self, name: str, request: Any, budget_s: float = 2.0) -> Any:
        """Return the response of a service, whatever its outcome; a full queue is waited for.

        Args:
            name: Name of the service below ``planner/``.
            request: The request.
            budget_s: Time that the planner may take, s.

        Raises:
            RequestError: COMMUNICATION_FAILURE, when there is no answer.
        """
        for _attempt in range(BUSY_TRIES):
            response = await self._once(name, request, budget_s)
            holder = response if hasattr(response, "outcome") else response.result
            if holder.outcome.code != Code.BUSY:
                break
            await self.pause(CHECK_S)
        return response

    async def do(self, name: str, request: Any, budget_s: float = 2.0) -> Any:
        """Return the response of a service that has succeeded.

        Args:
            name: Name of the service below ``planner/``.
            request: The request.
            budget_s: Time that the planner may take, s.

        Raises:
            RequestError: The value and the sentence of its outcome, or COMMUNICATION_FAILURE.
        """
        response = await self.ask(name, request, budget_s)
        holder = response if hasattr(response, "outcome") else response.result
        outcome = outcome_from_msg(holder.outcome)
        if not outcome.ok:
            raise error_of(outcome, f"planner/{name}")
        return response

    async def _once(self, name: str, request: Any, budget_s: float) -> Any:
        client, source = self._clients[name], f"planner/{name}"
        if not client.service_is_ready():
            text = f"{source} is not served; start planner_node, or wait until handiwork/status says ACTIVE"
            raise RequestError(ErrorCode.COMMUNICATION_FAILURE, text, source)
        answered, sent = Future(), client.call_async(request)
        sent.add_done_callback(lambda future: answered.done() or answered.set_result(future.result()))
        pending = _Pending(time.monotonic() + budget_s + GRACE_S, answered)
        self._pending.append(pending)
        try:
            response = await answered
        finally:
            self._pending.remove(pending)
        if response is None:
            client.remove_pending_request(sent)
            why = self._signs.loss(PLANNER)[1] or f"{source} did not answer within {budget_s + GRACE_S:.1f} s"
            text = f"{why}; send the request again once planner_node is active"
            raise RequestError(ErrorCode.COMMUNICATION_FAILURE, text, source)
        return response

    async def pause(self, seconds: float) -> None:
        """Wait, while the executor goes on.

        Args:
            seconds: The time, s of steady time, rounded up to ``CHECK_S``.
        """
        answered = Future()
        pending = _Pending(time.monotonic() + seconds, answered)
        self._pending.append(pending)
        try:
            await answered
        finally:
            self._pending.remove(pending)

    def _check(self) -> None:
        now_s = time.monotonic()
        is_lost = self._signs.sign(PLANNER) is not None and not self._signs.is_alive(PLANNER)
        for pending in list(self._pending):
            if (is_lost or now_s > pending.end_s) and not pending.answered.done():
                pending.answered.set_result(None)
