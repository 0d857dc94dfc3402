"""Counts of the messages of a topic: how many were kept, how many dropped, why, and which nodes publish them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PublisherCount:
    """One publisher of a topic.

    Attributes:
        node: Full name of its node.
        gid: Its GID in hexadecimal digits.
    """

    node: str
    gid: str

    def __str__(self) -> str:
        return f"{self.node} (GID {self.gid})"


@dataclass(frozen=True, slots=True)
class IntakeStatistics:
    """Counts of one topic since the node started.

    Attributes:
        topic: Name of the topic.
        received: Messages received.
        dropped: Messages dropped.
        last_fault: The reason why the newest dropped message was dropped; empty if none was.
        good_age_s: Age of the newest good message, s of steady time; infinite before the first.
        publishers: The publishers of the topic.
    """

    topic: str
    received: int
    dropped: int
    last_fault: str
    good_age_s: float
    publishers: tuple[PublisherCount, ...]


class IntakeCounter:
    """Counts the messages of one topic. Times are steady, in s.

    Args:
        topic: Name of the topic.
    """

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self.received, self.dropped = 0, 0
        self.last_fault = ""
        self.good_s = -math.inf
        """Arrival of the newest good message, s of steady time."""
        self.dropped_since_good = 0

    def take_good(self, received_s: float) -> None:
        """Count a message that was kept.

        Args:
            received_s: Time of its arrival, s of steady time.
        """
        self.received += 1
        self.good_s, self.dropped_since_good = received_s, 0

    def take_bad(self, fault: str) -> None:
        """Count a message that was dropped, and keep the reason.

        Args:
            fault: The reason.
        """
        self.received += 1
        self.dropped += 1
        self.dropped_since_good += 1
        self.last_fault = fault

    def statistics(self, now_s: float, publishers: tuple[PublisherCount, ...] = ()) -> IntakeStatistics:
        """Return the counts as a value.

        Args:
            now_s: Steady time, s.
            publishers: The publishers of the topic.
        """
        return IntakeStatistics(
            self.topic, self.received, self.dropped, self.last_fault, now_s - self.good_s, publishers
        )

    def silence_text(self, publishers: Sequence[PublisherCount], advice: str) -> str:
        """Return the reason why there is no newer value, in one sentence.

        Args:
            publishers: Publishers of the topic in the ROS graph.
            advice: A clause for the case that no message arrives at all.
        """
        if not self.dropped_since_good:
            return f"{self.topic} is silent; {advice}"
        by = f"published by {listed(publishers)}; stop or repair the publisher"
        count = self.dropped_since_good
        return f"{self.topic} has no good message: the last {count} were dropped, because {self.last_fault}; {by}"


def listed(publishers: Iterable[PublisherCount]) -> str:
    """Return the publishers of a topic as a part of a sentence.

    Args:
        publishers: The publishers.
    """
    return " and ".join(str(one) for one in publishers) or "no node that the ROS graph knows"


def duplicate_name(names: Sequence[str]) -> str:
    """Return the first name that occurs twice; empty if all differ.

    Args:
        names: The names.
    """
    if len(set(names)) == len(names):
        return ""
    seen = set[str]()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return ""
