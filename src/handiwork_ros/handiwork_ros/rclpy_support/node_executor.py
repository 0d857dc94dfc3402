"""The executor of a node: other threads may destroy entities, and create tasks even after its end."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import Any

from rclpy.executors import SingleThreadedExecutor
from rclpy.task import Task

from . import rclpy_internals as internals

MOST_INVALID = 100
"""The number of waits in a row that may meet a destroyed entity; further ones mean that one is never removed."""


class NodeExecutor(SingleThreadedExecutor):
    """rclpy's executor with one thread, beside which other threads may create tasks and destroy entities at any time.

    Args:
        options: Options of ``SingleThreadedExecutor``.
    """

    def wait_for_ready_callbacks(self, *args: Any, **options: Any) -> Any:
        """Return the next callback; wait again where a thread destroys an entity during the wait.

        rclpy skips a destroyed subscription, but not its event handlers: their InvalidHandle would end the spin.

        Args:
            *args: Arguments of rclpy's own.
            **options: Its keyword arguments.

        Returns:
            Task, entity and node, as rclpy's own returns them.
        """
        for _ in range(MOST_INVALID):
            try:
                return super().wait_for_ready_callbacks(*args, **options)
            except internals.InvalidHandle:  # noqa: PERF203 - the wait itself takes far longer
                if internals.is_shut_down(self):
                    break
        return super().wait_for_ready_callbacks(*args, **options)

    def create_task(self, callback: Callable[..., Any], *args: Any, **options: Any) -> Task:
        """Run ``callback`` during spin. After the shutdown the task is dropped, as nothing would run it.

        rclpy's own raises an AttributeError or an InvalidHandle then, which would end a worker that reports while the
        node ends. It also looks at each pending task once before it waits for entities, in an order that depends on
        its version: a coroutine that awaits what this task does may have had its turn. So the end of the task ends
        that wait, which could otherwise last until another entity is ready.

        Args:
            callback: The callback or coroutine.
            *args: Its arguments.
            **options: Its keyword arguments.

        Returns:
            The task; it is never done where the executor is shut down.
        """
        try:
            return super().create_task(self._waking(callback), *args, **options)
        except (AttributeError, internals.InvalidHandle):
            if not internals.is_shut_down(self):
                raise
            return Task(callback, args, options)

    def _waking(self, callback: Callable[..., Any]) -> Callable[..., Any]:
        """Return a callback that does the same, and wakes the executor at its end when other tasks are pending."""
        if inspect.iscoroutine(callback) or inspect.iscoroutinefunction(callback):

            async def run_coroutine(*args: Any, **options: Any) -> Any:
                try:
                    begun = callback if inspect.iscoroutine(callback) else callback(*args, **options)
                    return await begun
                finally:
                    self._wake_others()

            return run_coroutine

        def run(*args: Any, **options: Any) -> Any:
            try:
                return callback(*args, **options)
            finally:
                self._wake_others()

        return run

    def _wake_others(self) -> None:
        if internals.pending_tasks(self) > 1:  # this one has not ended yet
            with contextlib.suppress(AttributeError, internals.InvalidHandle):  # as in ``create_task``
                self.wake()


class LateWakingExecutor(NodeExecutor):
    """Is woken by the callbacks that were awaited only.

    Every callback wakes rclpy's executor twice, for executors of several threads. Here only the end of one that was
    awaited does, as another may wait for it, or for its callback group.

    Args:
        options: Options of ``NodeExecutor``.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._turn = 0
        self._is_known = not internals.faults()

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Serve one callback; see rclpy.

        Args:
            timeout_sec: Longest wait, s; None: without a limit.
        """
        self._turn += 1
        super().spin_once(timeout_sec)

    def _make_handler(self, *args: Any, **options: Any) -> Any:
        turn = self._turn
        if not self._is_known:
            return super()._make_handler(*args, **options)
        with internals.waking_late(self, lambda: self._turn == turn):
            return super()._make_handler(*args, **options)
