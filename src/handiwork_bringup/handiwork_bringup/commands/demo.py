"""``handiwork demo``: pick an object, place it into a container, and let the monitor judge."""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

from handiwork_bringup.stack import Stack, StackError

if TYPE_CHECKING:
    from handiwork_core.skill import Progress
    from handiwork_ros.skill_client import SkillReport


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("demo", help="pick and place once in simulation")
    parser.add_argument("--scene", default="tabletop", help="file in config/scenes, without .yaml")
    parser.add_argument("--object", default="cube")
    parser.add_argument("--container", default="bin")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Zero exactly when the monitor finds the object in the container."""
    try:
        with Stack({"scene": options.scene}, write=lambda line: print(line, flush=True)) as stack:
            print(f"all nodes active after {stack.wait_active():.1f} s", flush=True)
            return _loop(stack, options.object, options.container)
    except StackError as error:
        print(f"handiwork demo: {error}", file=sys.stderr)
        return 1


def _loop(stack: Stack, name: str, container: str) -> int:
    begin_s = time.monotonic()
    print(f"pick {name}", flush=True)
    reports = {"pick": stack.client.pick(name, on_feedback=_Shown())}
    if reports["pick"].ok:
        print(f"place {name} into {container}", flush=True)
        reports["place"] = stack.client.place(name, container, on_feedback=_Shown())
    wall_s = time.monotonic() - begin_s
    _print_table(reports)
    print(f"{wall_s:.1f} s of wall time")
    arguments = f"{{object: {name}, container: {container}}}"
    inside, reason = stack.settled("object_in_container", arguments, timeout_s=3.0)
    print(
        f"monitor: object_in_container({name}, {container}) is {'TRUE' if inside else 'not TRUE'}: {reason}"
    )
    return 0 if inside and all(report.ok for report in reports.values()) else 1


class _Shown:
    """Prints each stage once, as it is first heard of; later stages are planned while earlier ones move."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def __call__(self, progress: Progress) -> None:
        if progress.stage not in self._seen:
            self._seen.add(progress.stage)
            print(f"  {progress.index + 1}/{progress.count} {progress.stage}", flush=True)


def _print_table(reports: dict[str, SkillReport]) -> None:
    print(f"\n{'skill':<7}{'stage':<22}{'duration':>10}{'planning':>11}  result")
    for skill, report in reports.items():
        for stage in report.stages:
            times = f"{stage.duration_s:>8.2f} s{1e3 * stage.planning_time_s:>8.0f} ms"
            print(f"{skill:<7}{stage.name:<22}{times}  {stage.code.name}")
        total = f"{report.duration_s:>8.2f} s{1e3 * report.planning_time_s:>8.0f} ms"
        outcome = report.outcome
        print(f"{skill:<7}{'in all':<22}{total}  {outcome.code.name} {outcome.message}")
