"""A task that comes after the end of an executor is dropped, and raises nothing in the thread that sends it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor

from handiwork_ros.rclpy_support.node_executor import NodeExecutor
from handiwork_ros.rclpy_support.polling_executor import PollingExecutor

ROUNDS = 30
BUSY = 2000


@pytest.fixture
def context() -> Iterator[rclpy.Context]:
    made = rclpy.Context()
    rclpy.init(context=made)
    yield made
    made.try_shutdown()


@pytest.mark.parametrize("kind", [NodeExecutor, PollingExecutor])
def test_a_task_after_the_shutdown_is_dropped(
    context: rclpy.Context, kind: type[SingleThreadedExecutor]
) -> None:
    executor = kind(context=context)
    done: list[int] = []
    executor.create_task(done.append, 1)
    executor.spin_once(timeout_sec=5.0)
    executor.shutdown()
    late = executor.create_task(done.append, 2)
    assert done == [1]
    assert not late.done()


@pytest.mark.parametrize("kind", [NodeExecutor, PollingExecutor])
def test_a_shutdown_between_the_tasks_of_another_thread_raises_nothing_there(
    context: rclpy.Context, kind: type[SingleThreadedExecutor]
) -> None:
    faults: list[Exception] = []
    for _ in range(ROUNDS):
        executor = kind(context=context)
        has_begun = threading.Event()

        def send(executor: SingleThreadedExecutor = executor, has_begun: threading.Event = has_begun) -> None:
            try:
                for _ in range(BUSY):
                    executor.create_task(int)
                    has_begun.set()
            except Exception as error:  # noqa: BLE001 - the subject of the test
                faults.append(error)

        worker = threading.Thread(target=send)
        worker.start()
        has_begun.wait()
        executor.shutdown()
        worker.join()
    assert not faults
