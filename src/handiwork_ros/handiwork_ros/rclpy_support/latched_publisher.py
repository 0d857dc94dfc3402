"""A latched publisher that repeats its newest message, for subscribers that did not receive it from the middleware.

Fast DDS sends the newest message to a late subscriber once, when the two are matched. If one of both was stopped for
longer than the lease of its participant, that message can be lost while the match itself succeeds, and then the
subscriber would wait for ever.
"""

from __future__ import annotations

import threading
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.event_handler import PublisherEventCallbacks, QoSPublisherMatchedInfo
from rclpy.node import Node
from rclpy.qos import QoSProfile

from .qos import LATCHED
from .safe_callbacks import guard

REPEATS_S = (0.5, 2.0, 5.0)
"""The times after the match of a new subscriber at which a message is repeated, s; the last follows any short delay."""

STEP_S = 0.5
"""The precision of these times, s."""


class LatchedPublisher:
    """Publishes on a transient local topic, and repeats the newest message for every new subscriber.

    Args:
        node: Hosts the publisher.
        kind: Type of the messages.
        topic: Name of the topic.
        qos: A reliable and transient local profile.
        period_s: Period of a steady repetition, for small messages whose repetition does no harm, s; 0: none.
    """

    def __init__(
        self, node: Node, kind: Any, topic: str, qos: QoSProfile = LATCHED, *, period_s: float = 0.0
    ) -> None:
        self._newest: Any = None
        # Without it a repetition could be sent after a newer message of another thread, and remain the last one.
        self._lock = threading.Lock()
        self._due_s: list[float] = []
        self._now_s, self._period_s, self._last_s = 0.0, period_s, 0.0
        group, steady = ReentrantCallbackGroup(), Clock(clock_type=ClockType.STEADY_TIME)
        events = PublisherEventCallbacks(matched=guard(node, self._on_matched))
        self._publisher = node.create_publisher(
            kind, topic, qos, callback_group=group, event_callbacks=events
        )
        self._timer = node.create_timer(STEP_S, guard(node, self._on_step), group, steady)
        if not period_s:
            self._timer.cancel()

    def publish(self, message: Any) -> None:
        """Publish a message, and keep it for repetition; from any thread.

        Args:
            message: The message.
        """
        with self._lock:
            self._newest, self._last_s = message, self._now_s
            self._publisher.publish(message)

    def forget(self) -> None:
        """Stop the repetition until the next message, for a node that does not serve any more."""
        with self._lock:
            self._newest = None

    def _on_matched(self, info: QoSPublisherMatchedInfo) -> None:
        if info.total_count_change > 0:
            self._due_s = [self._now_s + later_s for later_s in REPEATS_S]
            self._timer.reset()

    def _on_step(self) -> None:
        self._now_s += STEP_S
        is_due = bool(self._due_s) and self._now_s >= self._due_s[0]
        if is_due:
            self._due_s.pop(0)
        elif self._period_s and self._now_s - self._last_s >= self._period_s:
            is_due = True
        elif not self._due_s and not self._period_s:
            self._timer.cancel()
        with self._lock:
            if is_due and self._newest is not None:
                self._last_s = self._now_s
                self._publisher.publish(self._newest)
