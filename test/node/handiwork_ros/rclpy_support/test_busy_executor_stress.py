"""The busy executor while threads create tasks, publish, call services and recreate entities at random times."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Iterator

import pytest
from rclpy.context import Context
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import Int32
from std_srvs.srv import Trigger

from handiwork_ros.rclpy_support.polling_executor import PollingExecutor
from support.nodes.polling import polled
from support.nodes.ros_stage import Stage, stage, wait_for

COUNT = 60
QUICK_S = 1e-5
"""Interpreter's switch interval, so that threads interrupt each other within a callback's few steps."""


class Busy(Node):
    def __init__(self, context: Context) -> None:
        super().__init__("busy", context=context)
        self.received: list[int] = []
        self.answered = self.beats = 0
        self.create_subscription(Int32, "number", lambda message: self.received.append(message.data), _deep())
        self.create_service(Trigger, "ask", self._answer)
        self.beat = self.create_timer(0.001, self._on_beat)

    def _answer(self, _request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.answered += 1
        return response

    def _on_beat(self) -> None:
        self.beats += 1

    def remake(self) -> None:
        """Create and destroy entities on the executor."""
        self.destroy_timer(self.beat)
        self.beat = self.create_timer(0.001, self._on_beat)


def _deep() -> QoSProfile:
    return QoSProfile(depth=1000)


@pytest.fixture
def quick() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(QUICK_S)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def played() -> Iterator[tuple[Stage, Busy, PollingExecutor]]:
    with stage() as made:
        node = Busy(made.context)
        with polled(node) as executor:
            yield made, node, executor


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_lost_and_nothing_runs_twice(
    played: tuple[Stage, Busy, PollingExecutor], seed: int
) -> None:
    made, busy, executor = played
    peer = Node("peer", context=made.context)
    made.add(peer)
    publisher, client = peer.create_publisher(Int32, "number", _deep()), peer.create_client(Trigger, "ask")
    wait_for(lambda: publisher.get_subscription_count() > 0 and client.service_is_ready())
    done: list[tuple[int, int]] = []
    answers: list[object] = []
    pause = threading.Event()

    def hand_in(number: int) -> None:
        chance = random.Random(1000 * seed + number)
        for i in range(COUNT):
            executor.create_task(lambda i=i: done.append((number, i)))
            if chance.random() < 0.1:
                executor.create_task(busy.remake)
            pause.wait(chance.choice([0.0, 0.0, 0.0005, 0.003]))

    def publish() -> None:
        chance = random.Random(1000 * seed + 500)
        for i in range(COUNT):
            publisher.publish(Int32(data=i))
            pause.wait(chance.choice([0.0, 0.001, 0.004]))

    def ask() -> None:
        chance = random.Random(1000 * seed + 600)
        for _ in range(10):
            made.executor.create_task(
                lambda: client.call_async(Trigger.Request()).add_done_callback(answers.append)
            )
            pause.wait(chance.choice([0.0, 0.01, 0.03]))

    bodies = [lambda: hand_in(0), lambda: hand_in(1), lambda: hand_in(2), publish, ask]
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wait_for(lambda: len(done) >= 3 * COUNT and len(busy.received) >= COUNT and len(answers) >= 10, 30.0)
    beats = busy.beats
    wait_for(lambda: busy.beats > beats + 3)
    assert sorted(done) == [(number, i) for number in range(3) for i in range(COUNT)]
    assert busy.received == list(range(COUNT))
    assert (len(answers), busy.answered) == (10, 10)
