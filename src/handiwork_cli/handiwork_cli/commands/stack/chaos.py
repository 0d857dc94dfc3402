"""``handiwork chaos``: goals while nodes are killed, frozen, deceived and reset; fails when one promise is broken."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time

from handiwork_cli.chaos.machine import load_now
from handiwork_cli.chaos.network.relay import run_behind_relay
from handiwork_cli.chaos.network.ros.stack_end import SKIPPED
from handiwork_cli.chaos.ros.campaign import ChaosPlan, run_campaign
from handiwork_cli.processes.interrupts import interruptible
from handiwork_cli.stack.stack import StackError

MANY = 1_000_000


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    text = "random faults against the whole stack; fails at a false result or a motion without a goal"
    parser = commands.add_parser("chaos", help=text)
    parser.add_argument("--minutes", type=float, default=5.0, help="end after this much time")
    parser.add_argument("--goals", type=int, default=MANY, help="end after so many goals")
    parser.add_argument("--seed", type=int, default=0, help="gives the same goals and faults again")
    parser.add_argument("--load", type=int, default=0, help="processes that only take processor time")
    parser.add_argument("--robot", default="fr3", help="folder in robot_description/robots, of one arm")
    parser.add_argument("--real-time-factor", type=float, default=1.0)
    parser.add_argument(
        "--network",
        action="store_true",
        help="instead: goals from another network namespace, while packets are lost and delayed",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the trials and print the findings.

    Args:
        options: Parsed command line.

    Returns:
        Exit code, 0 exactly when every promise was kept to the end; 130 when the run was ended early by SIGINT or
        SIGTERM and none was broken; 77 when this machine permits no network namespaces.
    """
    plan = ChaosPlan(
        options.robot, options.seed, options.goals, options.minutes, options.load, options.real_time_factor
    )
    with interruptible():
        return _run_network(plan) if options.network else _run_here(plan)


def _run_here(plan: ChaosPlan) -> int:
    begin_s = time.monotonic()
    try:
        findings = run_campaign(
            plan, lambda line: print(line, flush=True), lambda line: print(line, file=sys.stderr, flush=True)
        )
    except StackError as error:
        print(f"handiwork chaos: {error}", file=sys.stderr)
        return 1
    print("\n".join(findings.lines()))
    print(f"{time.monotonic() - begin_s:.0f} s of wall time, load {load_now():.1f} at the end", flush=True)
    return findings.exit_code


def _run_network(plan: ChaosPlan) -> int:
    text = json.dumps(dataclasses.asdict(plan))
    command = [sys.executable, "-m", "handiwork_cli.chaos.network.ros.stack_end", text]
    code, packets = run_behind_relay(command, plan.seed)
    if code != SKIPPED:
        print(packets)
    return code
