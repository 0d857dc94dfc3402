"""Robots of others by ``handiwork new-robot``, and what they do then: ``python -m benchmarks.skills.new_robots LIST``.

LIST has a robot in each line: a name, its URDF or xacro, and arguments of the xacro. Relative paths are those of the
list's folder. For each robot the command is run, unless its folder is there already, and then so many episodes of Pick
and Place in the scene that it has written, with all defaults, in physics and without ROS.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scipy.stats import binomtest

from handiwork_cli.stack.demo_cells import Target
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_planning.cpu_engine import CpuEngine

from .arms import episode

LINK = re.compile(r"^\S+ +(\d+) +([\d.]+) mm +([\d.]+) mm$", re.MULTILINE)
"""A link in the table that the command prints: spheres, how far they stick out, what they leave uncovered."""
RIM_M = 0.02


@dataclass(frozen=True)
class Made:
    """What the command has printed and needed; ``text`` is its last line if it has failed."""

    seconds: float
    spheres: int
    out_mm: float
    bare_mm: float
    text: str = ""


def listed(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the arguments of the command of each robot.

    Args:
        path: The list.
    """
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split("#")[0].split()
        if words:
            yield words[0], [str(path.parent / words[1]), *words[2:]]


def make(name: str, words: list[str], folder: Path, timeout_s: float) -> Made:
    """Run the command, or read what it has printed before.

    Args:
        name: Name of the robot.
        words: Its description, and arguments of the xacro.
        folder: Folder for all robots.
        timeout_s: The longest wait, s.
    """
    log = folder / f"{name}.log"
    if not (folder / name / "robot.yaml").exists() or not log.exists():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = ["handiwork", "new-robot", *words, "--name", name, "--out", str(folder / name)]
        command[0] = str(Path(sys.executable).parent / command[0])
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=timeout_s, check=False, stdin=subprocess.DEVNULL
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        log.write_text(f"{used:.1f}\n{ended.stdout}\n{ended.stderr}", encoding="utf-8")
    text = log.read_text(encoding="utf-8")
    rows = LINK.findall(text)
    failed = "" if (folder / name / "robot.yaml").exists() else text.strip().splitlines()[-1]
    return Made(
        float(text.splitlines()[0]),
        sum(int(row[0]) for row in rows),
        max((float(row[1]) for row in rows), default=0.0),
        max((float(row[2]) for row in rows), default=0.0),
        failed,
    )


def episodes(folder: Path, seeds: range) -> tuple[int, Counter[str]]:
    """Return how many episodes were good, and the codes of the others.

    Args:
        folder: Folder of the robot, with its scene.
        seeds: Seeds of the episodes.
    """
    robot, scene = load_robot(folder), folder / "scene.yaml"
    engine = CpuEngine(robot, load_scene(scene).world_T_base, lambda _part, _what: None)
    target, failed = Target(next(iter(robot.arms)), "cube", "bin", RIM_M), Counter[str]()
    for seed in seeds:
        part, ended = episode(robot, engine, scene, target, seed)
        if not ended.ok:
            failed[f"{part} {ended.code.name}"] += 1
            print(f"  {robot.name} seed {seed}: {part}: {ended.code.name}: {ended.message}", flush=True)
    engine.close()
    return len(seeds) - failed.total(), failed


def main() -> int:
    """Print a row for each robot, and return zero exactly when all were made."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("list", type=Path)
    parser.add_argument("--out", type=Path, default=Path("build/new_robots"), help="folder for the robots")
    parser.add_argument("--episodes", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0, help="of the first episode")
    parser.add_argument("--timeout", type=float, default=3600.0, help="for one new-robot [s]")
    wanted = parser.parse_args()
    wanted.out.mkdir(parents=True, exist_ok=True)
    print(
        "| robot | new-robot, processor | spheres | stick out | uncovered | good episodes | 95 % | causes |\n"
        "|---|---:|---:|---:|---:|---:|---|---|"
    )
    is_good = True
    for name, words in listed(wanted.list):
        made = make(name, words, wanted.out, wanted.timeout)
        row = f"| {name} | {made.seconds:.0f} s | {made.spheres} | {made.out_mm:.1f} mm | {made.bare_mm:.1f} mm |"
        if made.text:
            is_good = False
            print(f"{row} - | - | {made.text} |", flush=True)
        elif not (wanted.out / name / "scene.yaml").exists() or not wanted.episodes:
            print(f"{row} - | - | no scene was written |", flush=True)
        else:
            began = time.process_time()
            good, failed = episodes(wanted.out / name, range(wanted.seed, wanted.seed + wanted.episodes))
            low, high = binomtest(good, wanted.episodes).proportion_ci(method="wilson")
            causes = ", ".join(f"{count} {cause}" for cause, count in failed.most_common()) or "-"
            each = (time.process_time() - began) / wanted.episodes
            print(
                f"{row} {good} of {wanted.episodes} | {100 * low:.0f} to {100 * high:.0f} % | {causes} "
                f"({each:.1f} s each) |",
                flush=True,
            )
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
