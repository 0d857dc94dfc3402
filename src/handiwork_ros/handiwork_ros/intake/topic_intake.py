"""Checks the messages of a topic as they arrive: a bad one is counted and dropped, and the last good one is kept."""

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
"""Function that writes one line to the node's log."""

MOST_TAKEN = 32
"""The largest number of messages that one read of a subscription takes."""
COMPLAIN_S = 5.0
"""The shortest pause between two log lines about dropped messages, s."""
MOST_READERS = 16
"""The largest number of message lengths for which a reader is kept."""


class TopicIntake(Generic[V]):
    """The newest good message of a topic and its value.

    Args:
        topic: Name of the topic in sentences.
        read: Makes the value of a message, and raises for a bad one. It is called for every message.
        empty: The value before the first message.
        lock: Lock of the owner, which holds it while it calls any method but ``take`` and ``repeat``.
        complain: Called with a line about dropped messages, at most every ``COMPLAIN_S``.
        kind: Type of the messages if they come serialized; a message that is too large is dropped before it is read.
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
        """The newest good message, from which the value was made; None before the first."""
        self._heard_s = -math.inf

    def take(self, message: Any, info: dict[str, Any]) -> None:
        """Check and keep a message: the callback of a subscription. It never raises.

        Args:
            message: The message, serialized if the intake has a ``kind``.
            info: Message information of rclpy.
        """
        with self._lock:
            self.offer([(message, number_of(info), time.monotonic())])

    def repeat(self, info: dict[str, Any]) -> None:
        """Note that the newest message was sent once more. It never raises.

        Args:
            info: Message information of rclpy.
        """
        with self._lock:
            now_s = time.monotonic()
            self.writers.take(number_of(info), now_s)
            self.counter.take_good(now_s)
            self._heard_s = now_s

    def offer(self, found: Sequence[tuple[Any, int, float]]) -> None:
        """Check messages and keep the newest good one.

        Args:
            found: Messages in the order of their arrival, with the sequence number of their writer and their time of
                arrival (s of steady time). The messages before the newest good one are not checked.
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
        """Forget the newest message and its value."""
        self.message, self._value, self._heard_s = None, self._empty, -math.inf

    def heard_s(self) -> float:
        """Return the time of arrival of the newest good message, s of steady time; -inf before the first."""
        return self._heard_s

    def _is_kept(self, message: Any, heard_s: float) -> bool:
        try:
            self._check_size(message)
            self._value = self._read(message)
        except Exception as error:  # noqa: BLE001 - no content of a message may stop the node
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


class LatchedIntake(TopicIntake[V]):
    """Serialized messages of a latched topic, each repeated for late subscribers."""

    def take(self, message: bytes, info: dict[str, Any]) -> None:
        """Check and keep a message; one that is repeated is not decoded again.

        Args:
            message: The serialized message.
            info: Message information of rclpy.
        """
        if message == self.message:
            self.repeat(info)
        else:
            super().take(message, info)


class GeometryIntake(LatchedIntake[tuple[int, dict[str, WorldObject]]]):
    """Serialized WorldObjects messages of a latched topic: version and objects.

    Args:
        topic: See ``TopicIntake``.
        lock: See ``TopicIntake``.
        complain: See ``TopicIntake``.
    """

    def __init__(self, topic: str, lock: threading.Lock, complain: Complain) -> None:
        super().__init__(topic, _geometry_of, (0, {}), lock, complain, WorldObjects)


def _geometry_of(data: bytes) -> tuple[int, dict[str, WorldObject]]:
    """Return version and objects by name of a serialized message."""
    message = deserialize_message(data, WorldObjects)
    return int(message.version), world_objects_from_msg(message)


class JointIntake(TopicIntake[JointState]):
    """Serialized JointState messages of one publisher or of several.

    Args:
        needed: See ``MeasuredJoints``.
        lock: See ``TopicIntake``.
        complain: See ``TopicIntake``.
    """

    def __init__(self, needed: Sequence[str], lock: threading.Lock, complain: Complain) -> None:
        empty = JointState(0.0, {})
        super().__init__("joint_states", joint_state_from_msg, empty, lock, complain, JointStateMsg)
        self._joints = MeasuredJoints(needed)
        self._readers: dict[int, JointReader] = {}

    def offer(self, found: Sequence[tuple[Any, int, float]]) -> None:
        """Check all messages, since each may have other joints.

        Args:
            found: See ``TopicIntake.offer``.
        """
        for data, number, heard_s in found:
            self._take_one(data, number, heard_s)

    def value(self) -> JointState:
        """Return the newest measurement of every joint."""
        return self._joints.value()

    def drop(self) -> None:
        """Forget all measurements."""
        self._joints.clear()

    def heard_s(self) -> float:
        """Return the time of arrival of the arms' joints, s of steady time; see ``MeasuredJoints.heard_s``."""
        return self._joints.heard_s()

    def contested(self, now_s: float) -> tuple[str, ...]:
        """Return the joints that several publishers send at the same time.

        Args:
            now_s: Steady time, s.

        Returns:
            Names of the joints; empty if each has one publisher.
        """
        return self._joints.contested(now_s)

    def _take_one(self, data: bytes, number: int, heard_s: float) -> None:
        try:
            self._check_size(data)
            read = self._reader(len(data)).read(data)
            self._joints.note(read.names, number, heard_s)
            position, velocity = _checked(read, data)
            self._joints.take(read.names, read.stamp_s, position, velocity, heard_s)
        except Exception as error:  # noqa: BLE001 - no content of a message may stop the node
            self._refuse(error)
            return
        self.counter.take_good(heard_s)

    def _reader(self, size: int) -> JointReader:
        """Return the reader for messages of a length: publishers send different lengths, each with its own layout."""
        if size not in self._readers and len(self._readers) >= MOST_READERS:
            self._readers.clear()
        return self._readers.setdefault(size, JointReader())


def _checked(read: JointNumbers, data: bytes) -> tuple[list[float], list[float]]:
    """Return positions and velocities.

    Raises:
        BadMessage: The numbers of a message do not fit its names, or are not finite.
    """
    joints, (positions, velocities, _) = len(read.names), read.counts
    numbers: Array = read.numbers[: positions + velocities]
    whole = numbers.tolist()
    # A sum is finite exactly when all numbers are finite, except for sums beyond 1e308.
    if positions == joints and velocities in (0, joints) and math.isfinite(sum(whole)):
        return whole[:positions], whole[positions:]
    joint_state_from_msg(deserialize_message(data, JointStateMsg), "joint_states")
    raise BadMessage("joint_states", "has numbers too great to add; send finite numbers")


def taken(sub: Subscription) -> list[tuple[Any, int, float]]:
    """Take the messages of a subscription that no executor serves.

    Args:
        sub: The subscription.

    Returns:
        At most ``MOST_TAKEN`` messages in the order of arrival, as ``TopicIntake.offer`` takes them.
    """
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
    """Return the sequence number that its writer gave a message.

    Args:
        info: Message information of rclpy.

    Returns:
        The number; 0 if the middleware does not count.
    """
    return int(info.get("publication_sequence_number") or 0)
