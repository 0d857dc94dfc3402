"""The ``handiwork`` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from handiwork_core.config.dataclass_loader import ConfigError

from .commands import (
    chaos,
    check_backend,
    conditions,
    demo,
    export_usd,
    goal,
    launch,
    new_robot,
    new_skill,
    run_skill,
    safety,
    security,
    show_robot,
    skills,
    soak,
    soak_all,
    status,
    task,
    why,
)
from .commands.connection import NoServerError
from .domain import DomainError
from .launch_model import LaunchError

COMMANDS = (
    demo,
    launch,
    status,
    conditions,
    why,
    goal,
    run_skill,
    task,
    skills,
    new_skill,
    safety,
    soak,
    soak_all,
    chaos,
)
ROBOT_COMMANDS = (new_robot, show_robot, check_backend, export_usd, security)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is zero exactly when it did what it is for."""
    parser = argparse.ArgumentParser(prog="handiwork", description="Pick and place over ROS 2.")
    commands = parser.add_subparsers(dest="command", required=True)
    for command in COMMANDS + ROBOT_COMMANDS:
        command.add_parser(commands)
    options = parser.parse_args(argv)
    try:
        return int(options.run(options))
    except (LaunchError, ConfigError, DomainError, NoServerError) as error:
        print(f"handiwork {options.command}: {error}", file=sys.stderr)
        return 1 if isinstance(error, NoServerError) else 2
