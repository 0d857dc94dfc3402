"""Handovers in physics: ``python -m benchmarks.skills.handover [--episodes 100] [--robot R] [--seed 0]``.

An arm picks its cube from the table of its robot and hands it over to the other arm; arms take turns from seed to seed.
The criterion is, in the settled world, that the fingers of the other arm alone touch the cube, far above the table.
Time passes only during waits for the world, so a seed repeats an episode. Every episode is printed with its seed. One
whose pick fails is counted as a failure of the pick, and not as a handover.
``--picture PATH`` writes the moments of the first episode instead.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test"))

from handiwork_cli.processes.progress import progress  # noqa: E402
from handiwork_core.contracts.skill import Progress  # noqa: E402
from handiwork_core.model.geometry import frozen  # noqa: E402
from handiwork_core.model.outcome import OK, Code, Outcome  # noqa: E402
from handiwork_core.robot.robot import Robot  # noqa: E402
from handiwork_core.robot_files.loader import load_robot  # noqa: E402
from handiwork_core.scene.loader import load_scene  # noqa: E402
from handiwork_planning.cpu_engine import CpuEngine  # noqa: E402
from handiwork_viz.film.camera import SUN, Camera  # noqa: E402
from handiwork_viz.film.film import Projection, write_still  # noqa: E402
from handiwork_viz.film.recorder import FilmRecording, Instant  # noqa: E402
from sim_bridge.mujoco.simulation import CONTROL_S  # noqa: E402
from skill_server.execution.run import ExecutionResult  # noqa: E402
from skill_server.skills.pick_place.pick import Pick, PickParams  # noqa: E402
from skill_server.skills.two_arms.handover import Handover, HandoverParams  # noqa: E402
from skill_server.state.gripper_state import holds, touching_fingers  # noqa: E402
from support.cells.two_arm_cell import TwoArmCell  # noqa: E402
from support.paths import ROBOTS  # noqa: E402

SCENES = {"lift2": "lift2_two_arms", "split_aloha": "split_aloha_table", "genie1": "genie1_table"}
SIDES = (("left_arm", "right_arm", "left_cube"), ("right_arm", "left_arm", "right_cube"))
"""The arm that gives, the one that takes, and the cube, for even and odd seeds."""
PLAN_S, SEARCH_S = 120.0, 600.0
"""Steady time for one plan and for one search, s: long, so that a busy machine does not change the result."""
SETTLE_S, LEAST_HEIGHT_M = 0.5, 0.06

MOMENTS = ("take: approach", "take: grasp", "give: release", "give: retreat")
"""The stages at whose beginning the picture shows the cell."""
FROM_OBJECT_M, VIEW_DEG = np.array([1.15, -0.45, 0.15]), 46.0
"""Where the camera is, seen from the object in the moment before the first hand opens, and its angle of view."""
VIEW_PX = (480, 360)


def verdict(cell: TwoArmCell, giver: str, taker: str, name: str) -> Outcome:
    """Check in the settled world that the other hand alone holds the object, above the table.

    Args:
        cell: The cell after the goal.
        giver: Arm that held the object.
        taker: Arm that is to hold it.
        name: The object.
    """
    cell.sim.advance(int(SETTLE_S / CONTROL_S))
    world, arms = cell.snapshot(), cell.robot.arms
    given, taken = arms[giver].gripper, arms[taker].gripper
    assert given is not None
    assert taken is not None
    found = holds(world, cell.robot, taken, name)
    if not found.ok:
        return found
    height_m = float(world.states[name].world_T_object.translation_m[2])
    if height_m < LEAST_HEIGHT_M:
        return Outcome(Code.OBJECT_DROPPED, f"{name} is {1e3 * height_m:.0f} mm above the table")
    if touching_fingers(world, cell.robot, given, name):
        return Outcome(Code.NOT_REACHED, f"{giver} still touches {name}")
    return OK


def episode(robot: Robot, engine: CpuEngine, seed: int) -> tuple[ExecutionResult | None, Outcome]:
    """Run the pick, the handover and the check.

    Args:
        robot: The robot.
        engine: The planner.
        seed: Seed of scene and choices.

    Returns:
        The result of the handover, None where the pick failed, and the outcome of the episode.
    """
    cell = TwoArmCell(robot, engine, SCENES[robot.name], seed)
    giver, taker, name = SIDES[seed % 2]
    pick = PickParams(object=name, allowed_planning_time=PLAN_S, seed=seed)
    picked = cell.run(Pick(), pick, giver)
    if not picked.outcome.ok:
        return None, picked.outcome
    ended = cell.run(Handover(), goal(seed), giver)
    return ended, verdict(cell, giver, taker, name) if ended.outcome.ok else ended.outcome


def goal(seed: int) -> HandoverParams:
    """Return the goal of an episode.

    Args:
        seed: Seed of the choices.
    """
    return HandoverParams(allowed_planning_time=PLAN_S, search_time=SEARCH_S, seed=seed)


def measure(robot: Robot, seeds: range) -> None:
    """Print the failures and one row of the table.

    Args:
        robot: The robot.
        seeds: Seeds of the episodes.
    """
    engine = engine_of(robot)
    failed, spent, moved = Counter[str](), list[float](), list[float]()
    unpicked, again = 0, 0
    for seed in progress(seeds, "handover"):
        began = time.process_time()
        ended, outcome = episode(robot, engine, seed)
        if ended is None:
            unpicked += 1
            print(f"  {robot.name} seed {seed}: pick: {outcome.message}", file=sys.stderr, flush=True)
            continue
        spent.append(time.process_time() - began)
        moved.append(ended.duration_s)
        again += sum(stage.stage == "present: move" for stage in ended.stages) > 1
        if not outcome.ok:
            failed[f"{outcome.stage or 'verdict'} {outcome.code.name} ({seed})"] += 1
        text = f"  {robot.name} seed {seed}: {outcome.code.name} {outcome.stage}: {outcome.message}"
        print(text, file=sys.stderr, flush=True)
    engine.close()
    n = len(seeds) - unpicked
    good = n - failed.total()
    low, high = binomtest(good, n).proportion_ci(method="wilson")
    times = " | ".join(
        f"{p50:.1f} / {p95:.1f}" for p50, p95 in (np.percentile(v, (50, 95)) for v in (spent, moved))
    )
    print(
        f"| {robot.name} | {seeds[0]} to {seeds[-1]} | {good} of {n} | {100 * low:.1f} to {100 * high:.1f} % |"
        f" {again} | {times} | {', '.join(failed) or '-'} | {unpicked} |",
        flush=True,
    )


def engine_of(robot: Robot) -> CpuEngine:
    """Return a planner for the robot where its scene has it.

    Args:
        robot: The robot.
    """
    base = load_scene(ROOT / f"config/scenes/{SCENES[robot.name]}.yaml").world_T_base
    return CpuEngine(robot, base, lambda _part, _what: None)


def draw(robot: Robot, seed: int, path: Path) -> None:
    """Write a picture of the moments of an episode.

    Args:
        robot: The robot.
        seed: Seed of scene and choices.
        path: The PNG file.

    Raises:
        RuntimeError: The episode failed.
    """
    engine = engine_of(robot)
    cell, taken = TwoArmCell(robot, engine, SCENES[robot.name], seed), dict[str, Instant]()
    giver, _, name = SIDES[seed % 2]

    def take(progress: Progress) -> None:
        if progress.stage in MOMENTS and progress.stage not in taken:
            taken[progress.stage] = _instant(cell)

    pick = PickParams(object=name, allowed_planning_time=PLAN_S, seed=seed)
    for ended in (cell.run(Pick(), pick, giver), cell.run(Handover(), goal(seed), giver, take)):
        if not ended.outcome.ok:
            raise RuntimeError(str(ended.outcome))
    engine.close()
    instants = [taken[moment] for moment in MOMENTS[:-1]] + [_instant(cell)]
    base = load_scene(ROOT / f"config/scenes/{SCENES[robot.name]}.yaml").world_T_base
    recording = FilmRecording(cell.objects, base, tuple(instants))
    middle = taken["give: release"].objects[name].translation_m
    camera = Camera(frozen(middle + FROM_OBJECT_M), frozen(middle), VIEW_DEG)
    views = Projection(recording, robot, ROBOTS / robot.name, camera, SUN).frames(instants, VIEW_PX)
    write_still(np.vstack([np.hstack(views[:2]), np.hstack(views[2:])]), path)


def _instant(cell: TwoArmCell) -> Instant:
    world = cell.snapshot()
    poses = {name: state.world_T_object for name, state in world.states.items()}
    return Instant(world.joints.position, poses)


def main() -> int:
    """Measure, and return 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--robot", choices=sorted(SCENES), action="append")
    parser.add_argument("--seed", type=int, default=0, help="of the first episode")
    parser.add_argument("--picture", type=Path, help="write a PNG of the moments of the first episode")
    wanted = parser.parse_args()
    robots = [load_robot(ROBOTS / name) for name in wanted.robot or SCENES]
    if wanted.picture:
        draw(robots[0], wanted.seed, wanted.picture)
        return 0
    print(
        "| robot | seeds | good | interval | again | processor p50 / p95 [s] | robot's time p50 / p95 [s] | failures |"
        " picks that failed |\n|---|---|---:|---:|---:|---:|---:|---|---:|"
    )
    for robot in robots:
        measure(robot, range(wanted.seed, wanted.seed + wanted.episodes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
