"""``handiwork security``: SROS2 permissions of every process, and a keystore when the installation can make one."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from handiwork_cli.launch_files.package_paths import share_of
from handiwork_cli.security.interfaces import load_table, nodes_of
from handiwork_cli.security.policy import policy_text
from handiwork_cli.stack.demo_cells import robot_of

TABLE = "config/interfaces.yaml"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser("security", help="write SROS2 permissions of every process of the stack")
    parser.add_argument("policy", type=Path, help="file that gets the policy, such as policy.xml")
    parser.add_argument("--robot", default="fr3", help="folder in robot_description/robots")
    text = "also make keys, governance and permissions in this folder, with `ros2 security`"
    parser.add_argument("--keystore", type=Path, help=text)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the policy, and the keystore if asked for.

    Args:
        options: Parsed command line.

    Returns:
        Exit code, 0 when all was written.

    Raises:
        ConfigError: The table of interfaces or the robot is faulty.
    """
    table = load_table(share_of("handiwork_bringup") / TABLE)
    options.policy.write_text(policy_text(nodes_of(table, robot_of(options.robot))), encoding="utf-8")
    print(f"{options.policy}: permissions of {', '.join([*table.nodes, 'client', *table.programs])}")
    return 0 if options.keystore is None else _make_keystore(options.keystore, options.policy)


def _make_keystore(keystore: Path, policy: Path) -> int:
    ros2 = shutil.which("ros2")
    if ros2 is None:
        text = "ros2 is not on the PATH: source a native ROS 2 with ros-jazzy-sros2, or leave --keystore out"
        print(f"handiwork security: {text}", file=sys.stderr)
        return 1
    command = [ros2, "security", "generate_artifacts", "-k", str(keystore), "-p", str(policy)]
    return subprocess.run(command, check=False).returncode
