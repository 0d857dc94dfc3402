"""``handiwork check-backend``: checks a running simulator or robot against the robot-and-world contract."""

from __future__ import annotations

import argparse
import os
import sys

from handiwork_check.contract import GROUPS
from handiwork_check.findings import is_good, report_json, report_lines
from handiwork_cli.commands.inspect.show_robot import robot_folder
from handiwork_cli.processes.ros_environment import with_ros_defaults
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot_files.loader import load_robot

WARNING = (
    "moving every joint by less than 0.15 rad, and opening and closing the gripper; --still keeps all at rest"
)


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser("check-backend", help="judge a running simulator or robot by the contract")
    parser.add_argument("--robot", default="fr3", help="name or folder of the robot that runs")
    parser.add_argument("--json", action="store_true", help="print the report for a program")
    parser.add_argument("--still", action="store_true", help="listen only, move nothing")
    parser.add_argument("--listen", type=float, default=3.0, metavar="S", help="how long to listen [s]")
    parser.add_argument("--only", default="", metavar="GROUPS", help=f"some of {','.join(GROUPS)}")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the checks and print the report.

    Args:
        options: Parsed command line.

    Returns:
        Exit code, 0 exactly when the contract holds.

    Raises:
        ConfigError: An option or the robot is invalid.
    """
    groups = tuple(options.only.split(",")) if options.only else GROUPS
    unknown = sorted(set(groups) - set(GROUPS))
    if unknown or not 0.5 <= options.listen <= 60.0:
        fault = (
            f"--only {unknown} is none of {', '.join(GROUPS)}" if unknown else "--listen takes 0.5 to 60 s"
        )
        raise ConfigError("check-backend", [fault])
    robot = load_robot(robot_folder(options.robot))
    os.environ.update(with_ros_defaults(os.environ))
    from handiwork_check.ros.examiner import Examiner, Plan
    from handiwork_ros.clients.skill_client import SkillClient

    if not options.still and set(groups) & {"joints", "gripper", "suction"}:
        print(WARNING, file=sys.stderr)
    with SkillClient(node_name="handiwork_check") as client:
        plan = Plan(groups, options.listen, not options.still)
        findings = list(Examiner(client.node, robot).examine(plan))
    print(report_json(robot.name, findings) if options.json else "\n".join(report_lines(findings)))
    return int(not is_good(findings))
