"""Finds two publishers of data that only Isaac Sim's bridge may send: nobody knows then which of them is right."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence

from rclpy.node import Node

from handiwork_core import isaac_wire as wire
from handiwork_core.intake.counters import listed
from handiwork_core.intake.writer_sequences import WriterSequences
from handiwork_core.model.measured_joints import MeasuredJoints
from handiwork_ros.intake.topic_writers import TopicWriters

FRAMES = "tf"


class WireWatch:
    """Follows the sequence numbers of the writers of the topics that the adapter reads.

    ``/tf`` may have several publishers, each with frames of its own; two of one object are too many.

    Args:
        node: Is asked for the ROS graph.
    """

    def __init__(self, node: Node) -> None:
        single = (wire.JOINT_STATES, wire.CONTACTS, wire.SUCTION_STATE)
        self._single = {topic: WriterSequences() for topic in single}
        self._frames = MeasuredJoints(())
        self._writers = TopicWriters(node, (*single, FRAMES))

    def take(self, topic: str, number: int) -> None:
        """Note a message of a topic that only one publisher may send.

        Args:
            topic: Name of the topic.
            number: Sequence number of its writer.
        """
        self._single[topic].take(number, time.monotonic())

    def take_frames(self, names: Sequence[str], number: int) -> None:
        """Note a message of ``/tf``.

        Args:
            names: Objects of its frames, each once.
            number: Sequence number of its writer.
        """
        with contextlib.suppress(ValueError):  # of very many different sets, the first ones are enough
            self._frames.note(names, number, time.monotonic())

    def conflict(self) -> str:
        """Return a sentence on the topic that two publishers send, with their names and GIDs; empty without one."""
        now_s = time.monotonic()
        for topic, sequences in self._single.items():
            if sequences.are_several(now_s) and (text := self._several(topic, "what only one may send")):
                return text
        if names := self._frames.contested(now_s):
            return self._several(FRAMES, f"the frame of {names[0]!r}")
        return ""

    def _several(self, topic: str, what: str) -> str:
        publishers = self._writers.of(topic)
        if len(publishers) < 2:
            return ""
        text = f"{topic} has {len(publishers)} publishers, and more than one of them sends {what}"
        return f"{text}: {listed(publishers)}; end all but the right one"
