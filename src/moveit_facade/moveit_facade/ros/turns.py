"""One coroutine at a time: while one awaits an answer, the executor runs others."""

from __future__ import annotations

from collections import deque

from rclpy.task import Future


class Turns:
    """``async with turns:`` lets one coroutine in after another, in the order of their arrival."""

    def __init__(self) -> None:
        self._waiting: deque[Future] = deque()
        self._is_taken = False

    async def __aenter__(self) -> None:
        if self._is_taken:
            free = Future()
            self._waiting.append(free)
            await free  # the one before hands its turn over
        self._is_taken = True

    async def __aexit__(self, *_error: object) -> None:
        if self._waiting:
            self._waiting.popleft().set_result(None)
        else:
            self._is_taken = False
