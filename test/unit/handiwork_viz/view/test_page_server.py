"""The server of the page: who is let in, with a token and without one, and from which pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection

import pytest

from handiwork_viz.view.ros.page.server import serve

HOST, LIMIT_S = "127.0.0.1", 60.0
TOKEN = "a-token-of-this-test"
UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Protocol": "viser-v0.0.0",
}
KINDS = pytest.mark.parametrize("more", [{}, UPGRADE], ids=["page", "websocket"])


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    server = serve(HOST, 0, TOKEN)
    yield int(server.get_port())
    server.stop()


def ask(port: int, path: str, headers: dict[str, str]) -> tuple[int, dict[str, str], str]:
    """Return status, headers and text of the response; the text only of a refusal."""
    with closing(HTTPConnection(HOST, port, timeout=LIMIT_S)) as link:
        link.request("GET", path, headers=headers)
        answer = link.getresponse()
        text = answer.read().decode() if answer.status == 403 else ""
        return answer.status, {key.lower(): value for key, value in answer.getheaders()}, text


@KINDS
def test_nobody_enters_without_the_token(port: int, more: dict[str, str]) -> None:
    for path, own in (
        ("/", {}),
        ("/?token=", {}),
        ("/?token=another", {}),
        ("/", {"Cookie": "handiwork_token=another"}),
        ("/", {"Cookie": "="}),
    ):
        status, headers, text = ask(port, path, {**more, **own})
        assert status == 403 and "needs its token" in text, (path, own)
        assert TOKEN not in text and "set-cookie" not in headers


def test_the_token_becomes_a_cookie_and_leaves_the_address(port: int) -> None:
    status, headers, _ = ask(port, f"/?token={TOKEN}", {})
    assert status == 303
    assert headers["location"] == "/"
    cookie, *rules = headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Strict"} <= set(rules)
    assert ask(port, headers["location"], {"Cookie": cookie})[0] == 200
    assert ask(port, "/", {**UPGRADE, "Cookie": cookie})[0] == 101


@KINDS
def test_a_foreign_page_does_not_enter_even_with_the_token(port: int, more: dict[str, str]) -> None:
    cookie = {"Cookie": f"handiwork_token={TOKEN}"}
    foreign = ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": f"http://{HOST}:1"})
    for headers in (*foreign, {"Host": f"evil.example:{port}"}):
        for path in ("/", f"/?token={TOKEN}"):
            status, given, _ = ask(port, path, {**more, **cookie, **headers})
            assert status == 403 and "set-cookie" not in given, (headers, path)
    own = {"Origin": f"http://{HOST}:{port}"}
    assert ask(port, "/", {**more, **cookie, **own})[0] == (101 if more else 200)


def test_loopback_alone_needs_no_token_but_refuses_foreign_pages() -> None:
    server = serve(HOST, 0, "")
    try:
        port = int(server.get_port())
        assert ask(port, "/", {})[0] == 200
        status, _, text = ask(port, "/", {**UPGRADE, "Origin": "http://evil.example"})
        assert status == 403 and "is another page" in text
    finally:
        server.stop()


def test_a_second_page_takes_the_next_free_port_beside_the_first() -> None:
    first = serve(HOST, 0, "")
    second = serve(HOST, int(first.get_port()), "")
    try:
        ports = [int(one.get_port()) for one in (first, second)]
        assert ports[0] < ports[1]
        assert [ask(port, "/", {})[0] for port in ports] == [200, 200]
    finally:
        second.stop()
        first.stop()
