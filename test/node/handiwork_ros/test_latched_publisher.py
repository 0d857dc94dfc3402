"""A latched message also reaches a subscriber to which the middleware does not send earlier messages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

from handiwork_ros.rclpy_support.latched_publisher import LatchedPublisher
from support.nodes.ros_stage import Stage, stage, wait_for

LOST_HISTORY = QoSProfile(
    depth=10, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.VOLATILE
)
"""The profile of a subscriber that has lost the latched message: it receives only messages from now on."""
LIMIT_S = 30.0


@pytest.fixture
def made() -> Iterator[Stage]:
    with stage() as opened:
        yield opened


def subscriber(made: Stage, name: str) -> list[str]:
    got: list[str] = []
    node = Node(name, context=made.context)
    node.create_subscription(String, "news", lambda message: got.append(message.data), LOST_HISTORY)
    made.add(node)
    return got


def test_each_new_subscriber_gets_the_newest_message_again(made: Stage) -> None:
    node = Node("source", context=made.context)
    latched = LatchedPublisher(node, String, "news")
    latched.publish(String(data="old"))
    latched.publish(String(data="new"))
    made.add(node)
    first = subscriber(made, "first")
    wait_for(lambda: bool(first), LIMIT_S)
    second = subscriber(made, "second")
    wait_for(lambda: bool(second), LIMIT_S)
    assert set(first) == set(second) == {"new"}


def test_repetition_ends_without_new_subscribers(made: Stage) -> None:
    node = Node("source", context=made.context)
    latched = LatchedPublisher(node, String, "news")
    latched.publish(String(data="new"))
    made.add(node)
    got = subscriber(made, "first")
    wait_for(lambda: bool(got), LIMIT_S)
    wait_for(latched._timer.is_canceled, LIMIT_S)
    assert len(got) <= 4


def test_a_steady_repetition_goes_on(made: Stage) -> None:
    node = Node("source", context=made.context)
    latched = LatchedPublisher(node, String, "news", period_s=0.5)
    latched.publish(String(data="new"))
    made.add(node)
    got = subscriber(made, "first")
    wait_for(lambda: len(got) >= 8, LIMIT_S)
    latched.forget()
    count = len(got)
    latched.publish(String(data="newer"))
    wait_for(lambda: "newer" in got, LIMIT_S)
    assert len(got) <= count + 2
