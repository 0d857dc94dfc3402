"""Bytes in shared memory that one process writes and another reads, in turns."""

from __future__ import annotations

from multiprocessing.shared_memory import SharedMemory

Note = tuple[str, int]
"""The name of the memory and the number of bytes in it: what the reader needs."""
LEAST = 1 << 18


class SharedBlock:
    """Shared memory of one writer, which is replaced by a larger one when a message does not fit.

    The writer may write again once the reader has said that it has read; ``close`` frees the memory.
    """

    def __init__(self) -> None:
        self._memory: SharedMemory | None = None

    def write(self, data: bytes) -> Note:
        """Write a message.

        Args:
            data: The message.

        Returns:
            What the reader needs.
        """
        if self._memory is None or self._memory.size < len(data):
            self.close()
            self._memory = SharedMemory(create=True, size=max(LEAST, 2 * len(data)))
        view = self._memory.buf
        assert view is not None, "the memory is open"
        view[: len(data)] = data
        return self._memory.name, len(data)

    def close(self) -> None:
        """Free the memory."""
        if self._memory is not None:
            self._memory.close()
            self._memory.unlink()
            self._memory = None


class BlockReader:
    """Reads what one or a few ``SharedBlock``s of another process hold; keeps their memory open."""

    def __init__(self) -> None:
        self._known: dict[str, SharedMemory] = {}

    def read(self, note: Note) -> bytes:
        """Return a copy of a message.

        Args:
            note: What ``SharedBlock.write`` returned in the other process.
        """
        name, size = note
        if name not in self._known:
            if len(self._known) > 8:
                self.close()
            self._known[name] = SharedMemory(name)
        view = self._known[name].buf
        assert view is not None, "the memory is open"
        return bytes(view[:size])

    def close(self) -> None:
        """Forget all memory. Its writer frees it."""
        for memory in self._known.values():
            memory.close()
        self._known.clear()
