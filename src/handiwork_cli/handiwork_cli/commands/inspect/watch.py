"""``handiwork watch``, ``unwatch`` and ``watch-task``: which conditions and which task a running monitor follows."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import yaml

from handiwork_cli.processes.ros_environment import with_ros_defaults
from handiwork_core.config.dataclass_loader import read_yaml
from handiwork_viz.condition_table import progress_lines

ANSWER_S = 10.0
"""The longest wait for a response, s."""
DONE, REFUSED, NO_ANSWER = 0, 1, 2
EXIT_CODES = "Exit code: 0 done, 1 refused, 2 no answer or an unreadable file."


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the three commands.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    watch = commands.add_parser(
        "watch", help="publish a condition from now on; prints its key", description=EXIT_CODES
    )
    watch.add_argument(
        "condition",
        help="expression, or a predicate without arguments: "
        "'object_in_container(object=cube, container=bin) and not object_grabbed(object=cube)'",
    )
    watch.add_argument("--name", default="", help="name of the expression, which other expressions may use")
    watch.add_argument("--hold", type=float, default=0.0, help="time that a new value must last [s]")
    watch.add_argument(
        "--max-flip",
        type=float,
        default=0.0,
        help="greatest probability of a turn by noise with which it is TRUE or FALSE; 0: that of the node",
    )
    watch.set_defaults(run=run_watch)
    unwatch = commands.add_parser("unwatch", help="stop publishing a condition", description=EXIT_CODES)
    unwatch.add_argument("key", help="its key, as the table of 'handiwork conditions' shows it")
    unwatch.set_defaults(run=run_unwatch)
    task = commands.add_parser(
        "watch-task", help="follow a task of conditions; prints its progress", description=EXIT_CODES
    )
    task.add_argument(
        "file",
        nargs="?",
        type=Path,
        help="YAML of the task, or of a conditions file with one; without a file the present task stays",
    )
    task.add_argument("--restart", action="store_true", help="begin the present task again")
    task.set_defaults(run=run_watch_task)


def run_watch(options: argparse.Namespace) -> int:
    """Watch a condition and print its key.

    Args:
        options: Parsed command line.

    Returns:
        Exit code: DONE, REFUSED or NO_ANSWER.
    """
    text = options.condition.strip()
    plain = text.isidentifier() and not options.name
    asked = {"name": text if plain else options.name, "expression": "" if plain else text}
    limits = {"hold": options.hold, "max_flip": options.max_flip}
    return _request("watch", "WatchCondition", "watch", {**asked, **limits})


def run_unwatch(options: argparse.Namespace) -> int:
    """Stop watching a condition.

    Args:
        options: Parsed command line.

    Returns:
        Exit code: DONE, REFUSED or NO_ANSWER.
    """
    return _request("unwatch", "UnwatchCondition", "unwatch", {"key": options.key})


def run_watch_task(options: argparse.Namespace) -> int:
    """Follow the task of a file, begin the present one again, or only print its progress.

    Args:
        options: Parsed command line.

    Returns:
        Exit code: DONE, REFUSED or NO_ANSWER.

    Raises:
        ConfigError: The file cannot be read.
    """
    text = ""
    if options.file is not None:
        data = read_yaml(options.file)
        text = yaml.safe_dump(data.get("task", data), sort_keys=False)
    return _request("watch-task", "WatchTask", "watch_task", {"task": text, "restart": options.restart})


def _request(command: str, kind: str, service: str, asked: dict[str, Any]) -> int:
    """Call one service of the monitor and print its response."""
    os.environ.update(with_ros_defaults(os.environ))
    from handiwork_msgs import srv

    from handiwork_cli.ros.service_question import ask
    from handiwork_ros.rclpy_support.background_node import BackgroundNode

    service_kind = getattr(srv, kind)
    with BackgroundNode("handiwork_command") as client:
        request = service_kind.Request(**asked)
        answer = ask(client.node, service_kind, f"conditions/{service}", request, ANSWER_S)
    if answer is None:
        text = f"conditions/{service} does not answer in {ANSWER_S:.0f} s; start the stack, or set its ROS_DOMAIN_ID"
        print(f"handiwork {command}: {text}", file=sys.stderr)
        return NO_ANSWER
    if answer.outcome.message:
        print(f"handiwork {command}: {answer.outcome.message}", file=sys.stderr)
    if answer.outcome.code != answer.outcome.OK:
        return REFUSED
    for line in _lines(answer):
        print(line)
    return DONE


def _lines(answer: Any) -> list[str]:  # noqa: ANN401 - a generated message
    """Return what the response has to show: a key, or a progress."""
    if hasattr(answer, "progress"):
        return [*progress_lines(answer.progress)] or ["no task is watched"]
    return [answer.key] if hasattr(answer, "key") else []
