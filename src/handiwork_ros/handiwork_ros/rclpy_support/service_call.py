"""One service call from a worker thread. The client itself is used on its executor's thread only."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from enum import Enum
from typing import Any

from rclpy.client import Client
from rclpy.node import Node

from handiwork_core.contracts.planning import never_stop

from . import rclpy_internals as internals

POLL_S = 0.01

SETTLE_S = 0.25
"""The pause before the first request of a new client, s.

A server discovers a new client later than the client discovers the server, and an answer to an unknown client is lost:
rmw_fastrtps waits 0.1 s for it.
"""


class NoAnswer(Enum):
    """The reasons why a call has no answer."""

    STOPPED = "stopped"
    LOST = "lost"
    TIMEOUT = "timeout"
    FAILED = "failed"


def on_executor(node: Node, action: Callable[[], None]) -> None:
    """Run a function on the thread that spins a node; other threads must use the node only in this way.

    Args:
        node: The node whose clients or publishers ``action`` uses.
        action: The function to run. It must not block.

    Raises:
        RuntimeError: The node is in no executor, or its executor is shut down.
    """
    executor = node.executor
    if executor is None:
        raise RuntimeError(
            f"node {node.get_name()!r} is not spun; add it to an executor before calling from a worker"
        )
    if internals.is_shut_down(executor):
        raise RuntimeError(f"the executor of node {node.get_name()!r} is shut down")
    executor.create_task(action)


def call(
    node: Node,
    client: Client,
    request: Any,
    *,
    timeout_s: float,
    should_stop: Callable[[], bool] = never_stop,
    is_lost: Callable[[], bool] = never_stop,
    is_new: bool = False,
) -> Any | NoAnswer:
    """Send a request and wait for the response; a response that comes later is dropped.

    Args:
        node: Owns the client; another thread spins it.
        client: Client of the service.
        request: The request.
        timeout_s: Longest wait, s of steady time.
        should_stop: Returns True when the wait must end.
        is_lost: Returns True when the server is lost.
        is_new: True if the client was just made. If the server has to be waited for, the client counts as new.

    Returns:
        The response, or the reason why there is none.
    """
    deadline = time.monotonic() + timeout_s
    while not client.service_is_ready():
        if (silence := _silence(deadline, should_stop, is_lost)) is not None:
            return silence
        is_new = True
        time.sleep(POLL_S)  # noqa: TID251 - rclpy has no event for a service that appears
    if is_new:
        time.sleep(SETTLE_S)  # noqa: TID251 - nor for a server that has discovered its client
    done = threading.Event()
    futures: list[Any] = []

    def send() -> None:
        try:
            future = client.call_async(request)
            futures.append(future)
            future.add_done_callback(lambda _future: done.set())
        except Exception as error:  # noqa: BLE001 - an escaped exception would end spin()
            node.get_logger().error(f"calling {client.srv_name} failed: {error!r}")
            done.set()

    def forget() -> None:
        for future in futures:
            client.remove_pending_request(future)

    on_executor(node, send)
    while not done.wait(POLL_S):
        if (silence := _silence(deadline, should_stop, is_lost)) is not None:
            on_executor(node, forget)
            return silence
    return futures[0].result() if futures and futures[0].result() is not None else NoAnswer.FAILED


class ServiceClients:
    """The clients of a node, each made with the first call of its service.

    Args:
        node: Owns the clients; another thread spins it.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._clients: dict[str, Client] = {}

    def call(self, kind: Any, name: str, request: Any, timeout_s: float) -> Any | NoAnswer:
        """Send a request and wait for the response; see ``call``.

        Args:
            kind: Type of the service.
            name: Its name.
            request: The request.
            timeout_s: Longest wait, s of steady time.

        Returns:
            The response, or the reason why there is none.
        """
        is_new = name not in self._clients
        if is_new:
            self._clients[name] = self._node.create_client(kind, name)
        return call(self._node, self._clients[name], request, timeout_s=timeout_s, is_new=is_new)


def _silence(
    deadline: float, should_stop: Callable[[], bool], is_lost: Callable[[], bool]
) -> NoAnswer | None:
    if should_stop():
        return NoAnswer.STOPPED
    if is_lost():
        return NoAnswer.LOST
    return NoAnswer.TIMEOUT if time.monotonic() > deadline else None
