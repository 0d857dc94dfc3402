"""Messages of a topic, checked as they arrive: a bad one is counted and dropped, and the last good one stays."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from handiwork_msgs.msg import WorldObjects
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState as JointStateMsg

from handiwork_core.intake.counters import IntakeCounter
from handiwork_core.intake.writer_sequences import WriterSequences
from handiwork_core.model.geometry import Array
from handiwork_core.model.measured_joints import MeasuredJoints
from handiwork_core.model.world import JointState, WorldObject
from handiwork_ros.cdr.message_reader import JointNumbers, JointReader
from handiwork_ros.conversions import (
    BadMessage,
    joint_state_from_msg,
    world_objects_from_msg,
)
from handiwork_ros.rclpy_support.rclpy_internals import take

from .message_sizes import excess

V = TypeVar("V")
Complain = Callable[[str], None]
"""Writes one line to the node's log."""

MOST_TAKEN = 32
"""Messages that one look at a subscription takes at most."""
COMPLAIN_S = 5.0
MOST_READERS = 16


class TopicIntake(Generic[V]):
    """The newest good message of a topic and its value.

    Args:
        topic: what sentences call it.
        read: makes the value of a message, and raises for a bad one. It is called for every message.
        empty: the value before the first message.
        lock: of the owner, who holds it while calling anything but ``take``.
        complain: receives a line about dropped messages, every ``COMPLAIN_S`` at most.
        kind: type of the messages where they come serialized; one that is too large is dropped before it is read.
    """

    def __init__(
        self,
        topic: str,
        read: Callable[[Any], V],
        empty: V,
        lock: threading.Lock,
        complain: Complain,
        kind: Any = None,
    ) -> None:
        self._read, self._empty, self._value, self._kind = read, empty, empty, kind
        self._lock, self._complain, self._complained_s = lock, complain, -math.inf
        self.counter = IntakeCounter(topic)
        self.writers = WriterSequences()
        self.message: Any = None
        """The newest good message, of which the value was made; None before the first."""
        self._heard_s = -math.inf

    def take(self, message: Any, info: dict[str, Any]) -> None:
        """Check and keep a message: the callback of a subscription. Never raises."""
        with self._lock:
            self.offer([(message, number_of(info), time.monotonic())])

    def repeat(self, info: dict[str, Any]) -> None:
        """Note that the newest message was sent once more. Never raises."""
        with self._lock:
            now_s = time.monotonic()
            self.writers.take(number_of(info), now_s)
            self.counter.take_good(now_s)
            self._heard_s = now_s

    def offer(self, found: Sequence[tuple[Any, int, float]]) -> None:
        """Check messages and keep the newest good one.

        Args:
            found: messages in the order of their arrival, with the count of their writer and when they came (steady
                time) [s]. Those before the newest good one are not looked at.
        """
        for _, number, heard_s in found:
            self.writers.take(number, heard_s)
        for message, _, heard_s in reversed(found):
            if self._is_kept(message, heard_s):
                return

    def value(self) -> V:
        """Return the value of the newest good message, or the empty one."""
        return self._value

    def drop(self) -> None:
        """Know nothing again."""
        self.message, self._value, self._heard_s = None, self._empty, -math.inf

    def heard_s(self) -> float:
        """Return when the newest good message came; -inf before the first."""
        return self._heard_s

    def _is_kept(self, message: Any, heard_s: float) -> bool:
        try:
            self._check_size(message)
            self._value = self._read(message)
        except Exception as error:  # noqa: BLE001 - whatever a message holds, it must not stop the node
            self._refuse(error)
            return False
        self.message, self._heard_s = message, heard_s
        self.counter.take_good(heard_s)
        return True

    def _check_size(self, message: Any) -> None:
        if self._kind is not None and (why := excess(self._kind, message)):
            raise BadMessage(self.counter.topic, why)

    def _refuse(self, error: Exception) -> None:
        self.counter.take_bad(str(error) or repr(error))
        now_s = time.monotonic()
        if now_s - self._complained_s > COMPLAIN_S:
            self._complained_s, counter = now_s, self.counter
            text = f"{counter.topic}: a message was dropped, number {counter.dropped}: {counter.last_fault}"
            self._complain(text)


