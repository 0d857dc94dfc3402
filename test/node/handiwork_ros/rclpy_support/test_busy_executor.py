"""The executor for busy nodes serves topics, timers, services and tasks, under load and without."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from rclpy.context import Context
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from std_msgs.msg import Int32
from std_srvs.srv import Trigger

from handiwork_ros.rclpy_support.destroy import destroy_with_actions
from handiwork_ros.rclpy_support.polling_executor import POLL_S, PollingExecutor
from support.nodes.polling import polled
from support.nodes.ros_stage import Stage, stage, wait_for

BEAT_S = 0.01


class Busy(Node):
    def __init__(self, context: Context) -> None:
        super().__init__("busy", context=context)
        self.numbers: list[int] = []
        self.beats = 0
        self.beats_at_answers: list[int] = []
        self.create_subscription(Int32, "number", lambda message: self.numbers.append(message.data), 100)
        self.create_service(Trigger, "ask", self._answer)
        self.create_timer(BEAT_S, self._beat)

    def _beat(self) -> None:
        self.beats += 1

    def _answer(self, _request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.beats_at_answers.append(self.beats)
        response.success = True
        return response


@pytest.fixture
def played() -> Iterator[tuple[Stage, Busy, PollingExecutor]]:
    with stage() as made:
        node = Busy(made.context)
        with polled(node) as executor:
            yield made, node, executor


@pytest.mark.parametrize("rate_hz", [0, 200])
def test_services_are_answered_and_all_messages_received(
    played: tuple[Stage, Busy, PollingExecutor], rate_hz: int
) -> None:
    made, busy, _ = played
    peer = Node("peer", context=made.context)
    made.add(peer)
    publisher, client = peer.create_publisher(Int32, "number", 100), peer.create_client(Trigger, "ask")
    wait_for(lambda: publisher.get_subscription_count() > 0 and client.service_is_ready())
    sent: list[int] = []

    def send() -> None:
        if len(sent) < 150:
            sent.append(len(sent))
            publisher.publish(Int32(data=sent[-1]))

    timer = peer.create_timer(1.0 / rate_hz, send) if rate_hz else None
    for _ in range(5):
        done = threading.Event()
        made.executor.create_task(
            lambda done=done: client.call_async(Trigger.Request()).add_done_callback(lambda _: done.set())
        )
        assert done.wait(60.0)
    if timer is not None:
        wait_for(lambda: len(busy.numbers) == 150)
        assert busy.numbers == sent
    beats = busy.beats
    wait_for(lambda: busy.beats > beats + 3)


def test_requests_that_come_together_do_not_wait_for_one_another(
    played: tuple[Stage, Busy, PollingExecutor],
) -> None:
    made, busy, _ = played
    peer = Node("peer", context=made.context)
    made.add(peer)
    client = peer.create_client(Trigger, "ask")
    wait_for(client.service_is_ready)
    answers: list[object] = []

    def ask() -> None:
        for _ in range(8):
            client.call_async(Trigger.Request()).add_done_callback(answers.append)

    made.executor.create_task(ask)
    wait_for(lambda: len(answers) == 8)
    between = busy.beats_at_answers[-1] - busy.beats_at_answers[0]
    assert between < 0.5 * 7 * POLL_S / BEAT_S, "one for each look would take twice as long"


def test_events_are_reported(played: tuple[Stage, Busy, PollingExecutor]) -> None:
    """A publisher with an incompatible QoS causes an event."""
    made, busy, executor = played
    counts: list[int] = []
    events = SubscriptionEventCallbacks(incompatible_qos=lambda info: counts.append(info.total_count))
    executor.create_task(
        lambda: busy.create_subscription(Int32, "promised", _nothing, 1, event_callbacks=events)
    )
    peer = Node("peer", context=made.context)
    made.add(peer)
    peer.create_publisher(Int32, "promised", qos_profile_sensor_data)
    wait_for(lambda: bool(counts))


def _nothing(_message: Int32) -> None:
    """Receive nothing."""


def test_tasks_from_other_threads_wake_it(played: tuple[Stage, Busy, PollingExecutor]) -> None:
    _, busy, executor = played
    for timer in busy.timers:
        timer.cancel()
    for _ in range(20):
        done = threading.Event()
        executor.create_task(done.set)
        assert done.wait(60.0)


def test_it_waits_less_often_than_the_ordinary_one() -> None:
    """rclpy waits twice for each callback, this executor once."""
    counts = []
    for kind in (SingleThreadedExecutor, PollingExecutor):
        with stage() as made:
            node, executor = Busy(made.context), kind(context=made.context)
            executor.add_node(node)
            waits, ask = [], executor.get_nodes
            executor.get_nodes = lambda ask=ask, waits=waits: waits.append(1) or ask()  # type: ignore[method-assign]
            end_s = time.monotonic() + 10.0
            while node.beats < 50 and time.monotonic() < end_s:
                executor.spin_once(timeout_sec=0.1)
            counts.append(len(waits) / node.beats)
            executor.shutdown()
            destroy_with_actions(node)
    assert counts[1] < 0.75 * counts[0]


def test_a_task_after_the_shutdown_is_dropped_without_an_error(
    played: tuple[Stage, Busy, PollingExecutor],
) -> None:
    made, _, _ = played
    node = Node("late", context=made.context)
    with polled(node) as executor:
        pass
    assert not executor.create_task(lambda: None).done()
