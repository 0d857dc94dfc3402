"""What is wrong with the topics of the world: silent, bad, or published by two at the same time."""

from __future__ import annotations

import time
from collections.abc import Iterable

from rclpy.node import Node

from handiwork_core.intake.counters import IntakeStatistics, listed
from handiwork_core.model.outcome import Code, Outcome

from .topic_intake import JointIntake, TopicIntake
from .topic_writers import CLOCK, ClockWriters, TopicWriters

LATCHED_TOPIC = "world/objects"
"""Latched and rarely sent: a second publisher in the graph is a conflict before it sends anything."""
START_ROBOT = "start the robot or simulation"
START_WORLD = "start its publisher"


class WorldIntake:
    """The intakes of one node's world, and the publishers behind them.

    Args:
        node: is asked for the ROS graph.
        joints: intake of ``joint_states``.
        others: intakes of all other topics.
    """

    def __init__(self, node: Node, joints: JointIntake, others: Iterable[TopicIntake]) -> None:
        self._joints, self._others = joints, tuple(others)
        self._topics = {one.counter.topic: one for one in (joints, *self._others)}
        self.writers = TopicWriters(node, (*self._topics, CLOCK))
        self._clock = ClockWriters(node)

    def statistics(self) -> tuple[IntakeStatistics, ...]:
        """Return the counts of every topic, for diagnostics. With the intakes' lock held."""
        now_s = time.monotonic()
        return tuple(
            one.counter.statistics(now_s, self.writers.of(topic)) for topic, one in self._topics.items()
        )

    def silence(self, topic: str, advice: str) -> str:
        """Return why a topic has no newer value, in one sentence with reason, count and publishers."""
        return self._topics[topic].counter.silence_text(self.writers.of(topic), advice)

    def conflict(self) -> Outcome | None:
        """Return that two publishers send what only one may, with their names and GIDs; None while all is well.

        Two are in conflict when the graph has both and their messages take turns. A publisher that ended and came
        back is none, and one that hands over to another is forgotten within seconds. A latched message need not come
        twice, so two nodes that offer it are in conflict as soon as the graph has both. Two of one name are one that
        was started again: no node starts beside a live one of its name, and the graph keeps a killed one for a while.
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