class GeometryIntake(TopicIntake[tuple[int, dict[str, WorldObject]]]):
    """Serialized WorldObjects messages of a latched topic: version and objects.

    Args:
        topic: see ``TopicIntake``.
        lock: see ``TopicIntake``.
        complain: see ``TopicIntake``.
    """

    def __init__(self, topic: str, lock: threading.Lock, complain: Complain) -> None:
        super().__init__(topic, _geometry_of, (0, {}), lock, complain, WorldObjects)

    def take(self, message: bytes, info: dict[str, Any]) -> None:
        """Take a version; one that is repeated for late readers need not be decoded again."""
        if message == self.message:
            self.repeat(info)
        else:
            super().take(message, info)


def _geometry_of(data: bytes) -> tuple[int, dict[str, WorldObject]]:
    """Return version and objects of a serialized message."""
    message = deserialize_message(data, WorldObjects)
    return int(message.version), world_objects_from_msg(message)


class JointIntake(TopicIntake[JointState]):
    """Serialized JointState messages of one publisher or of several.

    Args:
        needed: see ``MeasuredJoints``.
        lock: see ``TopicIntake``.
        complain: see ``TopicIntake``.
    """

    def __init__(self, needed: Sequence[str], lock: threading.Lock, complain: Complain) -> None:
        empty = JointState(0.0, {})
        super().__init__("joint_states", joint_state_from_msg, empty, lock, complain, JointStateMsg)
        self._joints = MeasuredJoints(needed)
        self._readers: dict[int, JointReader] = {}

    def offer(self, found: Sequence[tuple[Any, int, float]]) -> None:
        """Check all messages: each may have other joints."""
        for data, number, heard_s in found:
            self._take_one(data, number, heard_s)

    def value(self) -> JointState:
        """Return the newest measurement of every joint."""
        return self._joints.value()

    def drop(self) -> None:
        """Know nothing again."""
        self._joints.clear()

    def heard_s(self) -> float:
        """Return when the joints of the arms came; see ``MeasuredJoints.heard_s``."""
        return self._joints.heard_s()

    def contested(self, now_s: float) -> tuple[str, ...]:
        """Return the joints that several publishers send at the same time."""
        return self._joints.contested(now_s)

    def _take_one(self, data: bytes, number: int, heard_s: float) -> None:
        try:
            self._check_size(data)
            read = self._reader(len(data)).read(data)
            self._joints.note(read.names, number, heard_s)
            position, velocity = _checked(read, data)
            self._joints.take(read.names, read.stamp_s, position, velocity, heard_s)
        except Exception as error:  # noqa: BLE001 - whatever a message holds, it must not stop the node
            self._refuse(error)
            return
        self.counter.take_good(heard_s)

    def _reader(self, size: int) -> JointReader:
        """Return a reader for messages of a length: those of several publishers differ, and each keeps its layout."""
        if size not in self._readers and len(self._readers) >= MOST_READERS:
            self._readers.clear()
        return self._readers.setdefault(size, JointReader())


def _checked(read: JointNumbers, data: bytes) -> tuple[list[float], list[float]]:
    """Return positions and velocities.

    Raises:
        BadMessage: the numbers of a message do not fit its names, or are not finite.
    """
    joints, (positions, velocities, _) = len(read.names), read.counts
    numbers: Array = read.numbers[: positions + velocities]
    whole = numbers.tolist()
    # A sum is finite exactly when all numbers are, but for sums beyond 1e308.
    if positions == joints and velocities in (0, joints) and math.isfinite(sum(whole)):
        return whole[:positions], whole[positions:]
    joint_state_from_msg(deserialize_message(data, JointStateMsg), "joint_states")
    raise BadMessage("joint_states", "has numbers too great to add; send finite numbers")


def taken(sub: Subscription) -> list[tuple[Any, int, float]]:
    """Take what has come to a subscription that nobody waits for, in the order of arrival, as ``offer`` wants it."""
    found = list[tuple[Any, int, float]]()
    now_s, wall_s = time.monotonic(), time.time()
    while len(found) < MOST_TAKEN:
        one = take(sub)
        if one is None:
            break
        message, info = one
        age_s = max(0.0, wall_s - 1e-9 * info["received_timestamp"])
        found.append((message, number_of(info), now_s - age_s))
    return found


def number_of(info: dict[str, Any]) -> int:
    """Return the count that its writer gave a message; 0 where the middleware does not count."""
    return int(info.get("publication_sequence_number") or 0)
