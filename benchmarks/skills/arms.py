"""Pick and place by every arm in physics: ``python -m benchmarks.skills.arms [--episodes 100] [--robot R] [--arm A]``.

The scenes, objects and goals are those of ``handiwork soak``, without ROS: time passes only during waits for the
world, so an episode costs its computing time alone, and a seed repeats scene and choices. Every failure is printed
with its seed: ``--robot R --arm A --seed N --episodes 1`` repeats it. The criteria are Place's own verdict and, in
the settled world, that the object's middle is within the box around the container.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test"))

from handiwork_cli.processes.progress import progress  # noqa: E402
from handiwork_cli.stack.demo_cells import (  # noqa: E402
    Target,
    robot_of,
    scene_of,
    standing_robots,
    target_of,
)
from handiwork_core.model.outcome import OK, Code, Outcome  # noqa: E402
from handiwork_core.robot.robot import Robot  # noqa: E402
from handiwork_core.scene.loader import load_scene  # noqa: E402
from handiwork_planning.cpu_engine import CpuEngine  # noqa: E402
from sim_bridge.mujoco.simulation import CONTROL_S  # noqa: E402
from skill_server.execution.run import run_skill  # noqa: E402
from skill_server.geometry.solids import object_box  # noqa: E402
from skill_server.skills.pick_place.pick import Pick, PickParams  # noqa: E402
from skill_server.skills.pick_place.place import Place, PlaceParams  # noqa: E402
from support.cells.simulated_cell import SimulatedCell  # noqa: E402
from support.cells.suction_cell import SuctionCell  # noqa: E402

NEEDED_RATE = 0.98
PATIENCE_S = 60.0
"""Steady time for one plan, s: long, so that a busy machine does not change the result."""
SETTLE_S = 0.5


def inside(cell: SimulatedCell, target: Target) -> Outcome:
    """Check whether the settled object's middle is within the box around its container.

    Args:
        cell: The cell after Place.
        target: Object and container.
    """
    cell.sim.advance(int(SETTLE_S / CONTROL_S))
    poses = {name: state.world_T_object for name, state in cell.snapshot().states.items()}
    box = object_box(cell.objects[target.container]).moved(poses[target.container])
    middle = (box.pose.inverse() @ poses[target.object]).translation_m
    if np.all(np.abs(middle) < box.size / 2):
        return OK
    text = f"{target.object} is {middle.round(3).tolist()} from the middle of {target.container}"
    return Outcome(Code.NOT_IN_PLACE, text)


def episode(
    robot: Robot, engine: CpuEngine, scene: str | Path, target: Target, seed: int
) -> tuple[str, Outcome]:
    """Run Pick, Place and the check, and return the part that ended the episode, and its outcome.

    Args:
        robot: The robot.
        engine: The planner.
        scene: Name of the scene, or its file.
        target: Object, container and arm.
        seed: Seed of scene and choices.
    """
    gripper = robot.arm(target.arm).gripper
    cell_of = SimulatedCell if gripper is None or gripper.suction is None else SuctionCell
    cell = cell_of(robot, engine, scene, seed, target.arm)
    context = cell.context(seed)
    pick = PickParams(object=target.object, allowed_planning_time=PATIENCE_S)
    ended = run_skill(Pick(), pick, context).outcome
    if not ended.ok:
        return "pick", ended
    place = PlaceParams(container=target.container, allowed_planning_time=PATIENCE_S)
    ended = run_skill(Place(), place, replace(context, planning_time_s=0.0, refused=[])).outcome
    return ("place", ended) if not ended.ok else ("verdict", inside(cell, target))


def measure(robot: Robot, name: str, arm: str, seeds: range) -> float:
    """Print the failures and one row of the table, and return the share of good episodes.

    Args:
        robot: The robot.
        name: Its name.
        arm: Name of the arm.
        seeds: Seeds of the episodes.
    """
    target, scene = target_of(robot, arm), scene_of(name)
    base = load_scene(ROOT / f"config/scenes/{scene}.yaml").world_T_base
    engine = CpuEngine(robot, base, lambda _part, _what: None)
    failed, spent = Counter[str](), list[float]()
    for seed in progress(seeds, "arms"):
        began = time.process_time()
        part, ended = episode(robot, engine, scene, target, seed)
        spent.append(time.process_time() - began)
        if not ended.ok:
            failed[f"{part} {ended.code.name} ({seed})"] += 1
            print(
                f"  {name} {arm} seed {seed}: {part} {ended.stage}: {ended.code.name}: {ended.message}",
                flush=True,
            )
    engine.close()
    good = len(seeds) - failed.total()
    p50, p95 = np.percentile(spent, (50, 95))
    causes = ", ".join(failed) or "-"
    rate = good / len(seeds)
    print(
        f"| {name} | {arm} | {good}/{len(seeds)} | {100 * rate:.1f} % | {p50:.2f} s | {p95:.2f} s | {causes} |",
        flush=True,
    )
    return rate


def cases(name: str, arm: str) -> Iterator[tuple[Robot, str, str]]:
    """Yield every robot, its name, and arm.

    Args:
        name: Name of one robot; empty for all that have a table.
        arm: Name of one arm; empty for all.
    """
    for found in [name] if name else standing_robots():
        robot = robot_of(found)
        yield from ((robot, found, each) for each in ([arm] if arm else robot.arms))


def main() -> int:
    """Measure, and return zero exactly when enough episodes of every arm succeed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--robot", default="")
    parser.add_argument("--arm", default="")
    parser.add_argument("--seed", type=int, default=0, help="of the first episode")
    wanted = parser.parse_args()
    print(
        "| robot | arm | success | rate | processor time p50 | p95 | causes (seeds) |\n"
        "|---|---|---:|---:|---:|---:|---|"
    )
    seeds = range(wanted.seed, wanted.seed + wanted.episodes)
    rates = [measure(*case, seeds) for case in cases(wanted.robot, wanted.arm)]
    return 0 if min(rates) >= NEEDED_RATE else 1


if __name__ == "__main__":
    sys.exit(main())
