"""Serves a policy by openpi's websocket protocol."""

from __future__ import annotations

import http
import logging
import threading
import traceback
from collections.abc import Callable
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import Server, ServerConnection, serve

from .codec import LARGEST_BYTES, pack, unpack
from .policy import Observation, Policy

HEALTH = "/healthz"
"""Path that answers with 200 once the server is there."""
LOG = logging.getLogger(__name__)


class PolicyServer:
    """A policy behind an address. Answers are made one at a time, as policies are seldom safe between threads.

    Args:
        policy: The policy.
        host: Name or number of the interface.
        port: The port; 0: a free one.

    Raises:
        OSError: The port is taken.
    """

    def __init__(self, policy: Policy, host: str = "127.0.0.1", port: int = 0) -> None:
        self._policy, self._lock = policy, threading.Lock()
        self._server: Server = serve(
            self._talk, host, port, compression=None, max_size=LARGEST_BYTES, process_request=_health
        )
        self.port = int(self._server.socket.getsockname()[1])
        self.address = f"ws://{host}:{self.port}"
        self._thread: threading.Thread | None = None

    def run(self) -> None:
        """Serve until ``close`` is called."""
        self._server.serve_forever()

    def start(self) -> PolicyServer:
        """Serve in a thread, and return."""
        self._thread = threading.Thread(target=self.run, name="policy server", daemon=True)
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop serving; open connections end."""
        self._server.shutdown()
        if self._thread is not None:
            self._thread.join(timeout=10.0)

    def __enter__(self) -> PolicyServer:
        return self.start()

    def __exit__(self, *_unused: object) -> None:
        self.close()

    def _talk(self, connection: ServerConnection) -> None:
        try:
            connection.send(pack(self._policy.metadata()))
            with self._lock:
                self._policy.reset()
            for data in connection:
                connection.send(self._answer(data))
        except ConnectionClosed:
            return

    def _answer(self, data: str | bytes) -> str | bytes:
        """Return the answer as bytes, or the fault as text, which a client of the protocol expects."""
        try:
            if isinstance(data, str):
                raise TypeError("a text came; observations are binary")
            with self._lock:
                return pack(self._policy.infer(unpack(data)))
        except Exception:
            LOG.exception("the policy failed")
            return traceback.format_exc()


def _health(connection: ServerConnection, request: Request) -> Response | None:
    return connection.respond(http.HTTPStatus.OK, "OK\n") if request.path == HEALTH else None


class FunctionPolicy:
    """A policy from a function, for tests and small policies.

    Args:
        function: Returns the chunk of actions, (h, d), of an observation.
        about: The policy's metadata.
    """

    def __init__(
        self, function: Callable[[dict[str, Any]], Any], about: dict[str, Any] | None = None
    ) -> None:
        self._function, self._about = function, dict(about or {})

    def metadata(self) -> dict[str, Any]:
        """See ``Policy.metadata``."""
        return self._about

    def infer(self, observation: Observation) -> dict[str, Any]:
        """See ``Policy.infer``.

        Args:
            observation: The observation.
        """
        return {"actions": self._function(dict(observation))}

    def reset(self) -> None:
        """Do nothing: a function has no memory."""
