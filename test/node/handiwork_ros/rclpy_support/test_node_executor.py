"""An executor goes on when an entity is destroyed during its wait, and drops a task that comes after its end."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import rclpy
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future
from rclpy.waitable import NumberOfEntities, Waitable
from std_msgs.msg import Empty

from handiwork_ros.rclpy_support.node_executor import NodeExecutor
from handiwork_ros.rclpy_support.polling_executor import PollingExecutor
from handiwork_ros.rclpy_support.service_executor import ServiceExecutor

ROUNDS = 30
BUSY = 2000


@pytest.fixture
def context() -> Iterator[rclpy.Context]:
    made = rclpy.Context()
    rclpy.init(context=made)
    yield made
    made.try_shutdown()


class Destroyer(Waitable):
    """Destroys subscriptions while the executor fills its wait set, as another thread may do.

    Args:
        node: Owner of the subscriptions.
        topics: A subscription is made for each topic, and destroyed in a wait of its own.
    """

    def __init__(self, node: Node, topics: list[str]) -> None:
        super().__init__(ReentrantCallbackGroup())
        self._node = node
        node.add_waitable(self)  # before the event handlers of the subscriptions
        self._subscriptions = [node.create_subscription(Empty, topic, lambda _: None, 1) for topic in topics]

    def __enter__(self) -> None:
        """See Waitable: it has no entities that a wait must keep. From Kilted on an executor asks."""

    def __exit__(self, *_: object) -> None:
        """See ``__enter__``."""

    @property
    def left(self) -> int:
        return len(self._subscriptions)

    def get_num_entities(self) -> NumberOfEntities:
        return NumberOfEntities()

    def is_ready(self, _wait_set: object) -> bool:
        return False

    def add_to_wait_set(self, _wait_set: object) -> None:
        if self._subscriptions:
            self._node.destroy_subscription(self._subscriptions.pop())


@pytest.mark.parametrize("kind", [NodeExecutor, PollingExecutor])
def test_a_subscription_that_is_destroyed_during_the_wait_does_not_end_the_spin(
    context: rclpy.Context, kind: type[SingleThreadedExecutor]
) -> None:
    node = rclpy.create_node("waiting", context=context)
    executor = kind(context=context)
    executor.add_node(node)
    destroyer = Destroyer(node, ["one", "two", "three"])
    done: list[int] = []
    node.create_timer(0.01, lambda: done.append(1))
    while len(done) < 5 or destroyer.left:
        executor.spin_once(timeout_sec=5.0)
    executor.shutdown()
    node.destroy_node()


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


@pytest.mark.parametrize("kind", [NodeExecutor, PollingExecutor, ServiceExecutor])
@pytest.mark.parametrize("is_last_first", [True, False])
def test_coroutines_go_on_at_once_in_whichever_order_rclpy_runs_tasks(
    context: rclpy.Context, kind: type[SingleThreadedExecutor], *, is_last_first: bool
) -> None:
    """One waits for another one, and that for another thread; the executor would go on sleeping for a minute."""
    executor, first, second = kind(context=context), Future(), Future()

    async def begin() -> None:
        await first
        second.set_result(None)

    async def end() -> None:
        await second

    made = [executor.create_task(one) for one in ((end, begin) if is_last_first else (begin, end))]
    for _ in range(10):
        executor.spin_once(timeout_sec=0.05)  # until only a new task can wake it
    has_ended = threading.Event()

    def spin() -> None:
        while not all(task.done() for task in made):
            executor.spin_once(timeout_sec=60.0)
        has_ended.set()

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        assert not has_ended.wait(0.2)
        executor.create_task(first.set_result, None)
        assert has_ended.wait(30.0)
    finally:
        second.set_result(None)
        executor.wake()
        thread.join()
        executor.shutdown()


def test_a_function_a_coroutine_function_and_a_coroutine_are_tasks(context: rclpy.Context) -> None:
    executor = NodeExecutor(context=context)

    async def double(value: int = 2) -> int:
        return 2 * value

    made = [
        executor.create_task(int, "1"),
        executor.create_task(double, value=3),
        executor.create_task(double()),  # type: ignore[arg-type]  # rclpy takes it too
    ]
    for _ in range(10):
        executor.spin_once(timeout_sec=0.1)
    executor.shutdown()
    assert [task.result() for task in made] == [1, 6, 4]


def test_qos_events_are_waited_for_seldom_and_are_served(context: rclpy.Context) -> None:
    """A deadline that is missed is an event: it comes although most waits leave events out."""
    from rclpy.duration import Duration
    from rclpy.event_handler import EventHandler, SubscriptionEventCallbacks
    from rclpy.qos import QoSProfile

    node = rclpy.create_node("events", context=context)
    missed: list[object] = []
    node.create_subscription(
        Empty,
        "late",
        lambda _: None,
        QoSProfile(depth=1, deadline=Duration(seconds=0, nanoseconds=50_000_000)),
        event_callbacks=SubscriptionEventCallbacks(deadline=missed.append),
    )
    publisher = node.create_publisher(
        Empty, "late", QoSProfile(depth=1, deadline=Duration(seconds=0, nanoseconds=50_000_000))
    )
    asked: list[bool] = []

    class Counted(ServiceExecutor):
        def can_execute(self, entity: object) -> bool:
            answer = super().can_execute(entity)
            if isinstance(entity, EventHandler):
                asked.append(answer)
            return answer

    executor = Counted(context=context)
    executor.add_node(node)
    publisher.publish(Empty())
    for _ in range(BUSY):
        executor.spin_once(timeout_sec=0.02)
        if missed and asked.count(False) > asked.count(True):
            break
    executor.shutdown()
    node.destroy_node()
    assert missed and asked.count(False) > asked.count(True)
