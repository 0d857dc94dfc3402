"""The work of a process that answers messages: sums, which tests can foresee."""

from __future__ import annotations

import os


class Adder:
    """Adds what it is sent to a sum; a word is an error, and 0 ends the process."""

    def __init__(self, start: int) -> None:
        self._sum = start

    def answer(self, message: int | str) -> int:
        if isinstance(message, str):
            raise ValueError(f"{message} is no number")
        if message == 0:
            os._exit(3)
        self._sum += message
        return self._sum

    def forget(self) -> None:
        self._sum = 0

    def close(self) -> None:
        pass
