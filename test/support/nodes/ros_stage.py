"""A context of its own, an executor in a thread, and waits on conditions instead of sleeps."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.destroy import destroy_with_actions


@dataclass
class Stage:
    """Nodes added here are spun until the stage ends."""

    context: Context
    executor: SingleThreadedExecutor
    nodes: list[Node] = field(default_factory=list)

    def add(self, node: Node) -> None:
        self.nodes.append(node)
        self.executor.add_node(node)

    def end(self, *nodes: ManagedNode) -> None:
        """Shut nodes down in order, as their processes do, while they are still spun."""
        ended = threading.Event()
        self.executor.create_task(lambda: ([node.begin_shutdown() for node in nodes], ended.set()))
        assert ended.wait(60.0)
        for node in nodes:
            node.end_shutdown()


def wait_for(condition: Callable[[], bool], timeout_s: float = 60.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.005)  # noqa: TID251 - any condition


@contextmanager
def stage() -> Iterator[Stage]:
    context = Context()
    context.init()
    executor = SingleThreadedExecutor(context=context)
    made, over = Stage(context, executor), threading.Event()

    def spin() -> None:
        while not over.is_set():
            executor.spin_once(timeout_sec=0.1)

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        yield made
    finally:
        over.set()
        thread.join()
        executor.shutdown()
        for node in made.nodes:
            destroy_with_actions(node)
        context.shutdown()
