"""One service call of a command: ask, wait, done."""

from __future__ import annotations

import threading
import time
from typing import Any

from rclpy.node import Node

from handiwork_ros.service_call import await_service


def ask(node: Node, kind: Any, name: str, request: Any, timeout_s: float) -> Any:
    """The answer of a service to ``request``, None when there is none in time. ``node`` is spun by another thread."""
    service, end_s = node.create_client(kind, name), time.monotonic() + timeout_s
    if await_service(service, lambda: True if time.monotonic() > end_s else None, is_new=True):
        return None
    done = threading.Event()
    future = service.call_async(request)
    future.add_done_callback(lambda _: done.set())
    return future.result() if done.wait(timeout_s) else None
