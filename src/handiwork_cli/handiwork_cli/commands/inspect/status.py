"""``handiwork status``: the nodes of a running stack, their states and messages."""

from __future__ import annotations

import argparse
import os
import threading
import time

from handiwork_cli.processes.ros_environment import with_ros_defaults
from handiwork_cli.stack.stack import NODES

LISTEN_S = 3.0
"""The longest wait for bonds, s; they are published four times a second."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser("status", help="table of the nodes of a running stack")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the table of nodes.

    Args:
        options: Parsed command line.

    Returns:
        Exit code, 0 exactly when every node of the stack is alive.
    """
    os.environ.update(with_ros_defaults(os.environ))
    from handiwork_msgs.msg import NodeStatus

    from handiwork_ros.clients.skill_client import SkillClient

    words = ["UNCONFIGURED", "CONFIGURING", "INACTIVE", "ACTIVE", "FAULTY", "SHUTTING_DOWN", "FINALIZED"]
    states = {getattr(NodeStatus, word): word.lower() for word in words}
    with SkillClient(node_name="handiwork_command") as client:
        pause, end_s = threading.Event(), time.monotonic() + LISTEN_S
        client.signs.watch(*NODES)
        while time.monotonic() < end_s and not all(map(client.signs.is_alive, client.signs.names())):
            client.signs.watch(*client.signs.names())
            pause.wait(0.05)
        names = [*NODES, *(name for name in client.signs.names() if name not in NODES)]
        missing = False
        print(f"{'node':<20}{'state':<15}{'pid':>8}  message")
        for name in names:
            sign = client.signs.sign(name)
            if sign is None or not client.signs.is_alive(name):
                missing = missing or name in NODES
                print(f"{name:<20}{'missing':<15}{'-':>8}  nothing received on handiwork/bond/{name}")
            else:
                print(f"{name:<20}{states.get(sign.state, '?'):<15}{sign.pid:>8}  {sign.message}")
    return int(missing)
