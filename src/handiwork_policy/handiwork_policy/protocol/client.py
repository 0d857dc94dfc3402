"""A client of openpi's websocket protocol: the server speaks first, then each observation has one answer."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from typing import Any

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI, WebSocketException
from websockets.sync.client import ClientConnection, connect

from .codec import LARGEST_BYTES, pack, unpack
from .errors import BadMessage, PolicyError, ServerFault, ServerLost, ServerSilent
from .policy import Observation

SCHEMES = ("ws://", "wss://")
"""Beginnings of addresses."""
CLOSE_S = 0.5
"""Longest wait for the answer to the end of a connection, s: a silent server gives none."""
SHOWN = 300
"""Letters of a server's text that a message shows."""


class PolicyClient:
    """A connection to a policy server. One thread at a time may use it.

    Args:
        address: As in ``ws://localhost:8000``.
        timeout_s: Longest wait for the connection and for each answer, s.

    Raises:
        PolicyError: There is no such server.
    """

    def __init__(self, address: str, timeout_s: float = 10.0) -> None:
        self.address, self._timeout_s = address, timeout_s
        if not address.startswith(SCHEMES):
            raise ServerLost(f"server is {address!r}; write an address such as ws://localhost:8000")
        try:
            self._connection: ClientConnection = connect(
                address,
                compression=None,
                max_size=LARGEST_BYTES,
                open_timeout=timeout_s,
                close_timeout=CLOSE_S,
                ping_interval=None,
            )
        except (InvalidURI, ValueError) as error:
            raise ServerLost(f"server is {address!r}: {error}; write one as ws://localhost:8000") from error
        except (InvalidHandshake, EOFError) as error:
            text = f"the server at {address} speaks another protocol ({error})"
            raise BadMessage(f"{text}; give one with openpi's websocket protocol") from error
        except TimeoutError as error:
            text = f"the server at {address} does not answer within {timeout_s:g} s"
            raise ServerSilent(f"{text}; check that it has loaded its policy") from error
        except (OSError, WebSocketException) as error:
            raise ServerLost(
                f"no policy server at {address}: {error}; start it, or correct the address"
            ) from error
        try:
            self._metadata = self._receive(timeout_s, "its metadata")
        except PolicyError:
            self.close()
            raise

    def metadata(self) -> Mapping[str, Any]:
        """See ``Policy.metadata``."""
        return self._metadata

    def infer(self, observation: Observation) -> Mapping[str, Any]:
        """See ``Policy.infer``.

        Args:
            observation: The observation.
        """
        data = pack(observation)
        try:
            self._connection.send(data)
        except (ConnectionClosed, OSError) as error:
            raise self._lost(error) from error
        return self._receive(self._timeout_s, "an answer")

    def reset(self) -> None:
        """Do nothing: openpi's servers keep no state of an episode."""

    def close(self) -> None:
        """Close the connection; a second time does nothing."""
        with contextlib.suppress(WebSocketException, OSError):
            self._connection.close()

    def _receive(self, timeout_s: float, what: str) -> dict[str, Any]:
        begun_s = time.monotonic()
        try:
            data = self._connection.recv(timeout=timeout_s)
        except TimeoutError as error:
            spent_s = time.monotonic() - begun_s
            self.close()  # an answer that comes later would be taken for that of a newer observation
            text = f"the server at {self.address} sent {what} not within {spent_s:.2f} s"
            raise ServerSilent(f"{text}; check its load, or raise server_timeout") from error
        except (ConnectionClosed, OSError) as error:
            raise self._lost(error) from error
        if isinstance(data, str):
            raise ServerFault(f"the server at {self.address} reports: {_last_line(data)}; read its log")
        try:
            return unpack(data)
        except BadMessage as error:
            raise BadMessage(f"the server at {self.address} speaks another protocol: {error}") from error

    def _lost(self, error: Exception) -> ServerLost:
        return ServerLost(f"the server at {self.address} closed the connection ({error}); start it again")


def _last_line(text: str) -> str:
    """Return the end of a traceback, which names the fault."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return lines[-1][:SHOWN] if lines else "a fault without a text"
