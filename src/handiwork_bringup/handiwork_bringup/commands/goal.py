"""``handiwork pick`` and ``handiwork place``: one goal to a stack that runs already."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from handiwork_bringup.ros_environment import with_ros_defaults
from handiwork_bringup.skill_output import StageLines, print_table

if TYPE_CHECKING:
    from handiwork_ros.skill_client import SkillClient, SkillReport

READY_S = 10.0


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare both commands."""
    pick = commands.add_parser("pick", help="pick an object, in a running stack")
    pick.add_argument("object", help="name in world/objects")
    place = commands.add_parser("place", help="place the held object, in a running stack")
    place.add_argument("object", help="name in world/objects")
    place.add_argument("container", help="name in world/objects")
    for parser in (pick, place):
        parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Zero exactly when the skill succeeded."""
    os.environ.update(with_ros_defaults(os.environ))
    from handiwork_ros.skill_client import SERVER, SkillClient

    with SkillClient(node_name="handiwork_command") as client:
        if not client.wait_ready(READY_S):
            text = f"{SERVER} is not active after {READY_S:.0f} s; start the stack, or set its ROS_DOMAIN_ID"
            print(f"handiwork {options.command}: {text}", file=sys.stderr)
            return 1
        lines = StageLines(lambda line: print(line, flush=True))
        report = _sent(client, options, lines)
        lines.end(report)
    print_table({options.command: report})
    return 0 if report.ok else 1


def _sent(client: SkillClient, options: argparse.Namespace, lines: StageLines) -> SkillReport:
    if options.command == "pick":
        return client.pick(options.object, on_feedback=lines)
    return client.place(options.object, options.container, on_feedback=lines)
