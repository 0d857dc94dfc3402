"""A node that begins again in its process with another robot: what its successor receives from it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from rclpy.parameter import Parameter


@dataclass(frozen=True, slots=True)
class Succession:
    """What a node receives at its start in its own process.

    Attributes:
        parameters: Values in place of those of the command line, by name; empty for the first node of a process.
        launched_dir: ``robot_dir`` as launch gave it to the process; empty for the first node of a process.
        kept: What the node before kept for this one; None for nothing.
    """

    parameters: Mapping[str, Any] = field(default_factory=dict)
    launched_dir: str = ""
    kept: object = None

    def overrides(self) -> list[Parameter]:
        """Return the values as parameters of a node."""
        return [Parameter(name, value=value) for name, value in self.parameters.items()]


_CURRENT: ContextVar[Succession | None] = ContextVar("succession", default=None)


@contextlib.contextmanager
def succession(received: Succession) -> Iterator[None]:
    """Let the managed node that is created in this context receive a succession.

    Args:
        received: What it receives.

    Yields:
        Nothing.
    """
    token = _CURRENT.set(received)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def received_succession() -> Succession | None:
    """Return what a node that is being created receives; None for a node without a process of its own."""
    return _CURRENT.get()
