"""Success of articulated skills: ``python -m benchmarks.skills.articulated [--episodes 25] [--scene door]``.

Every episode is a seed of its own: scattered scene, open and close it again, or turn a knob and turn it back. No ROS.
A failure is printed with its seed, so that ``--seed N --episodes 1 --scene S`` repeats it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test"))

from handiwork_cli.processes.progress import progress  # noqa: E402
from handiwork_core.contracts.skill import Skill  # noqa: E402
from handiwork_core.model.geometry import Pose  # noqa: E402
from handiwork_core.model.outcome import Code  # noqa: E402
from handiwork_core.robot.robot import Robot  # noqa: E402
from handiwork_core.robot_files.loader import load_robot  # noqa: E402
from handiwork_planning.cpu_engine import CpuEngine  # noqa: E402
from skill_server.execution.run import ExecutionResult, run_skill  # noqa: E402
from skill_server.skills.articulated.close import Close, CloseParams  # noqa: E402
from skill_server.skills.articulated.open import Open, OpenParams  # noqa: E402
from skill_server.skills.articulated.rotate import Rotate, RotateParams  # noqa: E402
from support.cells.simulated_cell import SimulatedCell  # noqa: E402

PATIENCE_S = 60.0
"""Steady time for one plan, s: long, so that a busy machine does not change the result."""
EPISODES: dict[str, tuple[tuple[Skill[Any], Any], ...]] = {
    "drawer": ((Open(), OpenParams(object="drawer")), (Close(), CloseParams(object="drawer"))),
    "door": ((Open(), OpenParams(object="door")), (Close(), CloseParams(object="door"))),
    "knob": (
        (Rotate(), RotateParams(object="knob", angle=1.2)),
        (Rotate(), RotateParams(object="knob", angle=-0.785)),
    ),
}


def episode(robot: Robot, engine: CpuEngine, scene: str, seed: int) -> list[tuple[str, ExecutionResult]]:
    """Run the skills of a scene up to the first that fails, and return their names and results.

    Args:
        robot: The robot.
        engine: The planner.
        scene: Name of the scene.
        seed: Seed of scene and choices.
    """
    context = SimulatedCell(robot, engine, scene, seed).context(seed)
    made = []
    for skill, params in EPISODES[scene]:
        one = replace(params, seed=seed, allowed_planning_time=PATIENCE_S)
        run = run_skill(skill, one, replace(context, planning_time_s=0.0, refused=[]))
        made.append((skill.name, run))
        if not run.outcome.ok:
            break
    return made


def measure(robot: Robot, engine: CpuEngine, scene: str, seeds: range) -> bool:
    """Print one row; return False when a failure has no cause of its own.

    Args:
        robot: The robot.
        engine: The planner.
        scene: Name of the scene.
        seeds: Seeds of the episodes.
    """
    began, failed, planned, known = time.process_time(), Counter[str](), list[float](), True
    for seed in progress(seeds, "articulated"):
        runs = episode(robot, engine, scene, seed)
        planned += [run.planning_time_s for _name, run in runs]
        name, ended = runs[-1][0], runs[-1][1].outcome
        if not ended.ok:
            failed[f"{name} {ended.code.name}"] += 1
            known = known and ended.code is not Code.INTERNAL
            print(
                f"  {scene} seed {seed}: {name} in stage {ended.stage!r}: {ended.code.name}: {ended.message}"
            )
    good, spent = len(seeds) - failed.total(), (time.process_time() - began) / len(seeds)
    causes = ", ".join(f"{n} {cause}" for cause, n in failed.most_common()) or "-"
    median_ms = 1e3 * sorted(planned)[len(planned) // 2]
    rate = f"{good:>5} of {len(seeds):<5}{100.0 * good / len(seeds):>6.1f} %"
    print(f"{scene:<10}{rate}{spent:>8.1f} s{median_ms:>8.0f} ms  {causes}", flush=True)
    return known


def main() -> int:
    """Run the scenes; not zero when a failure has no cause of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=25)
    parser.add_argument("--scene", choices=sorted(EPISODES), action="append")
    parser.add_argument("--seed", type=int, default=0, help="of the first episode")
    wanted = parser.parse_args()
    robot = load_robot(ROOT / "src/robot_description/robots/fr3")
    engine = CpuEngine(robot, Pose.identity(), lambda _part, _what: None)
    print(f"{'scene':<10}{'good':>5}{'':<9}{'':>6}{'CPU each':>12}{'planning':>11}  failures")
    seeds = range(wanted.seed, wanted.seed + wanted.episodes)
    known = [measure(robot, engine, name, seeds) for name in wanted.scene or EPISODES]
    engine.close()
    return 0 if all(known) else 1


if __name__ == "__main__":
    sys.exit(main())
