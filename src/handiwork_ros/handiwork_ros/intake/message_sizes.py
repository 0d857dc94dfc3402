"""Reads the counts of serialized messages before they are deserialized, which takes a second for 10,000 objects."""

from __future__ import annotations

import struct
from typing import Any

from handiwork_msgs.msg import Contacts, ObjectStates, PlanningScene, WorldObjects
from sensor_msgs.msg import JointState

from handiwork_core.intake import limits
from tf2_msgs.msg import TFMessage

HEAD = 4
"""The number of bytes before the body of a serialized message; alignment counts from there."""
LITTLE_ENDIAN = 1
"""The second byte of a message in little-endian order."""
STAMP_BYTES, POSE_BYTES = 8, 56
ARTICULATION_NUMBERS = 25
"""The count of numbers in an Articulation after its names: pose, axis, origin, limits, handle."""

HEADER, VERSION = "header", "version"
ROWS: dict[Any, tuple[tuple[str, ...], int, str]] = {
    ObjectStates: ((HEADER, VERSION), limits.OBJECTS, "states"),
    Contacts: ((HEADER,), limits.CONTACTS, "contacts"),
    JointState: ((HEADER,), limits.JOINTS, "joints"),
    TFMessage: ((), limits.FRAMES, "transforms"),
}
"""Message type -> the fields before the first count, the limit of that count, and the plural of the counted things."""


def excess(kind: Any, data: bytes) -> str:
    """Return the reason why a serialized message is too large.

    Args:
        kind: Type of the message; types that are not listed here have no limit.
        data: The message.

    Returns:
        The end of a sentence; empty for a message within the limits, and for a malformed one.
    """
    try:
        if kind is WorldObjects:
            return _excess_of_geometry(_Cursor(data))
        if kind is PlanningScene and len(data) > limits.ATTACHED_BYTES:
            return f"has {len(data)} bytes; at most {limits.ATTACHED_BYTES} are read"
        if kind in ROWS:
            before, most, noun = ROWS[kind]
            count = _Cursor(data, *before).count()
            return f"has {count} {noun}; at most {most} are read" if count > most else ""
    except (struct.error, IndexError):
        return ""  # the error of deserializing it is more precise
    return ""


class _Cursor:
    """A position in a serialized message, at first behind its header and version if it has them."""

    def __init__(self, data: bytes, *before: str) -> None:
        self.data, self.at = data, HEAD
        self._format = "<I" if data[1] == LITTLE_ENDIAN else ">I"
        if HEADER in before:
            self.skip(STAMP_BYTES, 4)
            self.skip(self.count())
        if VERSION in before:
            self.skip(8, 8)

    def count(self) -> int:
        """Read the whole number here, and go behind it."""
        self.skip(0, 4)
        (value,) = struct.unpack_from(self._format, self.data, self.at)
        self.at += 4
        return int(value)

    def skip(self, size: int, alignment: int = 1) -> None:
        """Go behind ``size`` bytes that begin at a multiple of ``alignment``."""
        self.at += -(self.at - HEAD) % alignment + size

    def skip_numbers(self, size: int) -> None:
        """Go behind a list of numbers of ``size`` bytes each."""
        if count := self.count():
            self.skip(count * size, size)


def _excess_of_geometry(cursor: _Cursor) -> str:
    if len(cursor.data) > limits.GEOMETRY_BYTES:
        return f"has {len(cursor.data)} bytes; at most {limits.GEOMETRY_BYTES} are read"
    cursor = _Cursor(cursor.data, HEADER, VERSION)
    objects = cursor.count()
    if objects > limits.OBJECTS:
        return f"has {objects} objects; at most {limits.OBJECTS} are read"
    shapes = 0
    for i in range(objects):
        cursor.skip(cursor.count())
        count = cursor.count()
        shapes += count
        if count > limits.SHAPES_PER_OBJECT:
            return f"has {count} shapes in object {i}; at most {limits.SHAPES_PER_OBJECT} are read"
        if shapes > limits.SHAPES:
            return f"has more than {limits.SHAPES} shapes; join or leave out some"
        for _ in range(count):
            _skip_shape(cursor)
        cursor.skip(1)  # is_static
        cursor.skip(8, 8)  # mass
        cursor.skip(1)  # kind of the joint
        cursor.skip(cursor.count())
        cursor.skip(8 * ARTICULATION_NUMBERS, 8)
    return ""


def _skip_shape(cursor: _Cursor) -> None:
    cursor.skip(1)
    cursor.skip_numbers(8)
    cursor.skip_numbers(8)
    cursor.skip(POSE_BYTES, 8)
    cursor.skip_numbers(4)
