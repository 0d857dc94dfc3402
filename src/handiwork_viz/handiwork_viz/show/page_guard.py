"""Refuses requests to the robot page that a foreign web page sends through the user's browser.

A browser lets any page open a websocket to ``localhost``, and a name server can make a foreign name point there (DNS
rebinding). The headers ``Origin`` and ``Host`` tell both, and a page cannot change them.
"""

# ruff: noqa: ANN401 the types are those of websockets, which is optional

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

LOOPBACK = "localhost"
TOKEN, COOKIE = "token", "handiwork_token"
"""The key of the address with which a page is opened, and the cookie that the browser keeps then."""


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


def offers_token(path: str, token: str) -> bool:
    """Check whether the address of a request has the token.

    Args:
        path: Path of the request with its query.
        token: The token.
    """
    given = parse_qs(urlsplit(path).query).get(TOKEN, [""])[0]
    return secrets.compare_digest(given.encode(), token.encode())


def keeps_token(cookies: Sequence[str], token: str) -> bool:
    """Check whether a browser has the token of an earlier request.

    Args:
        cookies: Values of the header ``Cookie``.
        token: The token.
    """
    for text in cookies:
        try:
            kept = SimpleCookie(text).get(COOKIE)
        except CookieError:
            continue
        if kept is not None and secrets.compare_digest(kept.value.encode(), token.encode()):
            return True
    return False


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
def guarded_serving(bound: str, token: str = "") -> Iterator[None]:
    """Let the server that viser starts within the block check the headers of every request, HTTP and websocket.

    viser has no setting for it; it gives its own check of requests to ``websockets.asyncio.server.serve``.

    Args:
        bound: The address that the page is served at.
        token: Also required of every request: in its address, from which the browser takes a cookie; empty: none.

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
            if token and not keeps_token(headers.get_all("Cookie"), token):
                return _welcome(connection, request.path, token)
            return process_request(connection, request) if process_request else None

        return original(*arguments, process_request=checked, **named)

    server.serve = serve  # type: ignore[assignment,misc]
    try:
        yield
    finally:
        server.serve = original  # type: ignore[misc]
    if not calls or not all(calls):
        raise PageNotGuarded("the installed viser serves in an unknown way; install requirements/show.txt")


def _welcome(connection: Any, path: str, token: str) -> Any:
    """Let a request with the token in with a cookie, without the token in the address; refuse any other."""
    if not offers_token(path, token):
        text = "this page needs its token; open it by the whole address that was printed at its start\n"
        return connection.respond(HTTPStatus.FORBIDDEN, text)
    response = connection.respond(HTTPStatus.SEE_OTHER, "")
    response.headers["Location"] = "/"
    response.headers["Set-Cookie"] = f"{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/"
    return response
