"""One service call of a command: ask, wait, done."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node

from handiwork_ros.rclpy_support.service_call import Silence, call


def ask(node: Node, kind: Any, name: str, request: Any, timeout_s: float) -> Any:
    """The answer of a service to ``request``, None when there is none in time. ``node`` is spun by another thread."""
    answer = call(node, node.create_client(kind, name), request, timeout_s=timeout_s, is_new=True)
    return None if isinstance(answer, Silence) else answer
