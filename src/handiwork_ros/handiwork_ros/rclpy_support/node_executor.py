"""The executor of a node: other threads may destroy entities, and create tasks even after its end."""

from __future__ import annotations

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
        node ends.

        Args:
            callback: The callback or coroutine.
            *args: Its arguments.
            **options: Its keyword arguments.

        Returns:
            The task; it is never done where the executor is shut down.
        """
        try:
            return super().create_task(callback, *args, **options)
        except (AttributeError, internals.InvalidHandle):
            if not internals.is_shut_down(self):
                raise
            return Task(callback, args, options)
