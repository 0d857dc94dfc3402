"""Picks by a robot of a folder, in physics and without ROS: ``python -m benchmarks.skills.picks ROBOT SCENE``.

ROBOT is a folder of ``handiwork new-robot``, SCENE a scene file with the object in the robot's reach. Each failure is
printed with its seed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from scipy.stats import binomtest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test"))

from handiwork_core.robot_files.loader import load_robot  # noqa: E402
from handiwork_core.scene.loader import load_scene  # noqa: E402
from handiwork_planning.cpu_engine import CpuEngine  # noqa: E402
from skill_server.execution.run import run_skill  # noqa: E402
from skill_server.skills.pick_place.pick import Pick, PickParams  # noqa: E402
from support.cells.simulated_cell import SimulatedCell  # noqa: E402

from .arms import PATIENCE_S  # noqa: E402


def main() -> int:
    """Print the failures and a row, and return zero exactly when all picks were good."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("robot", type=Path)
    parser.add_argument("scene", type=Path)
    parser.add_argument("--object", default="cube")
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="of the first episode")
    wanted = parser.parse_args()
    robot = load_robot(wanted.robot)
    engine = CpuEngine(robot, load_scene(wanted.scene).world_T_base, lambda _part, _what: None)
    good = 0
    for seed in range(wanted.seed, wanted.seed + wanted.episodes):
        context = SimulatedCell(robot, engine, wanted.scene, seed).context(seed)
        params = PickParams(object=wanted.object, allowed_planning_time=PATIENCE_S)
        ended = run_skill(Pick(), params, context).outcome
        good += ended.ok
        if not ended.ok:
            print(
                f"  {robot.name} seed {seed}: {ended.stage}: {ended.code.name}: {ended.message}", flush=True
            )
    engine.close()
    low, high = binomtest(good, wanted.episodes).proportion_ci(method="wilson")
    print(
        f"{robot.name}: {good} of {wanted.episodes} picks, 95 % interval {100 * low:.0f} to {100 * high:.0f} %"
    )
    return 0 if good == wanted.episodes else 1


if __name__ == "__main__":
    sys.exit(main())
