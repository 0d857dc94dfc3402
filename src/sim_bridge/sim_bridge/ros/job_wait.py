"""Waits on the executor's thread for jobs of the physics thread."""

from __future__ import annotations

from concurrent.futures import Future as Job
from typing import TypeVar

from rclpy.node import Node
from rclpy.task import Future

T = TypeVar("T")


async def finished(node: Node, job: Job[T]) -> T:
    """Wait for a job of the physics thread; the executor serves others meanwhile.

    Args:
        node: The node, whose executor waits.
        job: The job.

    Returns:
        The job's value; its exception is raised.
    """
    done, executor = Future(), node.executor
    job.add_done_callback(lambda _job: executor.create_task(done.set_result, None))
    await done
    return job.result()
