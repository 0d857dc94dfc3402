"""Handovers in physics: ``python -m benchmarks.skills.handover [--episodes 100] [--robot R] [--seed 0]``.

An arm picks its cube from the table of its robot and hands it over to the other arm; arms take turns from seed to seed.
The criterion is, in the settled world, that the fingers of the other arm alone touch the cube, far above the table.
Time passes only during waits for the world, so a seed repeats an episode. Every episode is printed with its seed. One
whose pick fails is counted as a failure of the pick, and not as a handover.
``--picture PATH`` writes the moments of the first episode instead.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

from benchmarks.two_arms.episodes import PLAN_S, SEARCH_S, Moments, engine_of, run
from handiwork_cli.processes.progress import progress
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.robot.robot import Robot
from handiwork_planning.cpu_engine import CpuEngine
from sim_bridge.mujoco.simulation import CONTROL_S
from skill_server.execution.run import ExecutionResult
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.two_arms.handover import Handover, HandoverParams
from skill_server.state.gripper_state import holds, touching_fingers
from support.cells.two_arm_cell import TwoArmCell

SCENES = {"lift2": "lift2_two_arms", "split_aloha": "split_aloha_table", "genie1": "genie1_table"}
SIDES = (("left_arm", "right_arm", "left_cube"), ("right_arm", "left_arm", "right_cube"))
"""The arm that gives, the one that takes, and the cube, for even and odd seeds."""
SETTLE_S, LEAST_HEIGHT_M = 0.5, 0.06

MOMENTS = ("take: approach", "take: grasp", "give: release")
"""The stages at whose beginning the picture shows the cell, and its end."""
FROM_OBJECT_M = np.array([1.15, -0.45, 0.15])
"""Where the camera is, seen from the object in the moment before the first hand opens."""


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
    engine = engine_of(robot, SCENES[robot.name])
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


def draw(robot: Robot, seed: int, path: Path) -> None:
    """Write a picture of the moments of an episode.

    Args:
        robot: The robot.
        seed: Seed of scene and choices.
        path: The PNG file.

    Raises:
        RuntimeError: The episode failed.
    """
    scene = SCENES[robot.name]
    engine = engine_of(robot, scene)
    cell = TwoArmCell(robot, engine, scene, seed)
    moments = Moments(cell, MOMENTS)
    giver, _, name = SIDES[seed % 2]
    pick = PickParams(object=name, allowed_planning_time=PLAN_S, seed=seed)
    runs = (cell.run(Pick(), pick, giver), cell.run(Handover(), goal(seed), giver, moments.take))
    engine.close()
    for ended in runs:
        if not ended.outcome.ok:
            raise RuntimeError(str(ended.outcome))
    moments.write(scene, moments.place("give: release", name), FROM_OBJECT_M, path)


HEADER = (
    "| robot | seeds | good | interval | again | processor p50 / p95 [s] | robot's time p50 / p95 [s] | failures |"
    " picks that failed |\n|---|---|---:|---:|---:|---:|---:|---|---:|"
)

if __name__ == "__main__":
    sys.exit(run(__doc__, tuple(SCENES), HEADER, measure, draw))
