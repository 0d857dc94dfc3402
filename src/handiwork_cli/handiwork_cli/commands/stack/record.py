"""``handiwork record``: all topics, goals, feedback and results of a running stack, as MCAP files."""

from __future__ import annotations

import argparse
import math
import os
import re
import sys

from handiwork_cli.processes.ros_environment import with_ros_defaults


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser("record", help="record all topics and actions as MCAP files, until Ctrl-C")
    parser.add_argument(
        "folder", nargs="?", default="", help="a new folder; default: one in the user's state"
    )
    parser.add_argument(
        "--topics", default="", metavar="PATTERN", help="only topics that match; default: all"
    )
    parser.add_argument("--exclude", default="", metavar="PATTERN", help="leave these topics out")
    parser.add_argument("--max-size-mb", type=float, default=1024.0, help="a new file begins at this size")
    parser.add_argument(
        "--max-duration-s", type=float, default=600.0, help="a new file begins after this time"
    )
    parser.add_argument(
        "--keep-free-mb", type=float, default=200.0, help="stop when less is free on the disk"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Record until Ctrl-C.

    Args:
        options: Parsed command line.

    Returns:
        Exit code.
    """
    os.environ.update(with_ros_defaults(os.environ))
    if fault := _fault(options):
        print(f"handiwork record: {fault}", file=sys.stderr)
        return 2
    from handiwork_viz.recording.bag_writer import Limits
    from handiwork_viz.recording.ros.program import Options, record

    limits = Limits(options.max_size_mb, options.max_duration_s, options.keep_free_mb)
    return record(Options(options.folder, limits, options.topics, options.exclude))


def _fault(options: argparse.Namespace) -> str:
    try:
        for name in ("topics", "exclude"):
            re.compile(getattr(options, name))
    except re.error as error:
        return f"--{name} {getattr(options, name)!r} is no regular expression: {error}"
    for name in ("max_size_mb", "max_duration_s"):
        if not getattr(options, name) > 0.0:
            return f"--{name.replace('_', '-')} is {getattr(options, name)}; give more than 0"
    if not 0.0 <= options.keep_free_mb < math.inf:
        return f"--keep-free-mb is {options.keep_free_mb}; give 0 or more"
    return ""
