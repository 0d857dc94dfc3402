"""``handiwork view``: a page in the browser on a running stack."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
import threading

from handiwork_cli.launch_files.package_paths import share_of
from handiwork_cli.processes.ros_environment import with_ros_defaults
from handiwork_cli.processes.served_page import MISSING
from handiwork_core.config.dataclass_loader import ConfigError

PORT = 8080


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser(
        "view", help="show a running stack in the browser, and send it goals from there"
    )
    add_page_options(parser)
    parser.set_defaults(run=run)


def add_page_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options for where the page is served.

    Args:
        parser: Parser of a command.
    """
    text = "address to serve at; for others than this machine the printed address has a token"
    parser.add_argument("--host", default="127.0.0.1", help=text)
    text = "to serve at; the next free one where it is taken"
    parser.add_argument("--port", type=int, default=PORT, help=text)


def run(options: argparse.Namespace) -> int:
    """Serve the page until it is interrupted.

    Args:
        options: Parsed command line.

    Returns:
        Exit code: 0 after the interrupt, 1 when the page cannot be served.

    Raises:
        ConfigError: The address is none of this machine.
    """
    check_address(options.host, options.port)
    os.environ.update(with_ros_defaults(os.environ))
    from handiwork_viz.show.page_guard import PageNotGuarded

    try:
        from handiwork_viz.view.ros.page.page import ViewPage
        from handiwork_viz.view.ros.page.server import address_of, token_for

        token = token_for(options.host)
        tasks = share_of("handiwork_bringup") / "config/tasks"
        page = ViewPage(options.host, options.port, token, tasks, _tell_ready)
    except ModuleNotFoundError as error:
        if error.name != "viser":
            raise
        print(f"handiwork view: {MISSING} ({error})", file=sys.stderr)
        return 1
    except PageNotGuarded as error:
        print(f"handiwork view: {error}", file=sys.stderr)
        return 1
    print(f"page: {address_of(options.host, page.port, token)}   end it with Ctrl-C", flush=True)
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    ended.wait()
    page.close()
    return 0


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


def _tell_ready(robot: str) -> None:
    print(f"the page shows {robot}", flush=True)
