"""One goal of an action from a worker thread. The client itself is touched on its executor's thread only."""

from __future__ import annotations

import threading
import time
from typing import Any

from rclpy.action import ActionClient
from rclpy.node import Node

from .service_call import on_executor

RESPONSE_S = 1.0
"""Longest wait for a goal's acceptance; then it is sent once more, as a new goal."""

CANCEL_AGAIN_S = 0.5


class ActionCall:
    """Sends one goal; ``done`` is set at its end. ``result`` has status and result, None when there was none."""

    def __init__(self, node: Node, client: ActionClient, goal: Any) -> None:
        self._node, self._client, self._goal = node, client, goal
        self._cancel_wanted = False
        self._cancel_sent_s = float("-inf")
        self._handle: Any = None
        self.answered = threading.Event()
        self.accepted = False
        self.done = threading.Event()
        self.result: Any = None

    def send(self) -> None:
        """From any thread."""
        on_executor(self._node, self._guarded(self._send))

    def cancel(self) -> None:
        """Ask for the end, also of a goal that is accepted later; asks again while there is no end. From any thread."""
        self._cancel_wanted = True
        if time.monotonic() - self._cancel_sent_s > CANCEL_AGAIN_S and not self.done.is_set():
            self._cancel_sent_s = time.monotonic()
            on_executor(self._node, self._guarded(self._cancel))

    def _send(self) -> None:
        self._client.send_goal_async(self._goal).add_done_callback(
            lambda f: self._guarded(lambda: self._on_response(f))()
        )

    def _on_response(self, future: Any) -> None:
        handle = future.result()
        if handle is None or not handle.accepted:
            self.done.set()
            self.answered.set()
            return
        self._handle, self.accepted = handle, True
        self.answered.set()
        handle.get_result_async().add_done_callback(lambda f: self._guarded(lambda: self._on_result(f))())
        if self._cancel_wanted:
            self._cancel()

    def _on_result(self, future: Any) -> None:
        self.result = future.result()
        self.done.set()

    def _cancel(self) -> None:
        if self._handle is not None and not self.done.is_set():
            self._handle.cancel_goal_async()

    def _guarded(self, action: Any) -> Any:
        def run() -> None:
            try:
                action()
            except Exception as error:  # noqa: BLE001 - an escaped exception would end spin()
                self._node.get_logger().error(f"action call failed: {error!r}")
                self.done.set()
                self.answered.set()

        return run


def start(node: Node, client: ActionClient, goal: Any) -> ActionCall:
    """Send a goal, once more when there is no response in time; a late acceptance of the first is cancelled."""
    for _attempt in range(2):
        attempt = ActionCall(node, client, goal)
        attempt.send()
        if attempt.answered.wait(RESPONSE_S):
            return attempt
        attempt.cancel()
    return attempt
