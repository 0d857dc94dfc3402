"""The conditions that the monitor watches, by its latched topic."""

from __future__ import annotations

import threading
import time
from typing import Any

from handiwork_msgs.msg import Conditions
from handiwork_msgs.srv import EvaluateCondition
from rclpy.node import Node
from rclpy.serialization import deserialize_message

from handiwork_core.contracts.planning import ShouldStop
from handiwork_core.contracts.predicate import Truth
from handiwork_core.contracts.reactive import ConditionTable, WatchedCondition
from handiwork_ros.conversions import outcome_from_msg, time_from_msg
from handiwork_ros.intake.topic_intake import TopicIntake, taken
from handiwork_ros.rclpy_support.polled_group import PolledGroup
from handiwork_ros.rclpy_support.qos import LATCHED
from handiwork_ros.rclpy_support.service_call import NoAnswer, call

TOPIC, SERVICE = "conditions", "conditions/evaluate"
ANSWER_S = 5.0
"""Longest wait for the monitor's answer, s of steady time."""
LISTED = 10


class ConditionWatch:
    """Implements ``WatchedConditions``. Call it from a worker thread.

    Messages do not wake the executor, as hardly any goal needs them: the newest is read when it is asked for.

    Args:
        node: Hosts the clients; another thread spins it.
    """

    def __init__(self, node: Node) -> None:
        self._node, self._client = node, node.create_client(EvaluateCondition, SERVICE)
        self._lock, log = threading.Lock(), node.get_logger().warning
        self._intake = TopicIntake[Any](TOPIC, _read, None, self._lock, log, Conditions)
        self._sub = node.create_subscription(
            Conditions, TOPIC, self._intake.take, LATCHED, callback_group=PolledGroup(), raw=True
        )

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
        watched = self._watched()
        for one in watched:
            if one.key == found.key or (found.expression and one.expression == found.expression):
                return one.key, ""
        keys = [one.key for one in watched[:LISTED]]
        return "", f"the monitor does not watch it, only {keys}; watch it with conditions/watch first"

    def _named(self, text: str) -> str:
        """Return the key of the one condition that has this key or name; empty for none."""
        found = [str(one.key) for one in self._watched() if text in (one.key, one.name)]
        return found[0] if len(found) == 1 else ""

    def table(self) -> ConditionTable | None:
        """Return the newest table; None before the first."""
        message, heard_s = self._message()
        if message is None:
            return None
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
        return ConditionTable(time.monotonic() - heard_s, conditions)

    def _watched(self) -> list[Any]:
        message, _ = self._message()
        return [] if message is None else list(message.conditions)

    def _message(self) -> tuple[Any, float]:
        """Return the newest message, None before the first, and its time of arrival, s of steady time."""
        with self._lock:
            if found := taken(self._sub):
                self._intake.offer(found)
            return self._intake.value(), self._intake.heard_s()


def _read(data: bytes) -> Any:
    return deserialize_message(data, Conditions)
