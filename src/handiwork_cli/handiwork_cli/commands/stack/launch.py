"""``handiwork launch``: run a launch file without ``ros2 launch``."""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Sequence
from pathlib import Path

from handiwork_cli.launch_files.evaluation import declared_arguments, plan_processes
from handiwork_cli.launch_files.model import (
    Argument,
    LaunchError,
    Substitution,
    Template,
    node_names,
)
from handiwork_cli.launch_files.package_paths import share_of
from handiwork_cli.processes.process_runner import ProcessRunner
from handiwork_cli.processes.ros_environment import with_ros_defaults
from handiwork_core.process.domain import current_domain_id, lease_nodes

BRINGUP = ("handiwork_bringup", "bringup.launch.xml")
"""Package and file that are launched when none is named."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser("launch", help="run a launch file")
    parser.add_argument("--show-args", "-s", action="store_true", help="list the file's arguments and stop")
    parser.add_argument(
        "words",
        nargs="*",
        metavar="[[package] file] argument:=value ...",
        help=f"without a file: {' '.join(BRINGUP)}",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run until interrupted, or until a required process ends.

    Args:
        options: Parsed command line.

    Returns:
        Exit code of the runner, see ``ProcessRunner.run``.

    Raises:
        LaunchError: The file or an argument is wrong.
        DomainError: One of its nodes runs already in this domain.
    """
    path, arguments = resolve(options.words)
    if options.show_args:
        for argument in declared_arguments(path):
            print(_describe(argument))
        return 0
    specs = plan_processes(path, arguments)
    runner = ProcessRunner(
        specs,
        environment=with_ros_defaults(os.environ),
        write=lambda line: print(line, flush=True),
    )
    with lease_nodes(current_domain_id(), node_names(specs)):
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: runner.request_stop())
        return runner.run()


def resolve(words: Sequence[str]) -> tuple[Path, dict[str, str]]:
    """Split ``[[package] file] name:=value ...``; without a file it is the bringup of Handiwork.

    Args:
        words: The words.

    Returns:
        The file's path, and the arguments by name.

    Raises:
        LaunchError: There is no such file, or there are too many words.
    """
    names = [word for word in words if ":=" not in word] or [*BRINGUP]
    arguments = dict(word.split(":=", 1) for word in words if ":=" in word)
    if len(names) == 1:
        path = Path(names[0])
    elif len(names) == 2:
        path = share_of(names[0]) / "launch" / names[1]
    else:
        raise LaunchError(f"cannot read {' '.join(names)!r}; write [[package] file] argument:=value ...")
    if path.suffix == ".py" and path.is_file():
        raise LaunchError(f"{path}: is a launch file in Python; run it by `ros2 launch`, or write it in XML")
    if not path.is_file():
        there = sorted(file.name for file in path.parent.glob("*.launch.xml"))
        raise LaunchError(f"{path} does not exist; there are {', '.join(there) or 'no launch files'}")
    return path, arguments


def _describe(argument: Argument) -> str:
    default = "required" if argument.default is None else f"default: {_written(argument.default)!r}"
    choices = f", one of {', '.join(argument.choices)}" if argument.choices else ""
    return f"{argument.name}  ({default}{choices})\n    {argument.description or 'no description'}"


def _written(template: Template) -> str:
    return "".join(part if isinstance(part, str) else _call(part) for part in template)


def _call(substitution: Substitution) -> str:
    return f"$({' '.join([substitution.name, *map(_written, substitution.arguments)])})"
