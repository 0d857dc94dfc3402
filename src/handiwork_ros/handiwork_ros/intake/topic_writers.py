"""The publishers of topics with their GIDs, as the ROS graph lists them."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rosgraph_msgs.msg import Clock as ClockMsg

from handiwork_core.intake.counters import PublisherCount
from handiwork_core.intake.writer_sequences import WriterSequences
from handiwork_ros.rclpy_support.polled_group import PolledGroup
from handiwork_ros.rclpy_support.qos import CLOCK_PROBE
from handiwork_ros.rclpy_support.safe_callbacks import guard

from .topic_intake import taken

LOOK_S = 0.5
"""The pause between two queries of the graph, s of steady time. A query takes about 0.05 ms for each topic."""
GID_BYTES = 16
"""The length of a DDS GUID in bytes; the rest of what ROS calls a GID is zero."""
CLOCK = "clock"
"""Relative to the namespace; see ``relative_clock``."""
UNKNOWN_NAME = "_NODE_NAME_UNKNOWN_"
"""The name that rmw gives the node of a publisher while it does not know the node."""


class TopicWriters:
    """Queries the publishers of some topics twice a second. ``of`` may be called from any thread.

    Args:
        node: Its graph is queried.
        topics: Names of the topics.
    """

    def __init__(self, node: Node, topics: Sequence[str]) -> None:
        self._node, self._topics = node, {topic: node.resolve_topic_name(topic) for topic in topics}
        self._found: dict[str, tuple[PublisherCount, ...]] = {}
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(LOOK_S, guard(node, self.look), clock=steady)

    def of(self, topic: str) -> tuple[PublisherCount, ...]:
        """Return the publishers of a topic at the last query, sorted by node.

        Args:
            topic: Name of the topic, as given to the constructor.

        Returns:
            The publishers; empty before the first query.
        """
        return self._found.get(topic, ())

    def look(self) -> None:
        """Query the graph now; on the executor's thread."""
        self._found = {topic: publishers_of(self._node, name) for topic, name in self._topics.items()}


class ClockWriters:
    """Detects several publishers that send ``/clock`` at the same time.

    rclpy gives ``/clock`` only to its own time source, so a second subscription is read at intervals; it never wakes up
    the executor.

    Args:
        node: Hosts the subscription, if it uses simulated time.
    """

    def __init__(self, node: Node) -> None:
        self._writers, self._sub = WriterSequences(), None
        if node.get_parameter("use_sim_time").value:
            self._sub = node.create_subscription(
                ClockMsg, CLOCK, lambda _: None, CLOCK_PROBE, callback_group=PolledGroup(), raw=True
            )
            steady = Clock(clock_type=ClockType.STEADY_TIME)
            self._timer = node.create_timer(LOOK_S, guard(node, self._look), clock=steady)

    def are_several(self) -> bool:
        """Check whether the messages of two publishers alternate."""
        return self._writers.are_several(time.monotonic())

    def _look(self) -> None:
        if self._sub is not None:
            for _, number, heard_s in taken(self._sub):
                self._writers.take(number, heard_s)


def publishers_of(node: Node, topic: str) -> tuple[PublisherCount, ...]:
    """Return the publishers of a topic now.

    Args:
        node: Its graph is queried.
        topic: Full name of the topic.

    Returns:
        Each GID once, sorted by node.
    """
    found = {}
    for info in node.get_publishers_info_by_topic(topic):
        gid = bytes(info.endpoint_gid[:GID_BYTES]).hex()
        found[gid] = PublisherCount(_full_name(info.node_namespace, info.node_name), gid)
    return tuple(sorted(found.values(), key=lambda one: (one.node, one.gid)))


def _full_name(namespace: str, name: str) -> str:
    """Return a node's full name; the graph may list a publisher before its node, or without a node."""
    if name == UNKNOWN_NAME:
        return "a node whose name is not known"
    return f"{namespace.rstrip('/')}/{name}"
