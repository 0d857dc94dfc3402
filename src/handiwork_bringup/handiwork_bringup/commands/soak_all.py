"""``handiwork soak-all``: the soak of every arm of every robot, and of both arms of a robot at the same time."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from handiwork_bringup.commands import soak
from handiwork_bringup.demo_cells import described_robots, robot_of
from handiwork_bringup.soak_statistics import Tally

HEAD = f"{'robot':<14} {'arms':<22} {'success':>10} {'rate':>8}"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("soak-all", help="the soak of every arm of every robot, in one table")
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--real-time-factor", type=float, default=4.0)
    parser.add_argument("--robots", nargs="*", default=[], help="default: all whose arms have fingers")
    parser.set_defaults(run=run, scene="", object="", container="")


def run(options: argparse.Namespace) -> int:
    """Zero exactly when enough episodes of every row succeed."""
    rows: list[str] = []
    good = True
    for robot, arms in _cases(options.robots):
        options.robot = robot
        tally = soak.measure(options, soak.targets_of(robot, arms))
        print("\n".join(tally.lines()), flush=True)
        rows.append(_row(robot, arms, tally))
        good &= tally.good
    print("\n".join([HEAD, *rows]))
    return 0 if good else 1


def _cases(names: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Each arm alone, then all arms of a robot that has several."""
    for name in names or described_robots():
        arms = [arm.name for arm in robot_of(name).arms.values() if arm.gripper and arm.gripper.joint]
        yield from ((name, [arm]) for arm in arms)
        if len(arms) > 1:
            yield name, arms


def _row(robot: str, arms: list[str], tally: Tally) -> str:
    won = round(tally.rate * tally.episodes)
    return f"{robot:<14} {' + '.join(arms):<22} {f'{won}/{tally.episodes}':>10} {100 * tally.rate:>6.1f} %"
