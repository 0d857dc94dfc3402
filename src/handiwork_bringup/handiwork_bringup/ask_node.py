"""One service call of a command: ask, wait, done."""

from __future__ import annotations

import threading
import time
from typing import Any

from rclpy.node import Node


def ask(node: Node, kind: Any, name: str, request: Any, timeout_s: float) -> Any:
    """The answer of a service to ``request``, None when there is none in time. ``node`` is spun by another thread."""
    service, end_s = node.create_client(kind, name), time.monotonic() + timeout_s
    while not service.service_is_ready():
        if time.monotonic() > end_s:
            return None
        time.sleep(0.02)  # noqa: TID251 - rclpy has no event for it
    done = threading.Event()
    future = service.call_async(request)
    future.add_done_callback(lambda _: done.set())
    return future.result() if done.wait(timeout_s) else None
