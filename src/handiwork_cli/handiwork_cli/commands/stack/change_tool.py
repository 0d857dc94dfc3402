"""``handiwork change-tool ROBOT``: gives a running stack the robot with another tool."""

from __future__ import annotations

import argparse
import os
import sys

from handiwork_cli.commands.inspect.show_robot import robot_folder
from handiwork_cli.processes.ros_environment import with_ros_defaults


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser(
        "change-tool",
        help="give a running stack the robot with another tool on the same arms",
        description="Goals that run end, all nodes take the robot, and start again. If one does not, all go back.",
    )
    parser.add_argument(
        "robot", help="name of a folder in robot_description/robots, or a path of such a folder"
    )
    parser.add_argument(
        "--timeout", type=float, default=600.0, metavar="S", help="longest wait for a node that loads [s]"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Change the tool.

    Args:
        options: Parsed command line.

    Returns:
        Exit code, 0 exactly when all nodes are active with the other tool.

    Raises:
        ConfigError: There is no such robot.
    """
    folder = robot_folder(options.robot)
    os.environ.update(with_ros_defaults(os.environ))
    from handiwork_ros.clients.tool_change import change_tool

    outcome = change_tool(
        folder, loading_timeout_s=options.timeout, report=lambda text: print(text, flush=True)
    )
    print(f"{outcome.code.name}: {outcome.message}", file=sys.stdout if outcome.ok else sys.stderr)
    return 0 if outcome.ok else 1
