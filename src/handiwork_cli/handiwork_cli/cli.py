"""The ``handiwork`` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from handiwork_core.config.dataclass_loader import ConfigError

from .commands.files import export_usd, new_robot, new_skill
from .commands.goals import (
    goal,
    run_skill,
    safety,
    skills,
    task,
)
from .commands.goals.connection import NoServerError
from .commands.inspect import (
    conditions,
    show_robot,
    status,
    why,
)
from .commands.stack import (
    chaos,
    check_backend,
    demo,
    launch,
    security,
    soak,
    soak_all,
)
from .launch_files.model import LaunchError
from .processes.domain import DomainError

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
    """Run one command.

    Args:
        argv: Words of the command line; None takes those of the process.

    Returns:
        Exit code, 0 exactly when the command has succeeded.
    """
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
