"""Joint states, transforms and texts straight from serialized messages, for who hears hundreds of them a second.

Names hardly ever change, so the places of the numbers are found once and read in one go afterwards.
Anything unusual goes the ordinary way.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from handiwork_core.model.geometry import Array
from handiwork_ros.conversions import time_from_msg
from tf2_msgs.msg import TFMessage

from .row_reader import (
    HEAD,
    LITTLE_ENDIAN,
    TRANSFORM_NUMBERS,
    TRANSFORMS,
    Layout,
    Unusual,
    layout_of,
    stamp_from_bytes,
)

STAMP_END = HEAD + 8


@dataclass(frozen=True, slots=True)
class JointNumbers:
    """What a JointState says."""

    stamp_s: float
    names: list[str]
    """The same list again while only numbers change."""
    counts: tuple[int, int, int]
    """How many positions, velocities and efforts the message has."""
    numbers: Array
    """All of them, in that order."""


@dataclass(frozen=True, slots=True)
class Frames:
    """Transforms of one message."""

    edges: list[tuple[str, ...]]
    """Parent and child of each; the same list again while only numbers change."""
    stamps_s: Array
    """(n,) [s]."""
    numbers: Array
    """(n, 7): translation x, y, z [m] and rotation x, y, z, w."""


class JointReader:
    """Reads JointState messages one after the other."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._same, self._size = list[tuple[int, bytes]](), -1
        """Where names and counts are, which bytes they are, and the length of messages laid out as the last one."""
        self._counts = (0, 0, 0)
        self._words: NDArray[np.intp] = np.zeros(0, dtype=np.intp)
        """Where the numbers are, in words of eight bytes."""

    def read(self, data: bytes) -> JointNumbers:
        """The numbers of one message."""
        if len(data) != self._size or any(data[at : at + len(same)] != same for at, same in self._same):
            plain = _plain(data)
            self._learn(data, plain)
            return plain
        words = np.frombuffer(data, dtype="<f8", offset=HEAD, count=(len(data) - HEAD) // 8)
        return JointNumbers(stamp_from_bytes(data), self._names, self._counts, words[self._words])

    def _learn(self, data: bytes, plain: JointNumbers) -> None:
        self._size = -1
        if data[1] != LITTLE_ENDIAN:
            return
        _, at = _text(data, STAMP_END)
        at = _aligned(at, 4) + 4
        for _ in plain.names:
            _, at = _text(data, at)
        self._names, self._counts, words = plain.names, plain.counts, []
        self._same = [(STAMP_END, data[STAMP_END:at])]
        for count in plain.counts:
            at = _aligned(at, 4) + 4
            self._same.append((at - 4, data[at - 4 : at]))
            begin = _aligned(at, 8) if count else at
            words.append((begin - HEAD) // 8 + np.arange(count))
            at = begin + 8 * count
        self._words, self._size = np.concatenate(words), len(data)


class FrameReader:
    """Reads TFMessage messages one after the other."""

    def __init__(self) -> None:
        self._layout: Layout | None = None

    def read(self, data: bytes) -> Frames:
        """All transforms of one message."""
        if self._layout is None or not self._layout.fits(data):
            try:
                self._layout = layout_of(data, TRANSFORMS)
            except Unusual:
                self._layout = None
                return _plain_frames(data)
        return Frames(self._layout.names, self._layout.stamps_s(data), self._layout.rows(data))


def text_from_bytes(data: bytes) -> str:
    """What a std_msgs/String says."""
    if data[1] != LITTLE_ENDIAN:
        return str(deserialize_message(data, String).data)
    return _text(data, HEAD)[0]


def _text(data: bytes, at: int) -> tuple[str, int]:
    """The text at an offset, and the offset behind it."""
    at = _aligned(at, 4)
    (length,) = struct.unpack_from("<I", data, at)
    return data[at + 4 : at + 3 + length].decode(errors="replace"), at + 4 + length


def _aligned(at: int, size: int) -> int:
    return at + -(at - HEAD) % size


def _plain(data: bytes) -> JointNumbers:
    message = deserialize_message(data, JointState)
    arrays = message.position, message.velocity, message.effort
    counts = len(message.position), len(message.velocity), len(message.effort)
    numbers = np.concatenate([np.asarray(each, dtype=np.float64) for each in arrays])
    return JointNumbers(time_from_msg(message.header.stamp), list(message.name), counts, numbers)


def _plain_frames(data: bytes) -> Frames:
    items = deserialize_message(data, TFMessage).transforms
    places = ((item.transform.translation, item.transform.rotation) for item in items)
    rows = [(at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w) for at, turn in places]
    return Frames(
        [(item.header.frame_id, item.child_frame_id) for item in items],
        np.array([time_from_msg(item.header.stamp) for item in items]),
        np.array(rows).reshape(len(rows), TRANSFORM_NUMBERS),
    )
