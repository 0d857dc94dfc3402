"""Steps through the fields of a serialized message: one cursor reads, one writes. Only here offsets are aligned."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence

from .formats import FLOAT64, Block, FieldType

HEAD = 4
"""The number of bytes before the body; alignment counts from there."""
PLAIN_LITTLE_ENDIAN = b"\x00\x01"
"""The first two bytes of a message; two bytes of options follow."""
MOST_PADDING = 3
"""The greatest value of the last of these: the number of bytes with which a writer has filled up the message."""
COUNT = struct.Struct("<I")

Texts = Sequence[tuple[str, ...]]
"""The texts of each entry of a block."""


class Unusual(Exception):
    """The bytes are of the other endianness, or they are not laid out as the format says."""


def aligned(at: int, alignment: int) -> int:
    """Return the first offset that a field may have.

    Args:
        at: Offset behind the field before, from the beginning of the message.
        alignment: See ``FieldType``.
    """
    return at + (HEAD - at) % alignment


def text_span(data: bytes, at: int) -> tuple[int, int]:
    """Return the offsets of the first byte of a text and of the byte behind its zero byte; unchecked.

    Args:
        data: The message.
        at: Offset of the text's count.
    """
    (length,) = COUNT.unpack_from(data, at)
    return at + 4, at + 4 + length


class Source:
    """Reads the counts and texts of a message in the order of its fields.

    Args:
        data: The message.
    """

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, HEAD
        self.spans: list[tuple[int, int]] = []
        """Offsets of the first byte of each text and count, and of the byte behind it."""

    def enter(self, block: Block) -> int:
        """Begin a block; return the number of its entries.

        Args:
            block: The block.
        """
        if not block.array:
            return 1
        at = aligned(self._at, 4)
        self._at = at + 4
        self.spans.append((at, at + 4))
        return int(COUNT.unpack_from(self._data, at)[0])

    def texts(self, count: int) -> tuple[str, ...]:
        """Return the next texts.

        Args:
            count: Their number.

        Raises:
            Unusual: A text is cut short, or it holds anything but UTF-8 up to a single zero byte.
            struct.error: A count is cut short.
            UnicodeDecodeError: A text is not UTF-8.
        """
        found, data = list[str](), self._data
        for _ in range(count):
            at = aligned(self._at, 4)
            begin, end = text_span(data, at)
            # This also refuses a text that ends behind the message.
            if data.find(0, begin, end) != end - 1:
                raise Unusual
            found.append(str(data[begin : end - 1], "utf-8"))
            self.spans.append((at, end))
            self._at = end
        return tuple(found)

    def floats(self) -> tuple[int, int]:
        """Pass by a list of numbers; return the offset at which they begin, and their number.

        Raises:
            Unusual: They end behind the message.
            struct.error: The count is cut short.
        """
        at = aligned(self._at, 4)
        (count,) = COUNT.unpack_from(self._data, at)
        self.spans.append((at, at + 4))
        self._at = at + 4
        return (self.room(FLOAT64, count) if count else self._at), count

    def room(self, of: FieldType, count: int) -> int:
        """Pass by numbers; return the offset at which they begin.

        Args:
            of: Their type.
            count: Their number.

        Raises:
            Unusual: They end behind the message.
        """
        at = aligned(self._at, of.alignment)
        self._at = at + of.size * count
        if self._at > len(self._data):
            raise Unusual
        return at


class Sink:
    """Writes counts, texts and room for numbers in the order of the fields.

    Args:
        texts: The texts of the entries of each block.
    """

    def __init__(self, texts: Mapping[str, Texts]) -> None:
        self.data = bytearray(PLAIN_LITTLE_ENDIAN + bytes(HEAD - 2))
        self._texts = texts
        self._entries: Iterator[tuple[str, ...]] = iter(())

    def enter(self, block: Block) -> int:
        """Begin a block; return the number of its entries.

        Args:
            block: The block.
        """
        entries = self._texts[block.array]
        self._entries = iter(entries)
        if block.array:
            self._append(4, COUNT.pack(len(entries)))
        return len(entries)

    def texts(self, count: int) -> tuple[str, ...]:
        """Write the texts of the next entry; return them.

        Args:
            count: Their number.

        Raises:
            ValueError: The entry has another number of texts.
        """
        found = next(self._entries)
        if len(found) != count:
            raise ValueError(f"{found!r} has {len(found)} texts; the message has {count} in each entry")
        for text in found:
            code = text.encode() + b"\x00"
            self._append(4, COUNT.pack(len(code)) + code)
        return found

    def floats(self) -> tuple[int, int]:
        """Write an empty list; return the offset behind it, and 0."""
        return self._append(4, COUNT.pack(0)) + 4, 0

    def room(self, of: FieldType, count: int) -> int:
        """Write zeros in the place of numbers; return the offset at which they begin.

        Args:
            of: Their type.
            count: Their number.
        """
        return self._append(of.alignment, bytes(of.size * count))

    def _append(self, alignment: int, code: bytes) -> int:
        at = aligned(len(self.data), alignment)
        self.data += bytes(at - len(self.data)) + code
        return at
