"""Tells the messages of one DDS writer from those of another that repeats its identity, by their sequence numbers."""

from __future__ import annotations

from enum import Enum

BURST, RATE = 10, 5.0
"""A writer's sequence number grows by so many at once, and by so many a second; more means another writer."""

NO_SEQUENCE = 2**64 - 1
"""What a middleware gives that does not number messages."""


class Origin(Enum):
    """Whose message it is."""

    TRUE = "true"
    AGAIN = "again"
    """The newest message, delivered once more: a reader that is matched with the writer again gets it again."""
    DOUBTFUL = "doubtful"
    """Both writers have used this number: one of the two messages is the true one's."""
    OTHER = "other"


class WriterSequence:
    """Follows the numbers of the true writer and of the one that repeats its identity.

    Each writer's numbers rise by themselves. Where those of the other one pass those of the true one, its own count
    decides.
    """

    def __init__(self, number: int, source_ns: int) -> None:
        """Begin with a message of the true writer: the number and source time [ns] that DDS gave it."""
        self._number, self._source_ns = number, source_ns
        self._repeated: int | None = None
        """Newest number of the other writer."""
        self._doubtful: int | None = None
        """A number that both would use next, and one has used."""

    def origin(self, number: int, source_ns: int, elapsed_s: float) -> Origin:
        """Return whose message it is, and count it.

        Args:
            number: sequence number that DDS gave the message.
            source_ns: time that DDS gave the message [ns].
            elapsed_s: time since the newest message of the true writer [s].
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
