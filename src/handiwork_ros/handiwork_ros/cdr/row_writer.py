"""Joint states, object states and contacts written as bytes, for a node that sends hundreds of them a second.

Names in such messages hardly ever change, so the places of the numbers are found once, and only numbers are written
afterwards. ``Publisher.publish`` sends bytes as they are.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array
from handiwork_ros.conversions.pose import time_parts

from .row_reader import HEAD

PLAIN_LITTLE_ENDIAN = b"\x00\x01\x00\x00"
"""The four bytes before the body of a message."""

Texts = Sequence[tuple[str, ...]]


class _Body:
    """A message as it grows; alignment counts from its beginning."""

    def __init__(self, frame: str) -> None:
        self.data = bytearray(8)  # the stamp
        self.text(frame)

    def align(self, size: int) -> int:
        """Pad to a multiple; the length then."""
        self.data += bytes(-len(self.data) % size)
        return len(self.data)

    def count(self, value: int) -> None:
        self.align(4)
        self.data += struct.pack("<I", value)

    def text(self, value: str) -> None:
        code = value.encode() + b"\x00"
        self.count(len(code))
        self.data += code

    def numbers(self, count: int) -> int:
        """Room for numbers; where it begins, in words of eight bytes."""
        begin = self.align(8) if count else len(self.data)
        self.data += bytes(8 * count)
        return begin // 8


class _Filled:
    """Bytes of one message whose stamp and numbers are written again and again."""

    def __init__(self, body: _Body, words: NDArray[np.intp]) -> None:
        self._size = HEAD + len(body.data)
        body.align(8)
        self._data = bytearray(PLAIN_LITTLE_ENDIAN + body.data)
        self._numbers = np.frombuffer(self._data, dtype="<f8", offset=HEAD)
        self._words = words

    def write(self, stamp_s: float, numbers: Array, version: tuple[int, int] | None = None) -> bytes:
        struct.pack_into("<iI", self._data, HEAD, *time_parts(stamp_s))
        if version is not None:
            struct.pack_into("<Q", self._data, HEAD + version[0], version[1])
        self._numbers[self._words] = numbers
        return bytes(self._data[: self._size])


class JointWriter:
    """Writes sensor_msgs/JointState of the same joints."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._made: dict[tuple[int, ...], _Filled] = {}

    def write(self, stamp_s: float, *arrays: Array) -> bytes:
        """Positions, velocities, efforts: each for all joints, or empty."""
        lengths = tuple(map(len, arrays))
        if lengths not in self._made:
            self._made[lengths] = self._lay_out(lengths)
        return self._made[lengths].write(stamp_s, np.concatenate(arrays))

    def _lay_out(self, lengths: tuple[int, ...]) -> _Filled:
        body, words = _Body(""), list[NDArray[np.intp]]()
        body.count(len(self._names))
        for name in self._names:
            body.text(name)
        for length in lengths:
            body.count(length)
            words.append(body.numbers(length) + np.arange(length))
        return _Filled(body, np.concatenate(words))


class RowWriter:
    """Writes messages of rows in frame ``world``: handiwork_msgs/ObjectStates, with a version, and Contacts.

    Args:
        numbers: of each row.
        is_versioned: whether the message has a version between its header and the rows.
    """

    def __init__(self, numbers: int, *, is_versioned: bool) -> None:
        self._count, self._is_versioned = numbers, is_versioned
        self._texts: Texts | None = None
        self._version_at = 0
        self._made: _Filled

    def write(self, stamp_s: float, texts: Texts, numbers: Array, version: int = 0) -> bytes:
        """One message; ``numbers`` (n, count) go by row."""
        if texts != self._texts:
            self._texts, self._made = texts, self._lay_out(texts)
        place = (self._version_at, version) if self._is_versioned else None
        return self._made.write(stamp_s, numbers, place)

    def _lay_out(self, texts: Texts) -> _Filled:
        body, begins = _Body("world"), []
        if self._is_versioned:
            self._version_at = 8 * body.numbers(1)
        body.count(len(texts))
        for row in texts:
            for text in row:
                body.text(text)
            begins.append(body.numbers(self._count))
        words = np.array(begins, dtype=np.intp).reshape(-1, 1) + np.arange(self._count)
        return _Filled(body, words)
