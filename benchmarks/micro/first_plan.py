"""Time of a fresh process until its first plan is there, with compiled kernels in the cache."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.mbm.rows import markdown
from handiwork_cli.processes.progress import progress

ROOT = Path(__file__).parents[2]
STEPS = ("imports", "engine", "first plan", "second plan", "processor time")


def once() -> None:
    """Print the end of each step [s] since this module ran, and the processor time; this runs in the child process."""
    began = time.perf_counter()
    from benchmarks.mbm.measure import make_engine
    from benchmarks.mbm.problems import load_problems
    from benchmarks.mbm.sphere_robot import load_sphere_robot

    robot, (problem,) = load_sphere_robot("panda"), load_problems("panda", ["table_pick"], per_scene=1)
    marks = [time.perf_counter() - began]
    engine = make_engine(robot)
    engine.update_world(problem.world)
    marks.append(time.perf_counter() - began)
    for seed in (0, 1):
        result = engine.plan(problem.request(budget_s=10.0, seed=seed), lambda: False)
        marks.append(time.perf_counter() - began)
        if result.trajectory is None:
            raise SystemExit(f"not solved: {result.message}")
    print(json.dumps([*marks, time.process_time()]))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--once", action="store_true", help="what each fresh process does")
    options = parser.parse_args()
    if options.once:
        once()
        return
    rows, totals = [], []
    for _ in progress(range(options.runs + 1), "processes", unit="starts"):
        began = time.perf_counter()
        command = [sys.executable, "-m", "benchmarks.micro.first_plan", "--once"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        totals.append(time.perf_counter() - began)
        rows.append(json.loads(done.stdout.splitlines()[-1]))
    # The first process may have compiled; it does not count.
    marks, whole = np.median(rows[1:], axis=0), float(np.median(totals[1:]))
    lines = [[name, f"{value:.2f}"] for name, value in zip(STEPS, marks, strict=True)]
    print(
        markdown(
            ("fresh process, until", "s, median"), [*lines, ["its end, interpreter included", f"{whole:.2f}"]]
        )
    )


if __name__ == "__main__":
    main()
