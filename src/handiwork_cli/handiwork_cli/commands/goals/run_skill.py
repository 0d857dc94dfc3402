"""``handiwork run SKILL key=value ...``: any skill, to a running stack."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from handiwork_cli.ros.connection import connected
from handiwork_cli.stack.skill_output import StageLines, print_preview, print_table
from handiwork_core.config.dataclass_loader import ConfigError, mapping_from_yaml
from handiwork_core.intake.limits import GOAL_YAML


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser("run", help="run any skill, in a running stack")
    parser.add_argument("skill", help="name of the skill, for example goto_pose")
    parser.add_argument("parameters", nargs="*", metavar="key=value", help="its parameters; values are YAML")
    parser.add_argument("--arm", default="", help="arm, where the robot has several")
    add_goal_options(parser)
    parser.set_defaults(run=run)


def add_goal_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options that the goals of all skills share.

    Args:
        parser: Parser of a command.
    """
    add_plan_option(parser)
    add_busy_options(parser)


def add_plan_option(parser: argparse.ArgumentParser) -> None:
    """Declare the option of a preview.

    Args:
        parser: Parser of a command.
    """
    parser.add_argument(
        "--plan-only",
        "--preview",
        action="store_true",
        help="only plan: nothing moves; handiwork execute does it later as previewed",
    )


def add_busy_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options for a busy arm and for the times of a goal.

    Args:
        parser: Parser of a command.
    """
    parser.add_argument("--when-busy", default="", help="reject, queue or preempt")
    add_time_options(parser, timeout_s=120.0)


def add_time_options(parser: argparse.ArgumentParser, timeout_s: float) -> None:
    """Declare the options for the times of a goal.

    Args:
        parser: Parser of a command.
        timeout_s: Default of the client's timeout, s.
    """
    parser.add_argument(
        "--time-allowance",
        type=float,
        default=0.0,
        metavar="S",
        help="the server ends the goal after S seconds of the robot's world; 0: no limit",
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=timeout_s,
        metavar="S",
        help="cancel the goal after S seconds of wall time (%(default)g)",
    )


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
    return run_goal(options.skill, parameters_of(options.parameters), options)


def run_goal(skill: str, parameters: Mapping[str, Any], options: argparse.Namespace) -> int:
    """Run a skill by its name, and print its stages.

    Args:
        skill: Name of the skill.
        parameters: Its parameters.
        options: Parsed command line with ``arm`` and the options of ``add_goal_options``.

    Returns:
        Exit code, 0 exactly when the skill succeeded.

    Raises:
        NoServerError: No server accepts goals.
    """
    with connected() as client:
        lines = StageLines(lambda line: print(line, flush=True))
        report = client.run(
            skill,
            parameters,
            arm=options.arm,
            when_busy=options.when_busy,
            time_allowance_s=options.time_allowance,
            plan_only=options.plan_only,
            on_feedback=lines,
            timeout_s=options.timeout,
        )
        lines.end(report)
    print_table({skill: report})
    print_preview(report.plan)
    return 0 if report.ok else 1


def parameters_of(words: Sequence[str]) -> dict[str, Any]:
    """Read words ``key=value``.

    Args:
        words: The words; values are YAML.

    Returns:
        Key -> value.

    Raises:
        ConfigError: A word has no ``=``, a key is given twice, or a value is no YAML.
    """
    made: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key or key in made:
            what = (
                "is given twice; keep one"
                if key in made
                else "is no key=value; write for example object=cube"
            )
            raise ConfigError("parameters", [f"{word!r}: {what}"])
        made[key] = mapping_from_yaml(f"value: {value}", f"parameter {key}", GOAL_YAML)["value"]
    return made
