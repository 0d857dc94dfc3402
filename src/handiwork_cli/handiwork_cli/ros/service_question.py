"""One service call of a command."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node

from handiwork_ros.rclpy_support.service_call import NoAnswer, call


def ask(node: Node, kind: Any, name: str, request: Any, timeout_s: float) -> Any:
    """Call a service and wait for its response.

    Args:
        node: The node; another thread spins it.
        kind: Type of the service.
        name: Name of the service.
        request: The request.
        timeout_s: Longest wait, s.

    Returns:
        The response; None when there is none in time.
    """
    answer = call(node, node.create_client(kind, name), request, timeout_s=timeout_s, is_new=True)
    return None if isinstance(answer, NoAnswer) else answer
