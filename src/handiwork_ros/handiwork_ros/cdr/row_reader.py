"""Object states and contacts straight from serialized messages: a hundred times a second, for dozens of objects.

The names in such a message hardly ever change, so the places of its numbers are found once and then read in one
go. What has not moved keeps its ``Pose`` and its ``Contact``: who compares by identity sees at once what is new.
Anything unusual goes the ordinary way, which also words the errors.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from handiwork_msgs.msg import Contacts, ObjectStates
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.world import Contact, ObjectState
from handiwork_ros.conversions import contacts_from_msg, object_states_from_msg
from handiwork_ros.conversions.pose import unit_wxyz

HEAD = 4
"""Bytes before the body; alignment counts from there."""
LITTLE_ENDIAN = 1
STAMP_BYTES = 8
STATE_NUMBERS, CONTACT_NUMBERS, TRANSFORM_NUMBERS = 13, 6, 7
STAMP, STAMP_BIG_ENDIAN = struct.Struct("<iI"), struct.Struct(">iI")


@dataclass(frozen=True, slots=True)
class RowFormat:
    """How a message of rows is laid out: a header and a version or neither, then rows of texts and numbers."""

    texts: int
    numbers: int
    has_header: bool = True
    has_version: bool = False
    has_stamps: bool = False
    """Whether each row begins with a stamp."""


STATES = RowFormat(1, STATE_NUMBERS, has_version=True)
CONTACTS = RowFormat(2, CONTACT_NUMBERS)
TRANSFORMS = RowFormat(2, TRANSFORM_NUMBERS, has_header=False, has_stamps=True)


class Unusual(Exception):
    """Not laid out as expected."""


def stamp_from_bytes(data: bytes) -> float:
    """Time of the header with which a serialized message begins [s]."""
    sec, nanosec = (STAMP if data[1] == LITTLE_ENDIAN else STAMP_BIG_ENDIAN).unpack_from(data, HEAD)
    return float(sec) + 1e-9 * float(nanosec)


def layout_of(data: bytes, form: RowFormat) -> Layout:
    """Where names and numbers of a message are.

    Raises:
        Unusual: it is of the other endianness, or not laid out as that format says.
    """
    if data[1] != LITTLE_ENDIAN:
        raise Unusual
    try:
        return Layout(data, form)
    except (struct.error, UnicodeDecodeError, ValueError) as error:
        raise Unusual from error


class Layout:
    """Names of the rows of one message, and where its numbers are. Made by ``layout_of``."""

    def __init__(self, data: bytes, form: RowFormat) -> None:
        self._body = memoryview(data)[HEAD:]
        self._read: list[NDArray[np.intp]] = []
        self.names: list[tuple[str, ...]] = []
        at = self._text(STAMP_BYTES)[1] if form.has_header else 0
        if form.has_version:
            at += -at % 8 + 8
            self._version_at = at - 8
        count, at = self._count(at)
        begins, stamps = [], []
        for _ in range(count):
            if form.has_stamps:
                at += -at % 4
                stamps.append(at // 4)
                at += STAMP_BYTES
            row = []
            for _ in range(form.texts):
                text, at = self._text(at)
                row.append(text)
            at += -at % 8
            begins.append(at)
            at += 8 * form.numbers
            self.names.append(tuple(row))
        if at > len(self._body):
            raise Unusual
        del self._body
        self._words = np.array(begins, dtype=np.intp).reshape(-1, 1) // 8 + np.arange(form.numbers)
        self._stamps = np.array(stamps, dtype=np.intp)
        # Texts and counts only: what pads them may hold anything.
        self._fixed = np.concatenate(self._read)
        self._same, self._size = _bytes(data)[self._fixed], len(data)

    def version(self, data: bytes) -> int:
        """Return the version, of a format that has one."""
        at = HEAD + self._version_at
        return int.from_bytes(data[at : at + 8], "little")

    def _count(self, at: int) -> tuple[int, int]:
        """The count at an offset, and the offset behind it."""
        at += -at % 4
        self._read.append(np.arange(at, at + 4))
        return int(struct.unpack_from("<I", self._body, at)[0]), at + 4

    def _text(self, at: int) -> tuple[str, int]:
        """The text at an offset, and the offset behind it."""
        length, at = self._count(at)
        if not 0 < length <= len(self._body) - at:
            raise Unusual
        self._read.append(np.arange(at, at + length))
        return bytes(self._body[at : at + length - 1]).decode(), at + length

    def fits(self, data: bytes) -> bool:
        """True when only numbers and stamps differ from the message that the layout was made of."""
        return len(data) == self._size and bool((_bytes(data)[self._fixed] == self._same).all())

    def rows(self, data: bytes) -> Array:
        """Numbers by row."""
        words = np.frombuffer(data, dtype="<f8", offset=HEAD, count=(len(data) - HEAD) // 8)
        found: Array = words[self._words]
        found.setflags(write=False)
        return found

    def stamps_s(self, data: bytes) -> Array:
        """Stamps of the rows [s]; empty where rows have none."""
        words = np.frombuffer(data, dtype="<i4", offset=HEAD, count=(len(data) - HEAD) // 4)
        found: Array = words[self._stamps] + 1e-9 * words[self._stamps + 1]
        return found


def _bytes(data: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(data, dtype=np.uint8, offset=HEAD)


class _Rows:
    """The rows of a stream of messages, and which of them differ from those of the message before."""

    def __init__(self, form: RowFormat) -> None:
        self._form = form
        self._layout: Layout | None = None
        self._before: Array | None = None

    def read(self, data: bytes) -> tuple[list[tuple[str, ...]], Array, NDArray[np.intp] | None]:
        """Names, numbers, and the indices of rows that are new; None where all are.

        Raises:
            Unusual: the message is not laid out as expected, or a number is not finite.
        """
        before = self._before
        if self._layout is None or not self._layout.fits(data):
            self._layout, before = None, None
            self._layout = layout_of(data, self._form)
        rows = self._layout.rows(data)
        if not np.isfinite(rows).all():
            raise Unusual
        self._before = rows
        changed = None if before is None else np.flatnonzero((rows != before).any(axis=1))
        return self._layout.names, rows, changed

    def version(self, data: bytes) -> int:
        """Return the version of the message that was read last."""
        return self._layout.version(data) if self._layout is not None else 0

    def forget(self) -> None:
        """Take all rows for new next time."""
        self._before = None


class StatesDecoder:
    """Serialized ObjectStates to states by name."""

    def __init__(self) -> None:
        self._rows = _Rows(STATES)
        self._made: list[ObjectState] = []
        self._names: list[tuple[str, ...]] = []
        """The list of names that was found to hold none twice."""

    def __call__(self, data: bytes) -> dict[str, ObjectState]:
        """Decode.

        Raises:
            BadMessage: a number is not finite, a quaternion is no unit quaternion, a name occurs twice, or the
                version is zero.
        """
        try:
            names, rows, changed = self._rows.read(data)
            wxyz = unit_wxyz(rows[:, 3:7])
            if wxyz is None or not self._rows.version(data) or not self._are_single(names):
                raise Unusual
        except Unusual:
            self._rows.forget()
            return object_states_from_msg(deserialize_message(data, ObjectStates))
        stamp_s = stamp_from_bytes(data)
        new = [True] * len(names) if changed is None else _marked(changed, len(names))
        kept = [None] * len(names) if changed is None else self._made
        self._made = [
            ObjectState(Pose(Rotation(q), row[:3]), row[7:10], row[10:], stamp_s)
            if is_new or last is None
            else ObjectState(last.world_T_object, last.world_v_object, last.world_w_object, stamp_s)
            for q, row, is_new, last in zip(wxyz, rows, new, kept, strict=True)
        ]
        return {name: state for (name,), state in zip(names, self._made, strict=True)}

    def _are_single(self, names: list[tuple[str, ...]]) -> bool:
        """Whether no name occurs twice; looked at once for each list."""
        if names is not self._names:
            if len(set(names)) < len(names):
                return False
            self._names = names
        return True


class ContactsDecoder:
    """Serialized Contacts to contacts."""

    def __init__(self) -> None:
        self._rows = _Rows(CONTACTS)
        self._made: list[Contact] = []

    def __call__(self, data: bytes) -> tuple[Contact, ...]:
        """Decode.

        Raises:
            BadMessage: a number is not finite.
        """
        try:
            names, rows, changed = self._rows.read(data)
        except Unusual:
            self._rows.forget()
            return contacts_from_msg(deserialize_message(data, Contacts))
        if changed is None:
            self._made = [Contact(a, b, row[:3], row[3:]) for (a, b), row in zip(names, rows, strict=True)]
        else:
            for i in changed.tolist():
                a, b = names[i]
                self._made[i] = Contact(a, b, rows[i, :3], rows[i, 3:])
        return tuple(self._made)


def _marked(indices: NDArray[np.intp], count: int) -> list[bool]:
    marks = np.zeros(count, dtype=bool)
    marks[indices] = True
    return marks.tolist()
