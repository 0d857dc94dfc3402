"""``handiwork soak-all``: the soak of every arm of every robot, and of both arms of a robot at the same time."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from handiwork_cli.commands.stack import soak
from handiwork_cli.processes.interrupts import interruptible
from handiwork_cli.stack.demo_cells import robot_of, standing_robots
from handiwork_cli.stack.soak_statistics import Tally

HEAD = (
    "| robot | arms | success | rate | episode p50 | episode p95 | waits | causes (seeds) |",
    "|---|---|---:|---:|---:|---:|---:|---|",
)


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser("soak-all", help="the soak of every arm of every robot, in one table")
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--real-time-factor", type=float, default=10.0)
    parser.add_argument(
        "--cancel-every", type=int, default=10, help="cancel a pick after each N-th episode; 0: never"
    )
    parser.add_argument("--robots", nargs="*", default=[], help="default: all but those that drive")
    parser.set_defaults(run=run, scene="", object="", container="", backend="mujoco")


def run(options: argparse.Namespace) -> int:
    """Run the soak of each case and print one table.

    Args:
        options: Parsed command line.

    Returns:
        Exit code, 0 exactly when enough episodes of every row succeed; 130 when the run was ended early by SIGINT or
        SIGTERM.
    """
    with interruptible():
        return _run_cases(options)


def _run_cases(options: argparse.Namespace) -> int:
    rows: list[str] = []
    again: list[str] = []
    code = 0
    try:
        for robot, arms in _cases(options.robots):
            options.robot = robot
            print(f"{robot}, {' + '.join(arms)}", flush=True)
            tally = soak.measure(options, soak.targets_of(robot, arms))
            print("\n".join(tally.lines()), flush=True)
            rows.append(_row(robot, arms, tally))
            again += _repeat(robot, arms, tally)
            code = max(code, tally.exit_code)
            if tally.is_cut_short:
                break
    finally:  # so that a fault prints the rows so far
        print("\n".join([*HEAD, *rows]), flush=True)
        if again:
            print("\n".join(["failed episodes again:", *again]))
    return code


def _cases(names: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each arm alone, then all arms of a robot that has several."""
    for name in names or standing_robots():
        arms = [arm.name for arm in robot_of(name).arms.values() if arm.gripper is not None]
        yield from ((name, [arm]) for arm in arms)
        if len(arms) > 1:
            yield name, arms


def _row(robot: str, arms: list[str], tally: Tally) -> str:
    return f"| {' | '.join([robot, ' + '.join(arms), *tally.cells])} |"


def _repeat(robot: str, arms: list[str], tally: Tally) -> list[str]:
    """Return a command for each episode that failed."""
    words = " ".join(f"--arm {arm}" for arm in arms)
    seeds = sorted({failure.seed for failure in tally.failures})
    return [f"handiwork soak --robot {robot} {words} --episodes 1 --seed {seed}" for seed in seeds]
