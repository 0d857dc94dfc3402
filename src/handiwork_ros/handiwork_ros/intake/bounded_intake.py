"""Callbacks that refuse messages which are too large, before they are deserialized."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.serialization import deserialize_message

from handiwork_ros.rclpy_support.safe_callbacks import guard

from .message_sizes import excess

LOG_PERIOD_S = 5.0


class BoundedIntake:
    """The messages of one topic; counts those that it refuses."""

    def __init__(self, node: Node, kind: Any, topic: str) -> None:
        self._node, self._kind, self._topic = node, kind, topic
        self.refused = 0

    def accepts(self, data: bytes) -> bool:
        """Whether a serialized message is within the limits; one that is not is counted and logged."""
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
        node: logs what is refused.
        kind: type of the messages.
        topic: its name, for the log.
        take: is given each message.
        raw: ``take`` wants it serialized.
    """
    intake = BoundedIntake(node, kind, topic)

    def callback(data: bytes) -> None:
        if intake.accepts(data):
            take(data if raw else deserialize_message(data, kind))

    return guard(node, callback)
