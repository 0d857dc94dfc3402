"""The conditions that the monitor watches, by its latched topic."""

from __future__ import annotations

import time
from typing import Any

from handiwork_msgs.msg import Conditions
from handiwork_msgs.srv import EvaluateCondition
from rclpy.node import Node

from handiwork_core.contracts.planning import ShouldStop
from handiwork_core.contracts.predicate import Truth
from handiwork_core.contracts.reactive import ConditionTable, WatchedCondition
from handiwork_ros.conversions import outcome_from_msg, time_from_msg
from handiwork_ros.rclpy_support.qos import LATCHED
from handiwork_ros.rclpy_support.safe_callbacks import guard
from handiwork_ros.rclpy_support.service_call import NoAnswer, call

SERVICE = "conditions/evaluate"
ANSWER_S = 5.0
"""Longest wait for the monitor's answer, s of steady time."""
LISTED = 10


class ConditionWatch:
    """Implements ``WatchedConditions``. Call it from a worker thread.

    Args:
        node: Hosts the clients; another thread spins it.
    """

    def __init__(self, node: Node) -> None:
        self._node, self._client = node, node.create_client(EvaluateCondition, SERVICE)
        self._newest: tuple[float, Any] | None = None
        self._sub = node.create_subscription(Conditions, "conditions", guard(node, self._keep), LATCHED)

    def find(self, text: str, *, should_stop: ShouldStop) -> tuple[str, str]:
        """Return the key of a watched condition, or why there is none; see ``WatchedConditions``.

        Args:
            text: Its name, or its expression.
            should_stop: Turns true when the answer is not needed any more.
        """
        if key := self._named(text.strip()):
            return key, ""
        plain = text.strip().isidentifier()
        request = EvaluateCondition.Request(
            name=text.strip() if plain else "", expression="" if plain else text
        )
        answer = call(self._node, self._client, request, timeout_s=ANSWER_S, should_stop=should_stop)
        if isinstance(answer, NoAnswer):
            return "", f"{SERVICE} does not answer in {ANSWER_S:g} s; start conditionals_node"
        outcome, found = outcome_from_msg(answer.outcome), answer.condition
        if not outcome.ok:
            return "", outcome.message
        newest = self._newest
        watched = [] if newest is None else list(newest[1].conditions)
        for one in watched:
            if one.key == found.key or (found.expression and one.expression == found.expression):
                return one.key, ""
        keys = [one.key for one in watched[:LISTED]]
        return "", f"the monitor does not watch it, only {keys}; watch it with conditions/watch first"

    def _named(self, text: str) -> str:
        """Return the key of the one condition that has this key or name; empty for none."""
        watched = [] if self._newest is None else self._newest[1].conditions
        found = [str(one.key) for one in watched if text in (one.key, one.name)]
        return found[0] if len(found) == 1 else ""

    def table(self) -> ConditionTable | None:
        """Return the newest table; None before the first."""
        newest = self._newest
        if newest is None:
            return None
        came_s, message = newest
        conditions = {
            one.key: WatchedCondition(
                Truth(one.value),
                time_from_msg(one.stamp),
                bool(one.verdict.at_end),
                str(one.reason),
                float(one.margin),
            )
            for one in message.conditions
        }
        return ConditionTable(time.monotonic() - came_s, conditions)

    def _keep(self, message: Any) -> None:
        self._newest = time.monotonic(), message
