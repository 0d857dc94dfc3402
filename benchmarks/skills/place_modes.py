"""Success of Place in physics, by mode: ``python -m benchmarks.skills.place_modes [--episodes 10] [--mode cup]``.

Every episode is a seed of its own: scattered scene, Pick, Place. No ROS; time passes as fast as possible. A failure
is printed with its seed, so that ``--seed N --episodes 1 --mode M`` repeats it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test"))

from handiwork_cli.processes.progress import progress  # noqa: E402
from handiwork_core.model.outcome import Code, Outcome  # noqa: E402
from handiwork_core.robot.robot import Robot  # noqa: E402
from handiwork_core.robot_files.loader import load_robot  # noqa: E402
from handiwork_core.scene.loader import load_scene  # noqa: E402
from handiwork_planning.cpu_engine import CpuEngine  # noqa: E402
from skill_server.execution.run import run_skill  # noqa: E402
from skill_server.geometry.orientation_cones import OrientationFilter  # noqa: E402
from skill_server.skills.pick_place.pick import Pick, PickParams  # noqa: E402
from skill_server.skills.pick_place.place import Place, PlaceParams  # noqa: E402
from support.cells.simulated_cell import SimulatedCell  # noqa: E402

SCENE = "place_modes"
UNKNOWN = (Code.INTERNAL,)
PATIENCE_S = 60.0
"""Steady time for one plan, s: long, so that a busy machine does not change the result."""


@dataclass(frozen=True)
class Mode:
    """Parameters of Pick and Place."""

    pick: PickParams
    place: PlaceParams


CUBE = PickParams(object="cube")
FROM_THE_SIDE = (OrientationFilter("z", "forward", 0.0, 60.0),)
MODES = {
    "3diou": Mode(CUBE, PlaceParams(container="bin", success_mode="3diou", success_th=1e-4)),
    "xybbox": Mode(CUBE, PlaceParams(container="bin")),
    "height": Mode(
        CUBE,
        PlaceParams(
            container="chute",
            success_mode="height",
            heights_from="container_top",
            place_z_offset=0.78,
            pre_place_z_offset=0.85,
        ),
    ),
    "left": Mode(CUBE, PlaceParams(container="plate", success_mode="left", x_ratio_range=(-0.9, -0.6))),
    "right": Mode(CUBE, PlaceParams(container="plate", success_mode="right", x_ratio_range=(1.6, 1.9))),
    "flower": Mode(
        PickParams(object="stem"),
        PlaceParams(
            container="vase", success_mode="flower", x_ratio_range=(0.48, 0.52), y_ratio_range=(0.48, 0.52)
        ),
    ),
    "cup": Mode(
        PickParams(object="cup"),
        PlaceParams(
            container="rack", success_mode="cup", x_ratio_range=(0.45, 0.55), y_ratio_range=(0.45, 0.55)
        ),
    ),
    "horizontal": Mode(
        PickParams(object="cup", orientation_filters=FROM_THE_SIDE, post_grasp_offset_max=0.15),
        PlaceParams(
            container="shelf",
            place_part=0,
            place_direction="horizontal",
            align_place_obj_axis=(1.0, 0.0, 0.0),
            offset_place_obj_axis=(0.0, 0.0, 1.0),
            z_ratio_range=(1.0, 1.0),
            pre_place_align=-0.15,
            place_align=0.0,
            pre_place_offset=0.06,
            place_offset=0.05,
        ),
    ),
}


def episode(robot: Robot, engine: CpuEngine, mode: Mode, seed: int) -> tuple[str, Outcome]:
    """Run Pick and Place, and return the skill that ended the episode, and its outcome.

    Args:
        robot: The robot.
        engine: The planner.
        mode: Parameters of the skills.
        seed: Seed of scene and choices.
    """
    cell = SimulatedCell(robot, engine, SCENE, seed)
    context = cell.context(seed)
    ended = run_skill(
        Pick(), replace(mode.pick, seed=seed, allowed_planning_time=PATIENCE_S), context
    ).outcome
    if not ended.ok:
        return "pick", ended
    place = replace(mode.place, seed=seed, allowed_planning_time=PATIENCE_S)
    return "place", run_skill(Place(), place, replace(context, planning_time_s=0.0, refused=[])).outcome


def measure(robot: Robot, engine: CpuEngine, name: str, seeds: range) -> bool:
    """Print one row; return False when a failure has no cause of its own.

    Args:
        robot: The robot.
        engine: The planner.
        name: Name of the mode.
        seeds: Seeds of the episodes.
    """
    began, failed = time.process_time(), Counter[str]()
    known = True
    for seed in progress(seeds, "place modes"):
        skill, ended = episode(robot, engine, MODES[name], seed)
        if not ended.ok:
            failed[f"{skill} {ended.code.name}"] += 1
            known = known and ended.code not in UNKNOWN
            print(
                f"  {name} seed {seed}: {skill} in stage {ended.stage!r}: {ended.code.name}: {ended.message}"
            )
    good, spent = len(seeds) - failed.total(), (time.process_time() - began) / len(seeds)
    causes = ", ".join(f"{n} {cause}" for cause, n in failed.most_common()) or "-"
    print(
        f"{name:<12}{good:>5} of {len(seeds):<5}{100.0 * good / len(seeds):>6.1f} %{spent:>8.1f} s  {causes}",
        flush=True,
    )
    return known


def main() -> int:
    """Run the modes; not zero when a failure has no cause of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--mode", choices=sorted(MODES), action="append")
    parser.add_argument("--seed", type=int, default=0, help="of the first episode")
    wanted = parser.parse_args()
    robot = load_robot(ROOT / "src/robot_description/robots/fr3")
    base = load_scene(ROOT / f"config/scenes/{SCENE}.yaml").world_T_base
    engine = CpuEngine(robot, base, lambda _part, _what: None)
    print(f"{'mode':<12}{'good':>5}{'':<9}{'':>6}{'CPU each':>12}  failures")
    seeds = range(wanted.seed, wanted.seed + wanted.episodes)
    known = [measure(robot, engine, name, seeds) for name in wanted.mode or MODES]
    engine.close()
    return 0 if all(known) else 1


if __name__ == "__main__":
    sys.exit(main())
