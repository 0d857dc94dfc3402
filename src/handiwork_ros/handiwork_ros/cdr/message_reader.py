"""Reads joint states, transforms and texts from serialized messages, for nodes that receive hundreds a second.

Names hardly ever change, so the places of the numbers are found once, and the numbers are read in one go afterwards.
A message with an unusual layout is deserialized.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from handiwork_core.model.geometry import Array
from handiwork_ros.conversions import time_from_msg
from tf2_msgs.msg import TFMessage

from .codec import (
    MessageLayout,
    is_little_endian,
    numbers_at,
    read_layout,
    stamp_from_bytes,
    stamps_at,
)
from .cursors import HEAD, Unusual, text_span
from .formats import FLOAT64, JOINT_ARRAYS, JOINT_STATE, TIME, TRANSFORMS

_ARRAY = TRANSFORMS.rows.array


@dataclass(frozen=True, slots=True)
class JointNumbers:
    """The content of a JointState message."""

    stamp_s: float
    names: list[str]
    """The same list again while only numbers change."""
    counts: tuple[int, int, int]
    """The numbers of positions, velocities and efforts."""
    numbers: Array
    """All of them, in that order."""


@dataclass(frozen=True, slots=True)
class TransformRows:
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
        self._layout: MessageLayout | None = None
        self._names: list[str] = []
        self._counts = (0, 0, 0)
        self._places: NDArray[np.intp] = np.zeros(0, dtype=np.intp)

    def read(self, data: bytes) -> JointNumbers:
        """Return the content of one message.

        Args:
            data: The serialized message.
        """
        if self._layout is None or not self._layout.fits(data):
            self._layout = None
            try:
                self._learn(read_layout(data, JOINT_STATE))
            except Unusual:
                return _plain(data)
        return JointNumbers(stamp_from_bytes(data), self._names, self._counts, numbers_at(data, self._places))

    def _learn(self, layout: MessageLayout) -> None:
        self._layout = layout
        self._names = [name for (name,) in layout.texts["name"]]
        positions, velocities, efforts = (layout.counts[array] for array in JOINT_ARRAYS)
        self._counts = positions, velocities, efforts
        self._places = layout.number_places()


class FrameReader:
    """Reads TFMessage messages one after the other."""

    def __init__(self) -> None:
        self._layout: MessageLayout | None = None
        self._edges: list[tuple[str, ...]] = []
        self._stamps: NDArray[np.intp] = np.zeros((0, 0), dtype=np.intp)
        self._numbers = self._stamps

    def read(self, data: bytes) -> TransformRows:
        """Return all transforms of one message.

        Args:
            data: The serialized message.
        """
        if self._layout is None or not self._layout.fits(data):
            self._layout = None
            try:
                self._learn(read_layout(data, TRANSFORMS))
            except Unusual:
                return _plain_frames(data)
        numbers = numbers_at(data, self._numbers)
        numbers.setflags(write=False)
        return TransformRows(self._edges, stamps_at(data, self._stamps), numbers)

    def _learn(self, layout: MessageLayout) -> None:
        self._layout = layout
        self._edges = layout.texts[_ARRAY]
        self._stamps, self._numbers = layout.places(_ARRAY, TIME), layout.places(_ARRAY, FLOAT64)


def text_from_bytes(data: bytes) -> str:
    """Return the text of a std_msgs/String; bytes that are no UTF-8 become replacement characters.

    Args:
        data: The serialized message.
    """
    if not is_little_endian(data):
        return str(deserialize_message(data, String).data)
    begin, end = text_span(data, HEAD)
    return data[begin : end - 1].decode(errors="replace")


def _plain(data: bytes) -> JointNumbers:
    message = deserialize_message(data, JointState)
    arrays = message.position, message.velocity, message.effort
    counts = len(message.position), len(message.velocity), len(message.effort)
    numbers = np.concatenate([np.asarray(each, dtype=np.float64) for each in arrays])
    return JointNumbers(time_from_msg(message.header.stamp), list(message.name), counts, numbers)


def _plain_frames(data: bytes) -> TransformRows:
    items = deserialize_message(data, TFMessage).transforms
    places = ((item.transform.translation, item.transform.rotation) for item in items)
    rows = [(at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w) for at, turn in places]
    return TransformRows(
        [(item.header.frame_id, item.child_frame_id) for item in items],
        np.array([time_from_msg(item.header.stamp) for item in items]),
        np.array(rows).reshape(len(rows), TRANSFORMS.rows.numbers),
    )
