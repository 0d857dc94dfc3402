"""``handiwork conditions``: the watched conditions of a running stack, as a table that is updated."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import threading
import time
from typing import TYPE_CHECKING

from handiwork_cli.processes.ros_environment import with_ros_defaults
from handiwork_viz.condition_table import (
    CLEAR,
    progress_lines,
    seconds,
    table_lines,
)

if TYPE_CHECKING:
    from handiwork_msgs.msg import Conditions, TaskProgress

LISTEN_S = 10.0
"""The longest wait for the first table, s; it is latched and published once a second."""
SILENT_S = 5.0
"""The time without a table after which the shown one is marked as old, s."""


class Newest:
    """The newest table and progress. The executor's thread writes them."""

    def __init__(self) -> None:
        self.news, self.has_table = threading.Event(), threading.Event()
        self.received_s = time.monotonic()
        self.table: Conditions | None = None
        self.progress: TaskProgress | None = None

    def take_table(self, message: Conditions) -> None:
        """Store a table.

        Args:
            message: The table.
        """
        self.table, self.received_s = message, time.monotonic()
        self.has_table.set()
        self.news.set()

    def take_progress(self, message: TaskProgress) -> None:
        """Store the progress.

        Args:
            message: The progress.
        """
        self.progress = message
        self.news.set()

    def lines(self, width: int, *, colour: bool) -> list[str]:
        """Return the lines to print.

        Args:
            width: Width of the terminal in characters.
            colour: Whether values are coloured.

        Returns:
            The lines; none before the first table.
        """
        if self.table is None:
            return []
        now_s = seconds(self.table.header.stamp)
        found = list(table_lines(self.table.conditions, now_s, width, colour=colour))
        silence_s = time.monotonic() - self.received_s
        if silence_s > SILENT_S:
            text = f"OLD: no table for {silence_s:.0f} s; conditionals_node has ended or does not run"
            found = [text, *found]
        if self.progress is not None and self.progress.name:
            found += ["", *progress_lines(self.progress)]
        return found


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser("conditions", help="live table of the watched conditions and the task")
    parser.add_argument("--once", action="store_true", help="print one table and stop, for scripts")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the table once, or until it is interrupted.

    Args:
        options: Parsed command line.

    Returns:
        Exit code, 0 when a table was received.
    """
    os.environ.update(with_ros_defaults(os.environ))
    from handiwork_msgs.msg import Conditions, TaskProgress

    from handiwork_ros.clients.skill_client import SkillClient
    from handiwork_ros.rclpy_support.qos import LATCHED

    newest = Newest()
    with SkillClient(node_name="handiwork_command") as client:
        client.node.create_subscription(TaskProgress, "conditions/progress", newest.take_progress, LATCHED)
        client.node.create_subscription(Conditions, "conditions", newest.take_table, LATCHED)
        # The progress may arrive before the table.
        newest.has_table.wait(LISTEN_S)
        if options.once:
            # The progress is published right after the table.
            threading.Event().wait(0.2)
        if newest.table is None:
            text = f"nothing on the topic conditions in {LISTEN_S:.0f} s; start the stack, or set its ROS_DOMAIN_ID"
            print(f"handiwork conditions: {text}", file=sys.stderr)
            return 1
        _show(newest, live=not options.once)
    return 0


def _show(newest: Newest, *, live: bool) -> None:
    """Print the table once, or until it is interrupted."""
    terminal = sys.stdout.isatty()
    while True:
        newest.news.clear()
        width = shutil.get_terminal_size((160, 40)).columns
        text = "\n".join(newest.lines(width, colour=terminal))
        print(f"{CLEAR}{text}" if live and terminal else text, flush=True)
        if not live:
            return
        try:
            newest.news.wait(SILENT_S + 1.0)
        except KeyboardInterrupt:
            return
