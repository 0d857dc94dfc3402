"""Follows the state of the robot's safety layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from handiwork_msgs.msg import SafetyState
from rclpy.node import Node

from handiwork_core.model.outcome import Outcome
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
        self._subscription = node.create_subscription(SafetyState, STATE, guard(node, self._take), LATCHED)

    def refusal(self) -> Outcome | None:
        """Return the reason why no goal may begin now; None if goals may begin."""
        return None if self.state is None else outcome_of_state(self.state)

    def _take(self, message: Any) -> None:
        before, self.state = self.refusal(), message
        now = self.refusal()
        is_new = now is not None and (before is None or before.code is not now.code)
        if is_new and now is not None and self._on_stop is not None:
            self._on_stop(now)
