"""Time from the start of a process to its first plan, with kernel caches that an earlier process has filled."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

import numpy as np

from benchmarks.planning.demo import demo_world, down
from handiwork_cli.processes.progress import progress
from handiwork_core.contracts.planning import PlanRequest, PoseGoals
from handiwork_core.model.geometry import Pose
from planner_node.engines import CuroboEngine

from .machine import fr3

LIMIT_S = 20.0
RUNS = 2


def main(_options: argparse.Namespace) -> int:
    took = []
    for _ in progress(range(RUNS), "cold"):
        before = time.monotonic()
        ended = subprocess.run([sys.executable, "-m", __name__], check=False, capture_output=True, text=True)
        took.append(time.monotonic() - before)
        print("```\n" + (ended.stdout[-1500:] or ended.stderr[-1500:]).strip() + "\n```\n")
    print(f"From start to the first plan's end, process included: {', '.join(f'{t:.1f}' for t in took)} s")
    return 0 if took[-1] <= LIMIT_S else 1


def first_plan() -> None:
    """Load, plan once, and print the time of each step."""
    began = time.monotonic()
    robot = fr3()

    def report(share: float, text: str) -> None:
        print(f"{time.monotonic() - began:6.2f} s  {share:.2f} {text}")

    engine = CuroboEngine(robot, Pose.identity(), report)
    engine.update_world(demo_world())
    goal = PoseGoals((down(robot, 0.45, 0.2, 0.2, 0.0),))
    result = engine.plan(PlanRequest("", np.array(robot.arm("").home_q), goal), lambda: False)
    report(1.0, f"first plan: {result.code.name}")


if __name__ == "__main__":
    first_plan()
