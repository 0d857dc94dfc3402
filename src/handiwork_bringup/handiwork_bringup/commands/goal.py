"""``handiwork pick`` and ``handiwork place``: one goal to a stack that runs already."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from handiwork_bringup.skill_output import StageLines, print_table

from .connection import connected

if TYPE_CHECKING:
    from handiwork_ros.skill_client import SkillClient, SkillReport


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
    with connected() as client:
        lines = StageLines(lambda line: print(line, flush=True))
        report = _sent(client, options, lines)
        lines.end(report)
    print_table({options.command: report})
    return 0 if report.ok else 1


def _sent(client: SkillClient, options: argparse.Namespace, lines: StageLines) -> SkillReport:
    if options.command == "pick":
        return client.pick(options.object, on_feedback=lines)
    return client.place(options.object, options.container, on_feedback=lines)
