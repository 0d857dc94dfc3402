"""A node that a polling executor spins in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rclpy.node import Node

from handiwork_ros.rclpy_support.destroy import destroy_with_actions
from handiwork_ros.rclpy_support.polling_executor import PollingExecutor


@contextmanager
def polled(node: Node) -> Iterator[PollingExecutor]:
    """Spin the node until the end of the block, and destroy it then."""
    executor, over = PollingExecutor(context=node.context), threading.Event()
    executor.add_node(node)

    def spin() -> None:
        while not over.is_set():
            executor.spin_once(timeout_sec=0.1)

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        yield executor
    finally:
        over.set()
        executor.create_task(lambda: None)
        thread.join()
        executor.shutdown()
        destroy_with_actions(node)
