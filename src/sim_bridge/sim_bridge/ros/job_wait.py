"""Waits on the executor's thread for what the physics thread does."""

from __future__ import annotations

from concurrent.futures import Future as Job
from typing import TypeVar

from rclpy.node import Node
from rclpy.task import Future

T = TypeVar("T")


async def finished(node: Node, job: Job[T]) -> T:
    """The job's value, once the physics thread has done it; the executor serves others meanwhile."""
    done, executor = Future(), node.executor
    job.add_done_callback(lambda _job: executor.create_task(done.set_result, None))
    await done
    return job.result()
