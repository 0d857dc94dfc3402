"""Checks of frames: every edge from one publisher, one tree, and the frames that the stack looks up. Imports no ROS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from handiwork_core.robot.robot import Robot

from .findings import CheckFinding, failed, passed
from .recording import FrameMessage, Recording

LOST = 50
"""Largest number of messages of one writer that may be lost between two that came."""

REPEATED = 3
"""An edge belongs to a writer when it came this often from it."""


@dataclass
class Writer:
    """The messages that one publisher must have written: its numbers rise.

    Attributes:
        last: Number of its last message.
        edges: Edges of its last message.
        counts: Number of messages with each edge.
    """

    last: int
    edges: tuple[tuple[str, str], ...]
    counts: dict[tuple[str, str], int] = field(default_factory=dict)

    def take(self, message: FrameMessage) -> None:
        """Count one more message.

        Args:
            message: The message.
        """
        self.last, self.edges = message.number, message.edges
        for edge in message.edges:
            self.counts[edge] = self.counts.get(edge, 0) + 1


def writers_of(messages: Sequence[FrameMessage], offered: int) -> list[Writer]:
    """Divide the messages of a topic by their writers.

    A message names no writer, but each writer numbers its own. Edges that two writers share at the begin, when their
    numbers may follow each other by chance, are in fewer than ``REPEATED`` messages.

    Args:
        messages: All messages of the topic, in order of arrival.
        offered: Number of publishers of the topic.
    """
    if len(messages) <= offered:
        return [Writer(m.number, m.edges, dict.fromkeys(m.edges, REPEATED)) for m in messages]
    found: list[Writer] = []
    for message in messages:
        later = [writer for writer in found if 0 < message.number - writer.last <= LOST]
        alike = [writer for writer in later if writer.edges == message.edges]
        could = alike or [writer for writer in later if message.number == writer.last + 1]
        if could:
            writer = min(could, key=lambda w: message.number - w.last)
        else:
            writer = Writer(message.number, message.edges)
            found.append(writer)
        writer.take(message)
    return found


def judge_frames(robot: Robot, recording: Recording) -> Iterator[CheckFinding]:
    """Judge that every edge has one publisher, every frame one parent, and that one tree has all names.

    Args:
        robot: The robot.
        recording: The received messages.

    Yields:
        The findings.
    """
    yield _one_publisher(recording)
    parents: dict[str, set[str]] = {}
    for message in recording.frames:
        for parent, child in message.edges:
            parents.setdefault(child, set()).add(parent)
    several = {child: found for child, found in parents.items() if len(found) > 1}
    if several:
        child = min(several)
        text = f"frame {child!r} has the parents {sorted(several[child])}"
        yield failed("frames tree", text, f"take all but one publisher of {child!r} away")
        return
    tree = {child: min(found) for child, found in parents.items()}
    loose = {name: top for name in wanted_frames(robot, recording) if (top := _top(name, tree)) != "world"}
    if not loose:
        yield passed("frames tree", f"{len(tree)} frames hang on 'world', each on one parent")
        return
    name = min(loose)
    text = f"{len(loose)} frames do not hang on 'world': {', '.join(sorted(loose)[:4])}"
    known = "is in a loop" if not loose[name] else f"ends at {loose[name]!r}"
    yield failed("frames tree", f"{text}; {name!r} {known}", f"publish a transform from 'world' to {name!r}")


def wanted_frames(robot: Robot, recording: Recording) -> list[str]:
    """Return the frames that the stack looks up: root, bases, EE and TCP links of the robot, and every object.

    Args:
        robot: The robot.
        recording: The received messages.
    """
    links = [robot.root_link]
    links += [link for arm in robot.arms.values() for link in (arm.base_link, arm.ee_link, arm.tcp_link)]
    return [*dict.fromkeys(f"{robot.name}/{link}" for link in links), *sorted(recording.objects)]


def _one_publisher(recording: Recording) -> CheckFinding:
    check = "frames publishers"
    sources: dict[tuple[str, str], list[str]] = {}
    for is_static, topic in ((False, "/tf"), (True, "/tf_static")):
        messages = [message for message in recording.frames if message.is_static is is_static]
        offered = len(recording.publishers.get(topic, ()))
        if offered <= 1:
            parts = [{edge for message in messages for edge in message.edges}]
        else:
            writers = writers_of(messages, offered)
            parts = [{edge for edge, n in w.counts.items() if n >= REPEATED} for w in writers]
        for edge in (edge for part in parts for edge in part):
            sources.setdefault(edge, []).append(topic)
    twice = {edge: topics for edge, topics in sources.items() if len(topics) > 1}
    if not twice:
        return passed(check, f"{len(sources)} edges, each from one publisher")
    (parent, child), topics = min(twice.items())
    where = " and ".join(sorted(set(topics)))
    text = f"{len(twice)} edges come from two publishers, such as {parent!r} to {child!r} on {where}"
    remedy = "let the simulator publish objects only, and robot_description the robot; end the other"
    return failed(check, text, remedy)


def _top(name: str, tree: Mapping[str, str]) -> str:
    """Return the root above a frame; empty in a loop."""
    seen = {name}
    while name in tree:
        name = tree[name]
        if name in seen:
            return ""
        seen.add(name)
    return name
