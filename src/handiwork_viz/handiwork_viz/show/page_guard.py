"""Refuses requests to the robot page that a foreign web page sends through the user's browser.

A browser lets any page open a websocket to ``localhost``, and a name server can make a foreign name point there (DNS
rebinding). The headers ``Origin`` and ``Host`` tell both, and a page cannot change them.
"""

# ruff: noqa: ANN401 the types are those of websockets, which is optional

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

LOOPBACK = "localhost"


class PageNotGuarded(RuntimeError):
    """The installed viser serves in a way that this module does not know, so nothing is served."""


def refusal(hosts: Sequence[str], origins: Sequence[str], bound: str) -> str:
    """Return why a request is refused; empty if it is served.

    Args:
        hosts: Values of the header ``Host``.
        origins: Values of the header ``Origin``.
        bound: The address that the page is served at.
    """
    host = _name(f"//{hosts[0]}") if len(hosts) == 1 else ""
    if not host or not _is_known(host, bound):
        return f"Host {', '.join(hosts)[:80]!r} is not served here; open the page by its address"
    if len(origins) > 1 or any(urlsplit(origin).netloc.lower() != hosts[0].lower() for origin in origins):
        return f"Origin {', '.join(origins)[:80]!r} is another page; open the robot's own page"
    return ""


def _name(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def _is_known(host: str, bound: str) -> bool:
    """Check whether a name cannot be one that a foreign name server answers for."""
    if host in (LOOPBACK, bound.lower()):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or not is_loopback(bound)


def is_loopback(bound: str) -> bool:
    """Check whether an address to serve at is reached from this machine alone.

    Args:
        bound: The address.
    """
    try:
        return bound == LOOPBACK or ipaddress.ip_address(bound).is_loopback
    except ValueError:
        return False


@contextmanager
def guarded_serving(bound: str) -> Iterator[None]:
    """Let the server that viser starts within the block check the headers of every request, HTTP and websocket.

    viser has no setting for it; it gives its own check of requests to ``websockets.asyncio.server.serve``.

    Args:
        bound: The address that the page is served at.

    Yields:
        Nothing.

    Raises:
        PageNotGuarded: viser did not call that function, or not with the argument.
    """
    from websockets.asyncio import server

    original, calls = server.serve, list[bool]()

    def serve(*arguments: Any, process_request: Callable[[Any, Any], Any] | None = None, **named: Any) -> Any:
        calls.append(process_request is not None)

        def checked(connection: Any, request: Any) -> Any:
            headers = request.headers
            if why := refusal(headers.get_all("Host"), headers.get_all("Origin"), bound):
                return connection.respond(HTTPStatus.FORBIDDEN, f"{why}\n")
            return process_request(connection, request) if process_request else None

        return original(*arguments, process_request=checked, **named)

    server.serve = serve  # type: ignore[assignment,misc]
    try:
        yield
    finally:
        server.serve = original  # type: ignore[misc]
    if not calls or not all(calls):
        raise PageNotGuarded("the installed viser serves in an unknown way; install requirements/show.txt")
