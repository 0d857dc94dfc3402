"""Reports faults of the world's topics: silent, malformed, or published by two nodes at the same time."""

from __future__ import annotations

import time
from collections.abc import Iterable

from rclpy.node import Node

from handiwork_core.intake.counters import IntakeStatistics, listed
from handiwork_core.model.outcome import Code, Outcome

from .topic_intake import JointIntake, TopicIntake
from .topic_writers import CLOCK, ClockWriters, TopicWriters

LATCHED_TOPIC = "world/objects"
"""The topic that is latched and rarely sent: a second publisher in the graph is a conflict before it sends anything."""
START_ROBOT = "start the robot or simulation"
START_WORLD = "start its publisher"


class WorldIntake:
    """The intakes of one node's world, and the publishers of their topics.

    Args:
        node: Its ROS graph is queried.
        joints: Intake of ``joint_states``.
        others: Intakes of all other topics.
    """

    def __init__(self, node: Node, joints: JointIntake, others: Iterable[TopicIntake]) -> None:
        self._joints, self._others = joints, tuple(others)
        self._topics = {one.counter.topic: one for one in (joints, *self._others)}
        self.writers = TopicWriters(node, (*self._topics, CLOCK))
        self._clock = ClockWriters(node)

    def statistics(self) -> tuple[IntakeStatistics, ...]:
        """Return the counts of every topic, for diagnostics. The caller holds the intakes' lock."""
        now_s = time.monotonic()
        return tuple(
            one.counter.statistics(now_s, self.writers.of(topic)) for topic, one in self._topics.items()
        )

    def silence(self, topic: str, advice: str) -> str:
        """Return the reason why a topic has no newer value, in one sentence with count and publishers.

        Args:
            topic: Name of the topic.
            advice: What to do if no message comes at all, as the end of the sentence.
        """
        return self._topics[topic].counter.silence_text(self.writers.of(topic), advice)

    def conflict(self) -> Outcome | None:
        """Return the conflict of two publishers that send what only one may send.

        Two publishers are in conflict when the graph lists both and their messages alternate. A publisher that ended
        and came back is no conflict, and one that hands over to another is forgotten within seconds. A latched message
        need not come twice, so two nodes that offer it are in conflict as soon as the graph lists both. Two publishers
        of one node name are one node that was started again: no node starts beside a live one of its name, and the
        graph keeps a killed one for a while.

        Returns:
            The outcome with the names and GIDs of the publishers; None if there is no conflict.
        """
        now_s = time.monotonic()
        names = self._joints.contested(now_s)
        if names:
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            what = f"the same joints ({names[0]!r}{more})"
            if found := self._several("joint_states", what, Code.ROBOT_LOST):
                return found
        for one in self._others:
            topic = one.counter.topic
            has_two_nodes = topic == LATCHED_TOPIC and len({p.node for p in self.writers.of(topic)}) > 1
            if has_two_nodes or one.writers.are_several(now_s):
                code = Code.STALE_WORLD if topic.startswith("world/") else Code.ROBOT_LOST
                if found := self._several(topic, "what only one may send", code):
                    return found
        return self._several(CLOCK, "the time", Code.ROBOT_LOST) if self._clock.are_several() else None

    def _several(self, topic: str, what: str, code: Code) -> Outcome | None:
        publishers = self.writers.of(topic)
        if len(publishers) < 2:
            return None
        count = len(publishers)
        text = f"{topic} has {count} publishers, and more than one of them sends {what}: {listed(publishers)}"
        text += "; end all but the right one"
        return Outcome(code, text)
