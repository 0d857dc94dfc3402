"""Client of the condition monitor, for tasks that ask for conditions."""

from __future__ import annotations

from typing import Any

from handiwork_msgs.srv import EvaluateCondition
from rclpy.node import Node

from handiwork_core.contracts.planning import ShouldStop, never_stop
from handiwork_core.contracts.predicate import Truth
from handiwork_ros.conversions import outcome_from_msg
from handiwork_ros.rclpy_support.service_call import NoAnswer, call
from skill_server.task.conditions import Decision, Examined

SERVICE = "conditions/evaluate"
EXAMINE_S = 1.0
"""Longest wait for an answer while a goal is checked, s of steady time."""
DECIDE_S = 10.0
"""Longest wait for an answer while a task runs, s of steady time; a monitor that was restarted answers in time."""


class MonitorClient:
    """The condition monitor. Its methods block: call them from a worker thread while the node is spun.

    Args:
        node: Hosts the client; another thread spins it.
    """

    def __init__(self, node: Node) -> None:
        self._node, self._client = node, node.create_client(EvaluateCondition, SERVICE)

    def examine(self, text: str) -> Examined:
        """Check the text of a condition; see ``Conditions.examine``.

        Args:
            text: The expression.
        """
        answer = self._ask(text, EXAMINE_S, never_stop)
        if isinstance(answer, NoAnswer):
            fault = (
                f"cannot be checked: {SERVICE} does not answer in {EXAMINE_S:g} s; start conditionals_node"
            )
            return Examined((fault,), is_silent=True)
        outcome = outcome_from_msg(answer.outcome)
        return Examined(() if outcome.ok else (outcome.message,), tuple(answer.subjects))

    def decide(self, text: str, *, should_stop: ShouldStop) -> Decision:
        """Decide a condition once; see ``Conditions.decide``.

        Args:
            text: The expression.
            should_stop: Turns true when the answer is not needed any more.
        """
        answer = self._ask(text, DECIDE_S, should_stop)
        if isinstance(answer, NoAnswer):
            reason = f"{SERVICE} does not answer in {DECIDE_S:g} s; start conditionals_node"
            return Decision(Truth.UNKNOWN, reason)
        outcome, found = outcome_from_msg(answer.outcome), answer.condition
        if not outcome.ok:
            return Decision(Truth.UNKNOWN, outcome.message)
        return Decision(Truth(found.value), found.reason, found.stamp.sec + 1e-9 * found.stamp.nanosec)

    def _ask(self, text: str, timeout_s: float, should_stop: ShouldStop) -> Any | NoAnswer:
        plain = text.strip().isidentifier()
        request = EvaluateCondition.Request(
            name=text.strip() if plain else "", expression="" if plain else text
        )
        return call(self._node, self._client, request, timeout_s=timeout_s, should_stop=should_stop)
