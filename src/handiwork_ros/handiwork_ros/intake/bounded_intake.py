"""Subscription callbacks that refuse messages which are too large, before they are deserialized."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.serialization import deserialize_message

from handiwork_ros.rclpy_support.safe_callbacks import guard

from .message_sizes import excess

LOG_PERIOD_S = 5.0
"""The shortest pause between two log lines about refused messages, s."""


class BoundedIntake:
    """The messages of one topic; counts those that it refuses.

    Args:
        node: Logs the refused messages.
        kind: Type of the messages.
        topic: Name of the topic, for the log.
    """

    def __init__(self, node: Node, kind: Any, topic: str) -> None:
        self._node, self._kind, self._topic = node, kind, topic
        self.refused = 0

    def accepts(self, data: bytes) -> bool:
        """Check whether a message is within the limits; count and log one that is not.

        Args:
            data: The serialized message.
        """
        why = excess(self._kind, data)
        if why:
            self.refused += 1
            text = f"{self._topic}: a message {why}; {self.refused} messages were refused so far"
            self._node.get_logger().error(text, throttle_duration_sec=LOG_PERIOD_S)
        return not why


def bounded(
    node: Node,
    kind: Any,
    topic: str,
    take: Callable[[Any], None],
    *,
    raw: bool = False,
) -> Callable[[bytes], None]:
    """Return the callback of a raw subscription that gives ``take`` the messages within the limits.

    Args:
        node: Logs the refused messages.
        kind: Type of the messages.
        topic: Name of the topic, for the log.
        take: Called with each message within the limits.
        raw: Give ``take`` the serialized message instead of the deserialized one.

    Returns:
        The callback; its argument is a serialized message.
    """
    intake = BoundedIntake(node, kind, topic)

    def callback(data: bytes) -> None:
        if intake.accepts(data):
            take(data if raw else deserialize_message(data, kind))

    return guard(node, callback)
