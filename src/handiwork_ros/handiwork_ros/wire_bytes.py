"""Joint states and transforms straight from serialized messages, for a node that hears hundreds of them a second.

Names hardly ever change, so the places of a joint state's numbers are found once and read in one go afterwards.
Anything unusual goes the ordinary way.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from handiwork_core.geometry import Array
from tf2_msgs.msg import TFMessage

from .conversions import time_from_msg
from .row_decoding import HEAD, LITTLE_ENDIAN, stamp_from_bytes

STAMP_END = HEAD + 8
POSE_BYTES = 56


@dataclass(frozen=True, slots=True)
class JointNumbers:
    """What a JointState says: three arrays, each as long as the message has it."""

    stamp_s: float
    names: list[str]
    position: Array
    velocity: Array
    effort: Array


@dataclass(frozen=True, slots=True)
class Frame:
    """One transform: translation x, y, z and rotation x, y, z, w in ``numbers``."""

    stamp_s: float
    parent: str
    child: str
    numbers: tuple[float, ...]


class JointReader:
    """Reads JointState messages one after the other."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._same, self._size = b"", -1
        """Bytes between stamp and numbers, and length, of messages that are laid out as the last one."""
        self._places: list[tuple[int, int]] = []

    def read(self, data: bytes) -> JointNumbers:
        """The numbers of one message."""
        if len(data) != self._size or data[STAMP_END : STAMP_END + len(self._same)] != self._same:
            plain = _plain(data)
            self._learn(data, plain)
            return plain
        arrays = [np.frombuffer(data, "<f8", count, offset) for offset, count in self._places]
        return JointNumbers(stamp_from_bytes(data), self._names, *arrays)

    def _learn(self, data: bytes, plain: JointNumbers) -> None:
        self._size = -1
        if data[1] != LITTLE_ENDIAN:
            return
        _, at = _text(data, STAMP_END)
        at = _aligned(at, 4) + 4
        for _ in plain.names:
            _, at = _text(data, at)
        self._names, self._same, self._places = plain.names, data[STAMP_END:at], []
        for values in (plain.position, plain.velocity, plain.effort):
            at = _aligned(at, 4) + 4
            begin = _aligned(at, 8) if len(values) else at
            self._places.append((begin, len(values)))
            at = begin + 8 * len(values)
        self._size = len(data)


def frames_from_bytes(data: bytes) -> list[Frame]:
    """All transforms of a TFMessage."""
    if data[1] != LITTLE_ENDIAN:
        return [_frame(item) for item in deserialize_message(data, TFMessage).transforms]
    (count,) = struct.unpack_from("<I", data, HEAD)
    at, frames = HEAD + 4, []
    for _ in range(count):
        at = _aligned(at, 4)
        sec, nanosec = struct.unpack_from("<iI", data, at)
        parent, at = _text(data, at + 8)
        child, at = _text(data, at)
        at = _aligned(at, 8)
        frames.append(Frame(sec + 1e-9 * nanosec, parent, child, struct.unpack_from("<7d", data, at)))
        at += POSE_BYTES
    return frames


def _text(data: bytes, at: int) -> tuple[str, int]:
    """The text at an offset, and the offset behind it."""
    at = _aligned(at, 4)
    (length,) = struct.unpack_from("<I", data, at)
    return data[at + 4 : at + 3 + length].decode(), at + 4 + length


def _aligned(at: int, size: int) -> int:
    return at + -(at - HEAD) % size


def _plain(data: bytes) -> JointNumbers:
    message = deserialize_message(data, JointState)
    arrays = [np.array(each) for each in (message.position, message.velocity, message.effort)]
    return JointNumbers(time_from_msg(message.header.stamp), list(message.name), *arrays)


def _frame(item: object) -> Frame:
    header, move, turn = item.header, item.transform.translation, item.transform.rotation  # type: ignore[attr-defined]
    numbers = (move.x, move.y, move.z, turn.x, turn.y, turn.z, turn.w)
    return Frame(time_from_msg(header.stamp), header.frame_id, item.child_frame_id, numbers)  # type: ignore[attr-defined]
