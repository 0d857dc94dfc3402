"""Follows the state of the robot's safety layer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from handiwork_msgs.msg import SafetyState
from rclpy.node import Node

from handiwork_core.model.outcome import Outcome
from handiwork_ros.intake.topic_intake import number_of
from handiwork_ros.rclpy_support import rclpy_internals as internals
from handiwork_ros.rclpy_support.qos import LATCHED
from handiwork_ros.rclpy_support.safe_callbacks import guard

from .messages import outcome_of_state
from .names import STATE


class SafetyWatch:
    """Keeps the newest state. A robot without a safety layer publishes none, and then no goal is refused here.

    Args:
        node: Hosts the subscription.
        on_stop: Called with the reason at the beginning of each stop.
    """

    def __init__(self, node: Node, on_stop: Callable[[Outcome], None] | None = None) -> None:
        self._on_stop = on_stop
        self.state: Any = None
        self._lock, self._number, self._received_ns = threading.Lock(), 0, 0
        self._read_arrived = guard(node, self._take_arrived)
        take = guard(node, self._take)
        self._subscription = node.create_subscription(
            SafetyState, STATE, lambda message, info: take(message, info), LATCHED
        )

    def refusal(self) -> Outcome | None:
        """Return the reason why no goal may begin now; None if goals may begin.

        A goal and the state that allows it arrive on different topics, so the executor may take the goal first.
        Therefore a state that has arrived is read before a goal is refused.
        """
        if self._known() is not None:
            self._read_arrived()
        return self._known()

    def _known(self) -> Outcome | None:
        return None if self.state is None else outcome_of_state(self.state)

    def _take_arrived(self) -> None:
        arrived = internals.take(self._subscription)
        if arrived is not None:
            self._take(*arrived)

    def _take(self, message: Any, info: dict[str, Any]) -> None:
        with self._lock:
            if self._is_older(info):
                return
            before, self.state = self._known(), message
            self._number, self._received_ns = number_of(info), int(info["received_timestamp"])
            now = self._known()
        is_new = now is not None and (before is None or before.code is not now.code)
        if is_new and now is not None and self._on_stop is not None:
            self._on_stop(now)

    def _is_older(self, info: dict[str, Any]) -> bool:
        """Return whether the other one of two threads, the executor's and that of a goal's check, took a newer state.

        Numbers begin again with a new publisher, and the clock may be set back, but not both for one message.
        """
        return number_of(info) < self._number and info["received_timestamp"] < self._received_ns
