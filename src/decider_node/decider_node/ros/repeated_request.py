"""A request that is sent again while no answer comes. Only for requests that may be done twice."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.client import Client
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future

from handiwork_ros.rclpy_support.safe_callbacks import guard

ANSWER_S = 0.5
"""Steady time after which an answer counts as lost, s: a running server answers within milliseconds."""
TRIES = 6
LOOK_S = 0.1


class RepeatedRequest:
    """The newest request to one service. A newer one takes the place of one that has no answer yet.

    A request carries the whole wanted state, so doing it twice changes nothing. It waits for a server that is not
    there; once there is one it is sent ``TRIES`` times at most. All on the executor's thread.

    Args:
        node: Hosts the timer.
        client: Client of the service.
        on_answer: Takes the response.
    """

    def __init__(self, node: Node, client: Client, on_answer: Callable[[Any], None]) -> None:
        self._node, self._client, self._on_answer = node, client, on_answer
        self._request: Any = None
        self._future: Future | None = None
        self._sent_s, self._tries = 0.0, 0
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(LOOK_S, guard(node, self._look), clock=steady)

    def send(self, request: Any) -> None:
        """Send a request now, or as soon as there is a server.

        Args:
            request: A request that may be done twice.
        """
        self._forget()
        self._request, self._tries = request, 0
        self._try()

    def _look(self) -> None:
        if self._request is None or (self._future is not None and time.monotonic() - self._sent_s < ANSWER_S):
            return
        self._forget()
        if self._tries < TRIES:
            self._try()
            return
        self._request = None
        text = f"{self._client.srv_name} did not answer {TRIES} requests; the same request is not sent again"
        self._node.get_logger().error(text)

    def _try(self) -> None:
        if not self._client.service_is_ready():  # a request without a server is lost
            return
        self._tries, self._sent_s = self._tries + 1, time.monotonic()
        self._future = self._client.call_async(self._request)
        self._future.add_done_callback(guard(self._node, self._take))

    def _take(self, answered: Future) -> None:
        response, is_newest = answered.result(), answered is self._future
        if is_newest:
            self._request = self._future = None
            self._on_answer(response)

    def _forget(self) -> None:
        """Drop the pending request, whose answer is not needed any more."""
        if self._future is not None:
            self._client.remove_pending_request(self._future)
            self._future = None
