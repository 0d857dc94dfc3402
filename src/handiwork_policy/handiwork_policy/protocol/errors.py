"""Faults of policies and their servers. Each text is one sentence with the remedy."""

from __future__ import annotations


class PolicyError(Exception):
    """A policy cannot be used, or not any longer.

    Args:
        text: The fault and its remedy.
        field: Name of the setting that it belongs to; empty: that of the kind of error.
    """

    field = "server"
    """Name of the setting that the error belongs to."""

    def __init__(self, text: str, field: str = "") -> None:
        super().__init__(text)
        self.field = field or type(self).field


class BadMessage(PolicyError):
    """A message is none of the protocol."""


class ServerFault(PolicyError):
    """The server reported a fault of its own, as text."""


class ServerSilent(PolicyError):
    """The server did not answer in time."""


class ServerLost(PolicyError):
    """There is no server at the address, or it closed the connection."""


class BadAnswer(PolicyError):
    """An answer does not fit: a shape, a number that is not finite, or a key that is missing."""

    field = "action_space"
