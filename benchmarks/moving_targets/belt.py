"""Targets that move evenly, in physics: ``python -m benchmarks.moving_targets.belt [--runs 10] [--speeds 0.05 0.1]``.

A cube on a running belt is picked, and one that is held is placed into a tray on it, one seed a run. No ROS; time
passes as fast as possible, so planning takes no time of the world.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test"))

from handiwork_cli.processes.progress import progress  # noqa: E402
from handiwork_core.model.geometry import Pose  # noqa: E402
from handiwork_core.model.outcome import Outcome  # noqa: E402
from handiwork_core.robot_files.loader import load_robot  # noqa: E402
from handiwork_planning.cpu_engine import CpuEngine  # noqa: E402
from skill_server.execution.run import run_skill  # noqa: E402
from skill_server.skills.pick_place.pick import Pick, PickParams  # noqa: E402
from skill_server.skills.pick_place.place import Place, PlaceParams  # noqa: E402
from support.cells.nudged_cell import NudgedCell  # noqa: E402
from support.paths import ROBOTS  # noqa: E402

from .stack import wilson  # noqa: E402

FIRST_SEED = 5000
"""Seeds from here on were not used in development."""
FASTEST_MPS, PATIENCE_S = 0.3, 60.0
PICK = PickParams(object="cube", follow_speed=FASTEST_MPS, allowed_planning_time=PATIENCE_S)
PLACE = PlaceParams(container="tray", follow_speed=FASTEST_MPS, allowed_planning_time=PATIENCE_S)


def picked(cell: NudgedCell, seed: int, speed: float) -> Outcome:
    """Pick the cube off the belt; the tray is out of the way.

    Args:
        cell: The cell.
        seed: Seed of the place where the cube begins.
        speed: Speed of the belt, m/s.
    """
    rng = np.random.default_rng(seed)
    cell.put("tray", (0.0, 1.1, 0.0))
    cell.ride("cube", (0.60, float(rng.uniform(-0.5, -0.3)), 0.0235), speed)
    return run_skill(Pick(), PICK, cell.context(seed)).outcome


def placed(cell: NudgedCell, seed: int, speed: float) -> Outcome:
    """Pick the cube off the table, and place it into the tray on the belt.

    Args:
        cell: The cell.
        seed: Seed of the place where the tray begins.
        speed: Speed of the belt, m/s.
    """
    rng, context = np.random.default_rng(seed), cell.context(seed)
    held = run_skill(Pick(), PICK, context).outcome
    if not held.ok:
        return held
    cell.ride("tray", (0.64, float(rng.uniform(-0.55, -0.35)), 0.001), speed)
    return run_skill(Place(), PLACE, replace(context, refused=[])).outcome


def main() -> None:
    """Run all speeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10, help="at each speed")
    parser.add_argument("--seed", type=int, default=FIRST_SEED)
    parser.add_argument("--speeds", type=float, nargs="+", default=[0.02, 0.05, 0.08, 0.1, 0.15])
    options = parser.parse_args()
    robot = load_robot(ROBOTS / "fr3")
    engine = CpuEngine(robot, Pose.identity(), lambda _share, _text: None)
    for speed in progress(options.speeds, "moving belt"):
        for name, work in (("pick", picked), ("place", placed)):
            ends = Counter[str]()
            for seed in range(options.seed, options.seed + options.runs):
                outcome = work(NudgedCell(robot, engine, "moving", seed), seed, speed)
                ends[outcome.code.name] += 1
                if not outcome.ok:
                    print(
                        f"    seed {seed}: {outcome.code.name} in {outcome.stage!r}: {outcome.message[:200]}"
                    )
            print(f"{name} at {speed:g} m/s: {wilson(ends['OK'], options.runs)}", flush=True)
    engine.close()


if __name__ == "__main__":
    main()
