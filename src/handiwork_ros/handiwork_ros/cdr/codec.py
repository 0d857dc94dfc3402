"""Finds and writes the texts and numbers of serialized messages (CDR, little-endian) of the formats of the table.

Texts and counts hardly ever change, so one walk over the fields finds where all numbers are. As long as texts and
counts stay the same, the numbers of later messages are read and written in one go.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array

from .cursors import HEAD, MOST_PADDING, PLAIN_LITTLE_ENDIAN, Sink, Source, Texts, Unusual, aligned
from .formats import FLOAT64, FLOATS, TEXT, FieldType, MessageFormat

STAMP, STAMP_BIG_ENDIAN = struct.Struct("<iI"), struct.Struct(">iI")


def is_little_endian(data: bytes) -> bool:
    """Return whether the numbers of a message are little-endian.

    Args:
        data: The message.
    """
    return data[1] == PLAIN_LITTLE_ENDIAN[1]


def stamp_from_bytes(data: bytes) -> float:
    """Return the time of a message that begins with a header, s.

    Args:
        data: The message, of either endianness.
    """
    sec, nanosec = (STAMP if is_little_endian(data) else STAMP_BIG_ENDIAN).unpack_from(data, HEAD)
    return float(sec) + 1e-9 * float(nanosec)


class MessageLayout:
    """Texts of one message, and the places of its numbers. Blocks are named by their array.

    Args:
        size: Length of the message, bytes.
    """

    def __init__(self, size: int = 0) -> None:
        self.size = size
        self.texts: dict[str, list[tuple[str, ...]]] = {}
        """The texts of each entry."""
        self.counts: dict[str, int] = {}
        """The number of entries."""
        self.begins: dict[tuple[str, FieldType], tuple[list[int], int]] = {}
        """Offsets in the message at which fields of one type begin, and the number of fields from each on."""
        self.lists: dict[str, list[tuple[int, int]]] = {}
        """The offset in the message at which the list of numbers of each entry begins, and their number."""
        self._fixed, self._same = struct.Struct(""), tuple[bytes, ...]()

    def fix(self, data: bytes, spans: Sequence[tuple[int, int]]) -> None:
        """Remember the bytes that decide whether another message fits.

        Padding is not among them, since it may hold anything. Structures compare faster than indexed arrays.

        Args:
            data: The message.
            spans: Offsets of the first byte of each text and count, and of the byte behind it.
        """
        parts, before = ["<2s2x"], HEAD
        for begin, end in spans:
            parts.append(f"{begin - before}x{end - begin}s")
            before = end
        self._fixed = struct.Struct("".join(parts) + f"{self.size - before}x")
        self._same = self._fixed.unpack(data)

    def fits(self, data: bytes) -> bool:
        """Return whether only numbers and stamps differ from the message that the layout was made of.

        Args:
            data: The other message.
        """
        return len(data) == self.size and self._fixed.unpack(data) == self._same

    def places(self, array: str, of: FieldType) -> NDArray[np.intp]:
        """Return the offsets in the body of the fields of one type, (begins, fields), in units of its alignment.

        Args:
            array: The block.
            of: The type.
        """
        begins, count = self.begins[array, of]
        words = (np.array(begins, dtype=np.intp) - HEAD) // of.alignment
        steps = np.arange(0, count * of.size // of.alignment, of.size // of.alignment)
        found: NDArray[np.intp] = words[:, None] + steps
        return found

    def number_places(self) -> NDArray[np.intp]:
        """Return the places of the numbers of all blocks, one after the other, (n,)."""
        parts = [self.places(array, of).ravel() for array, of in self.begins if of is FLOAT64]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.intp)


def numbers_at(data: bytes, places: NDArray[np.intp]) -> Array:
    """Return the numbers at places, in the shape of the places.

    Args:
        data: The message.
        places: See ``MessageLayout.places``.
    """
    words = np.frombuffer(data, dtype="<f8", offset=HEAD, count=(len(data) - HEAD) // 8)
    found: Array = words[places]
    return found


def stamps_at(data: bytes, places: NDArray[np.intp]) -> Array:
    """Return stamps, (n,), s.

    Args:
        data: The message.
        places: See ``MessageLayout.places``, (n, 1).
    """
    words = np.frombuffer(data, dtype="<i4", offset=HEAD, count=(len(data) - HEAD) // 4)
    seconds = places[:, 0]
    found: Array = words[seconds] + 1e-9 * words[seconds + 1]
    return found


def read_layout(data: bytes, form: MessageFormat) -> MessageLayout:
    """Find the texts of a message and the places of its numbers.

    Args:
        data: The message.
        form: Its format.

    Raises:
        Unusual: The message is of the other endianness, it has options, it is cut short, or a text holds anything but
            UTF-8 up to a single zero byte.
    """
    # Of the options a writer may set the two bits that count its padding; later Fast CDR refuses others.
    if data[:2] != PLAIN_LITTLE_ENDIAN or data[3:4] > bytes([MOST_PADDING]):
        raise Unusual
    source = Source(data)
    layout = MessageLayout(len(data))
    try:
        _walk(form, source, layout)
    except (struct.error, UnicodeDecodeError) as error:
        raise Unusual from error
    layout.fix(data, source.spans)
    return layout


class Template:
    """The bytes of a message whose stamp and numbers are written again and again.

    Args:
        form: Its format.
        texts: The texts of the entries of each block; empty tuples for entries without texts.
    """

    def __init__(self, form: MessageFormat, texts: Mapping[str, Texts]) -> None:
        sink, self.layout = Sink(texts), MessageLayout()
        _walk(form, sink, self.layout)
        self.layout.size = len(sink.data)
        self._data = sink.data + bytes(aligned(len(sink.data), 8) - len(sink.data))
        self._numbers = np.frombuffer(self._data, dtype="<f8", offset=HEAD)
        self._places = self.layout.number_places()

    def write(
        self, stamp: tuple[int, int] | None, numbers: Array, version: tuple[int, int] | None = None
    ) -> bytes:
        """Return the message.

        Args:
            stamp: Seconds and nanoseconds of the header with which it begins; None: it has none.
            numbers: The numbers of all blocks, (n,).
            version: Offset and value of an unsigned number of eight bytes; None: there is none.
        """
        if stamp is not None:
            STAMP.pack_into(self._data, HEAD, *stamp)
        if version is not None:
            struct.pack_into("<Q", self._data, *version)
        self._numbers[self._places] = numbers
        return bytes(self._data[: self.layout.size])


def _walk(form: MessageFormat, along: Source | Sink, layout: MessageLayout) -> None:
    """Go through all fields of a message once, and note texts and places."""
    for block in form.blocks:
        entries, runs, name = along.enter(block), block.runs, block.array
        layout.counts[name] = entries
        # Entries without texts are all alike: one step for all of them.
        steps = min(entries, 1) if len(runs) == 1 and runs[0][0] is not TEXT else entries
        share = entries if steps < entries else 1
        found: list[list[Any]] = [[] for _ in runs]
        for _ in range(steps):
            for (of, count), some in zip(runs, found, strict=True):
                if of is FLOATS:
                    some.append(along.floats())
                else:
                    some.append(along.texts(count) if of is TEXT else along.room(of, count * share))
        for (of, count), some in zip(runs, found, strict=True):
            if of is TEXT:
                layout.texts[name] = some
            elif of is FLOATS:
                layout.lists[name] = some
            else:
                layout.begins[name, of] = some, count * share
