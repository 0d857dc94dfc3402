"""``handiwork pick`` and ``handiwork place``: one goal to a running stack."""

from __future__ import annotations

import argparse

from handiwork_core.config.dataclass_loader import ConfigError

from .run_skill import add_goal_options, parameters_of, run_goal


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare both commands.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    pick = commands.add_parser("pick", help="pick an object, in a running stack")
    pick.add_argument("object", help="name in world/objects")
    place = commands.add_parser("place", help="place the held object, in a running stack")
    place.add_argument("object", help="name in world/objects")
    place.add_argument("container", help="name in world/objects")
    for parser in (pick, place):
        parser.add_argument(
            "parameters",
            nargs="*",
            metavar="key=value",
            help="more of the skill's parameters; values are YAML",
        )
        parser.add_argument("--arm", default="", help="arm, where the robot has several")
        add_goal_options(parser)
        parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the skill, and print its stages.

    Args:
        options: Parsed command line.

    Returns:
        Exit code, 0 exactly when the skill succeeded.

    Raises:
        ConfigError: A parameter is malformed or given twice.
        NoServerError: No server accepts goals.
    """
    named = {key: vars(options)[key] for key in ("object", "container") if key in options}
    more = parameters_of(options.parameters)
    if named.keys() & more.keys():
        raise ConfigError(
            "parameters", [f"{key}: is given twice; keep one" for key in named.keys() & more.keys()]
        )
    return run_goal(options.command, named | more, options)
