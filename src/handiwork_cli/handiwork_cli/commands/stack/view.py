"""``handiwork view``: a page in the browser on a running stack."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading

from handiwork_cli.launch_files.package_paths import share_of
from handiwork_cli.processes.ros_environment import with_ros_defaults
from handiwork_cli.processes.served_page import MISSING, PORT, add_lighting_option, check_address


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
    """Declare the options for where the page is served, and how it is drawn.

    Args:
        parser: Parser of a command.
    """
    text = "address to serve at; for others than this machine the printed address has a token"
    parser.add_argument("--host", default="127.0.0.1", help=text)
    text = "to serve at; the next free one where it is taken"
    parser.add_argument("--port", type=int, default=PORT, help=text)
    add_lighting_option(parser)


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
        simple = options.simple_lighting
        page = ViewPage(options.host, options.port, token, tasks, _tell_ready, simple_lighting=simple)
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


def _tell_ready(robot: str) -> None:
    print(f"the page shows {robot}", flush=True)
