"""The base of all errors that end a goal or a request with a cause.

Errors that end a process or a command (``ConfigError``, errors of the command line), errors of values that have no
request yet (``BadWire``, ``FileRefused``), and those of a decider network are no ``HandiworkError``: the code that
handles a request turns them into one, because only this code knows the field at fault.
"""

from __future__ import annotations

from .outcome import Outcome


class HandiworkError(Exception):
    """An expected error that ends a goal or a request; each layer may catch it and answer with its outcome.

    Subclasses that callers also expect as a ``ValueError`` or another built-in error inherit from both.

    Args:
        outcome: The cause. Its message is the text of the error.

    Attributes:
        outcome: The cause, as it is sent in the result of the goal or in the response.
    """

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.message)
        self.outcome = outcome
