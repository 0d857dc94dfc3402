"""``handiwork execute PLAN``: a plan of ``--plan-only``, as it was previewed."""

from __future__ import annotations

import argparse

from handiwork_cli.ros.connection import connected
from handiwork_cli.stack.skill_output import StageLines, print_table

from .run_skill import add_busy_options


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser("execute", help="execute a plan of --plan-only as it was previewed")
    parser.add_argument("plan", help="id that the preview printed")
    add_busy_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Execute the plan, and print its stages.

    Args:
        options: Parsed command line.

    Returns:
        Exit code, 0 exactly when the skill succeeded.

    Raises:
        NoServerError: No server accepts goals.
    """
    with connected() as client:
        lines = StageLines(lambda line: print(line, flush=True))
        report = client.execute(
            options.plan,
            when_busy=options.when_busy,
            time_allowance_s=options.time_allowance,
            on_feedback=lines,
            timeout_s=options.timeout,
        )
        lines.end(report)
    print_table({options.plan.rpartition("-")[0] or "execute": report})
    return 0 if report.ok else 1
