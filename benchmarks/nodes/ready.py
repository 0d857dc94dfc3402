"""Robot description to ready: ``python -m benchmarks.nodes.ready [--robot NAME ...]``.

A fresh process for each run loads and checks the robot and makes the CPU engine, whose kernels come compiled from the
cache. It is ready when the engine has answered.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from handiwork_cli.processes.progress import progress

ROOT = Path(__file__).parents[2]
ROBOTS = ROOT / "src/robot_description/robots"
LONGEST_S = 2.0
"""Largest time of the largest robot, s of processor time, and of wall time on an idle machine."""


def once(folder: Path) -> None:
    """Print wall and processor time [s] of each part, since the import began; this runs in the child process.

    Args:
        folder: The robot's folder.
    """
    began, used = time.perf_counter(), time.process_time()

    def mark() -> tuple[float, float]:
        return time.perf_counter() - began, time.process_time() - used

    from handiwork_core.contracts.planning import SceneQuery
    from handiwork_core.model.geometry import Pose
    from handiwork_core.robot_files.loader import load_robot
    from handiwork_planning.cpu_engine import CpuEngine

    marks = {"imports": mark()}
    robot = load_robot(folder)
    marks["load and check"] = mark()
    engine = CpuEngine(robot, Pose.identity(), lambda _share, _what: None)
    for arm in robot.arms.values():
        engine.explain(arm.name, arm.home_q, SceneQuery())
    marks["engine ready"] = mark()
    print(json.dumps({"spheres": sum(len(item.radii) for item in robot.spheres), "marks": marks}))
    engine.close()


def measured(folder: Path) -> tuple[int, dict[str, list[float]]]:
    """Measure in a new process.

    Args:
        folder: The robot's folder.

    Returns:
        Number of spheres, and wall and processor time of each part, s.
    """
    command = [sys.executable, "-m", "benchmarks.nodes.ready", "--once", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return found["spheres"], found["marks"]


def row(folder: Path, runs: int) -> tuple[str, float]:
    """Return a line of the table, and the median of the processor time until ready, s. The first run may compile.

    Args:
        folder: The robot's folder.
        runs: Number of runs after the first.
    """
    found = [measured(folder) for _ in progress(range(runs + 1), str(folder), unit="starts")][1:]
    parts = list(found[0][1])
    medians = {part: np.median([marks[part] for _, marks in found], axis=0) for part in parts}
    wall, cpu = medians[parts[-1]]
    load = medians[parts[1]] - medians[parts[0]]
    cells = (
        f"{folder.name:<14}",
        f"{found[0][0]:>8}",
        f"{load[1]:>14.2f}",
        f"{cpu:>14.2f}",
        f"{wall:>10.2f}",
    )
    return "".join(cells), float(cpu)


def main() -> int:
    """Print a line for each robot; not zero when one takes too long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robot", action="append", help="folder in robot_description/robots; none: all")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--once", type=Path, help="what each fresh process does")
    options = parser.parse_args()
    if options.once:
        once(options.once)
        return 0
    names = options.robot or sorted(path.parent.name for path in ROBOTS.glob("*/robot.yaml"))
    print(f"{'robot':<14}{'spheres':>8}{'load cpu [s]':>14}{'ready cpu [s]':>14}{'wall [s]':>10}")
    longest = 0.0
    for name in names:
        line, cpu = row(ROBOTS / name, options.runs)
        longest = max(longest, cpu)
        print(line, flush=True)
    print(f"longest {longest:.2f} s of processor time, wanted {LONGEST_S:g} s or less")
    return 0 if longest <= LONGEST_S else 1


if __name__ == "__main__":
    sys.exit(main())
