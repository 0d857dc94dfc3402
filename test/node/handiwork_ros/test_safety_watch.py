"""A goal that arrives together with the state that allows it is not refused with the state before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from handiwork_msgs.msg import SafetyState
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from handiwork_core.model.outcome import Code, Outcome
from handiwork_ros.rclpy_support.qos import LATCHED
from handiwork_ros.safety.names import STATE
from handiwork_ros.safety.watch import SafetyWatch
from support.nodes.ros_stage import wait_for

STOPPED = SafetyState(state=SafetyState.EMERGENCY_STOP, reason="pressed")


@dataclass
class Stopped:
    """A watch that knows of a stop, and whose executor takes nothing more."""

    node: Node
    stops: list[Outcome] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.watch = SafetyWatch(self.node, self.stops.append)
        self.publisher = self.node.create_publisher(SafetyState, STATE, LATCHED)


@pytest.fixture
def stopped() -> Iterator[Stopped]:
    context = Context()
    context.init()
    made = Stopped(Node("safety_watch", context=context))
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(made.node)

    def is_stopped() -> bool:
        executor.spin_once(timeout_sec=0.1)
        return made.watch.refusal() is not None

    made.publisher.publish(STOPPED)
    try:
        wait_for(is_stopped)
        yield made
    finally:
        executor.shutdown()
        made.node.destroy_node()
        context.shutdown()


def test_a_state_that_has_arrived_is_read_before_a_goal_is_refused(stopped: Stopped) -> None:
    assert [stop.code for stop in stopped.stops] == [Code.EMERGENCY_STOP]
    stopped.publisher.publish(SafetyState(state=SafetyState.NORMAL))
    wait_for(lambda: stopped.watch.refusal() is None)


@pytest.mark.parametrize(
    ("number", "received_ns", "is_read"),
    [(0, 1, False), (0, 2**62, True), (1000, 1, True)],
    ids=["taken before", "new publisher", "clock set back"],
)
def test_only_a_state_that_was_taken_before_a_newer_one_is_ignored(
    stopped: Stopped, number: int, received_ns: int, is_read: bool
) -> None:
    stopped.publisher.publish(SafetyState(state=SafetyState.NORMAL))
    wait_for(lambda: stopped.watch.refusal() is None)
    (subscription,) = (sub for sub in stopped.node.subscriptions if sub.msg_type is SafetyState)
    subscription.callback(STOPPED, {"received_timestamp": received_ns, "publication_sequence_number": number})
    assert (stopped.watch.refusal() is not None) is is_read
    assert len(stopped.stops) == 1 + is_read
