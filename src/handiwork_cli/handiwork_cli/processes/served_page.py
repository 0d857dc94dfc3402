"""Serves a page on this machine until Ctrl-C."""

from __future__ import annotations

import argparse
import signal
import socket
import sys
import threading
from collections.abc import Callable
from typing import Protocol

from handiwork_core.config.dataclass_loader import ConfigError

LOOPBACK = "127.0.0.1"
MISSING = "needs viser; pip install -r requirements/show.txt"
PORT = 8080


class Page(Protocol):
    """A page that is served."""

    @property
    def port(self) -> int:
        """Its port."""
        ...

    def close(self) -> None:
        """End it."""
        ...


def serve_until_ended(command: str, make: Callable[[], Page]) -> bool:
    """Serve a page on loopback until SIGINT or SIGTERM, and print its address.

    Args:
        command: Name of the command, for messages.
        make: Makes the page.

    Returns:
        False if the page cannot be served; the reason was printed.
    """
    from handiwork_viz.show.page_guard import PageNotGuarded

    try:
        page = make()
    except ModuleNotFoundError as error:
        if error.name != "viser":
            raise
        print(f"handiwork {command}: {MISSING} ({error})", file=sys.stderr)
        return False
    except PageNotGuarded as error:
        print(f"handiwork {command}: {error}", file=sys.stderr)
        return False
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    print(f"page: http://{LOOPBACK}:{page.port}/   end it with Ctrl-C", flush=True)
    ended.wait()
    page.close()
    return True


def add_lighting_option(parser: argparse.ArgumentParser) -> None:
    """Declare the option for how a page draws the scene at first.

    Args:
        parser: Parser of a command.
    """
    text = "draw no shadows and no reflections: several times as fast in a browser without a GPU"
    parser.add_argument("--simple-lighting", action="store_true", help=text)


def check_address(host: str, port: int) -> None:
    """Refuse an address that cannot be served at.

    Args:
        host: The address.
        port: The port; 0 for any.

    Raises:
        ConfigError: It is none of this machine, or the port is out of range.
    """
    if not 0 <= port <= 65535:
        raise ConfigError("view", [f"port {port}: is out of range; give 0 to 65535"])
    try:
        family, *_, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind(address)
    except OSError as error:
        fault = f"host {host!r}: is no address of this machine ({error.strerror}); give 127.0.0.1 or 0.0.0.0"
        raise ConfigError("view", [fault]) from error
