"""Records all topics: subscriptions that no executor serves are read twenty times a second."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription

from handiwork_ros.rclpy_support.polled_group import PolledGroup
from handiwork_ros.rclpy_support.rclpy_internals import take
from handiwork_viz.recording.bag_writer import BagWriter, Topic, qos_text

from .definitions import class_of, definition_of

POLL_S, GRAPH_S = 0.05, 1.0
DEPTH = 2000
"""The greatest number of messages of a topic that wait between two polls."""


@dataclass
class _Recorded:
    """One recorded topic; ``lost`` counts gaps in the numbers of its only writer."""

    sub: Subscription
    writers: int
    number: int = 0
    lost: int = 0


class Recorder:
    """Records every topic of the ROS graph, also those of actions, from when it appears.

    Args:
        node: Node that nobody spins.
        writer: Takes the messages.
        wanted: Pattern of the names of topics.
        unwanted: Pattern of names that are left out; empty for none.
        warn: Receives sentences for a person.
    """

    def __init__(
        self,
        node: Node,
        writer: BagWriter,
        wanted: str = "",
        unwanted: str = "",
        warn: Callable[[str], None] = lambda _text: None,
    ) -> None:
        self._node, self._writer, self._warn = node, writer, warn
        self._wanted, self._unwanted = re.compile(wanted), re.compile(unwanted) if unwanted else None
        self._topics = dict[str, _Recorded]()
        self._ignored = set[str]()

    @property
    def topics(self) -> int:
        """The number of recorded topics."""
        return len(self._topics)

    @property
    def lost(self) -> int:
        """The number of messages that are known to be lost."""
        return sum(one.lost for one in self._topics.values())

    def run(self, stop: threading.Event) -> None:
        """Record until the event is set.

        Args:
            stop: Ends the recording.

        Raises:
            DiskFullError: See ``BagWriter``.
        """
        looked_s = -GRAPH_S
        while not stop.is_set():
            now_s = time.monotonic()
            if now_s - looked_s >= GRAPH_S:
                looked_s = now_s
                self._look()
            self.take()
            self._writer.tend()
            stop.wait(POLL_S)
        self.take()

    def take(self) -> None:
        """Write the messages that wait."""
        write = self._writer.write
        for name, topic in self._topics.items():
            sub = topic.sub
            for _ in range(DEPTH):
                one = take(sub)
                if one is None:
                    break
                data, info = one
                write(name, data, info["received_timestamp"], info["source_timestamp"])
                number = info.get("publication_sequence_number") or 0
                if topic.writers == 1 and 0 < topic.number < number - 1:
                    topic.lost += number - topic.number - 1
                topic.number = number

    def _look(self) -> None:
        for name, types in self._node.get_topic_names_and_types():
            topic = self._topics.get(name)
            if topic is not None:
                topic.writers = self._node.count_publishers(name)
            elif name not in self._ignored and types and self._node.count_publishers(name) > 0:
                self._add(name, types[0])

    def _add(self, name: str, type_name: str) -> None:
        is_wanted = self._wanted.search(name) and not (self._unwanted and self._unwanted.search(name))
        try:
            if not is_wanted:
                self._ignored.add(name)
                return
            kind = class_of(type_name)
            profile, text = _profile(self._node, name)
            self._writer.add_topic(Topic(name, type_name, definition_of(kind), text))
        except LookupError as error:
            self._ignored.add(name)
            self._warn(f"topic {name} is not recorded: {error}")
            return
        sub = self._node.create_subscription(
            kind, name, _nothing, profile, callback_group=PolledGroup(), raw=True
        )
        self._topics[name] = _Recorded(sub, self._node.count_publishers(name))


def _nothing(_message: Any) -> None:
    """Take the place of the callback that is never called."""


def _profile(node: Node, name: str) -> tuple[QoSProfile, str]:
    """Return the profile that fits all publishers of a topic, and its text."""
    found = [one.qos_profile for one in node.get_publishers_info_by_topic(name)]
    reliable = all(one.reliability == ReliabilityPolicy.RELIABLE for one in found)
    latched = all(one.durability == DurabilityPolicy.TRANSIENT_LOCAL for one in found)
    profile = QoSProfile(
        depth=DEPTH,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )
    words = ("reliable" if reliable else "best_effort", "transient_local" if latched else "volatile")
    return profile, qos_text(*words, 10)
