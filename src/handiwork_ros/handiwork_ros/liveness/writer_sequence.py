"""Distinguishes messages of one DDS writer from those of another with its identity, by their sequence numbers."""

from __future__ import annotations

from enum import Enum

BURST, RATE = 10, 5.0
"""The largest growth of a writer's sequence number at once, and in a second; greater growth means another writer."""

NO_SEQUENCE = 2**64 - 1
"""The sequence number of a middleware that does not number messages."""


class Origin(Enum):
    """The origin of a message."""

    TRUE = "true"
    AGAIN = "again"
    """The newest message, delivered once more: a reader that is matched with the writer again receives it again."""
    DOUBTFUL = "doubtful"
    """Both writers have used this number: one of the two messages comes from the true writer."""
    OTHER = "other"


class WriterSequence:
    """Follows the numbers of the true writer and of the one that repeats its identity.

    The numbers of each writer rise by themselves. Where those of the other writer pass those of the true one, its own
    count decides.
    """

    def __init__(self, number: int, source_ns: int) -> None:
        """Begin with a message of the true writer.

        Args:
            number: Sequence number that DDS gave the message.
            source_ns: Source timestamp of DDS, ns.
        """
        self._number, self._source_ns = number, source_ns
        self._repeated: int | None = None
        """The newest number of the other writer."""
        self._doubtful: int | None = None
        """A number that both writers would use next, and one has used."""

    def origin(self, number: int, source_ns: int, elapsed_s: float) -> Origin:
        """Return the origin of a message, and count the message.

        Args:
            number: Sequence number that DDS gave the message.
            source_ns: Source timestamp of DDS, ns.
            elapsed_s: Time since the newest message of the true writer, s.
        """
        if number == NO_SEQUENCE:
            return Origin.TRUE
        if (number, source_ns) == (self._number, self._source_ns):
            return Origin.AGAIN
        if self._repeated is not None and number == self._repeated + 1:
            self._doubtful = number if number == self._number + 1 else None
            self._repeated = number
            return Origin.OTHER
        if not 0 < number - self._number <= BURST + RATE * elapsed_s:
            self._repeated = number
            return Origin.OTHER
        origin = Origin.DOUBTFUL if number == self._doubtful else Origin.TRUE
        self._number, self._source_ns = number, source_ns
        return origin
