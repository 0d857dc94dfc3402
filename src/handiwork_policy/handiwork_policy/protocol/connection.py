"""Connects to a policy server; the address says which protocol it speaks."""

from __future__ import annotations

from typing import Protocol

from .client import SCHEMES as OPENPI
from .client import PolicyClient
from .gr00t import SCHEME as GR00T
from .gr00t import Gr00tClient
from .policy import Policy

SCHEMES = (*OPENPI, GR00T)
"""Beginnings of addresses."""
EXAMPLES = "ws://localhost:8000 (openpi's protocol) or gr00t://localhost:5555"


class PolicyConnection(Policy, Protocol):
    """A policy in another process."""

    address: str

    def close(self) -> None:
        """Close the connection; a second time does nothing."""
        ...


def connect_policy(address: str, timeout_s: float = 10.0) -> PolicyConnection:
    """Connect to a policy server.

    Args:
        address: As in ``ws://localhost:8000``, or ``gr00t://localhost:5555``.
        timeout_s: Longest wait for the connection and for each answer, s.

    Returns:
        The connection; one thread at a time may use it.

    Raises:
        PolicyError: There is no such server.
    """
    if address.startswith(GR00T):
        return Gr00tClient(address, timeout_s)
    return PolicyClient(address, timeout_s)
