"""``handiwork serve-policy``: serves a policy of a Python file by openpi's websocket protocol."""

from __future__ import annotations

import argparse
import signal
import sys
import threading

PORT = 8000
LOCAL = ("127.0.0.1", "localhost", "::1")


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser("serve-policy", help="serve a policy of a Python file to run_policy")
    parser.add_argument("policy", metavar="FILE.py:FACTORY", help="or PACKAGE.MODULE:FACTORY")
    parser.add_argument("--host", default="127.0.0.1", help="address to serve at")
    parser.add_argument("--port", type=int, default=PORT, help="to serve at; 0: a free one")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Serve until the process is interrupted.

    Args:
        options: Parsed command line.

    Returns:
        Exit code: 0 after SIGINT or SIGTERM, 1 where the port is taken, 2 where there is no such policy.
    """
    from handiwork_policy.protocol.errors import PolicyError
    from handiwork_policy.protocol.server import PolicyServer
    from handiwork_policy.protocol.source import load_policy

    try:
        policy = load_policy(options.policy)
    except PolicyError as error:
        print(f"handiwork serve-policy: {error}", file=sys.stderr)
        return 2
    try:
        server = PolicyServer(policy, options.host, options.port)
    except (OSError, OverflowError) as error:
        where = f"{options.host}:{options.port}"
        print(
            f"handiwork serve-policy: cannot serve at {where}: {error}; give another --port", file=sys.stderr
        )
        return 1
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_unused: ended.set())
    with server:
        print(f"serving {options.policy} at {server.address}", flush=True)
        if options.host not in LOCAL:
            print("anyone who reaches this address can use the policy: there is no password", flush=True)
        ended.wait()
    return 0
