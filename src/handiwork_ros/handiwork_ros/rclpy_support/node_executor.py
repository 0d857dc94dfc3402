"""The executor of a node: it drops a task that comes after its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.executors import SingleThreadedExecutor
from rclpy.task import Task

from . import rclpy_internals as internals


class NodeExecutor(SingleThreadedExecutor):
    """rclpy's executor with one thread, whose ``create_task`` may be called at any time and from any thread.

    Args:
        options: Options of ``SingleThreadedExecutor``.
    """

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
