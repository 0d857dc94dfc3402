"""Cost of the second judgement of trajectories, for every robot.

``python -m benchmarks.planning.validation [--robot lift2]``.

Each arm moves between free configurations over its own table; if a robot has two arms, the same motions are judged
once more against the other arm on a way of its own. Processor time.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from handiwork_cli.processes.progress import progress
from handiwork_cli.stack.demo_cells import robot_of, scene_of, standing_robots
from handiwork_core.contracts.planning import (
    JointGoals,
    OtherArm,
    PlanRequest,
    SceneQuery,
)
from handiwork_core.model.geometry import Array
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot
from handiwork_core.scene.loader import load_scene
from handiwork_planning.cpu_engine import CpuEngine
from sim_bridge.mujoco.simulation import Simulation

ROOT = Path(__file__).parents[2]
SPREAD_RAD = 0.6
"""Largest distance of goals from home, per joint, rad."""


def motions(engine: CpuEngine, robot: Robot, arm: str, count: int, seed: int) -> list[Trajectory]:
    """Return plans from home to random configurations.

    Args:
        engine: The planner.
        robot: The robot.
        arm: Name of the arm.
        count: Number of plans.
        seed: Seed of the configurations.
    """
    rng, home, found = np.random.default_rng(seed), np.array(robot.arm(arm).home_q), []
    for i in range(20 * count):
        goal = JointGoals(home[None] + rng.uniform(-SPREAD_RAD, SPREAD_RAD, (1, len(home))))
        result = engine.plan(PlanRequest(arm, home, goal, seed=i), lambda: False)
        if result.trajectory is not None:
            found.append(result.trajectory)
        if len(found) == count:
            break
    return found


def judged(engine: CpuEngine, robot: Robot, arm: str, ways: list[Trajectory], query: SceneQuery) -> Array:
    """Return the processor time of each judgement, (k,), ms.

    Args:
        engine: The planner.
        robot: The robot.
        arm: Name of the arm.
        ways: Its motions.
        query: The scene.
    """
    spent, home = [], np.array(robot.arm(arm).home_q)
    for way in ways:
        before = time.process_time()
        engine.validate(arm, way, query, home)
        spent.append(1e3 * (time.process_time() - before))
    return np.array(spent)


def measure(name: str, runs: int, seed: int) -> None:
    """Print one line for each arm, and one for each against the other arm.

    Args:
        name: Name of the robot.
        runs: Number of motions.
        seed: Seed of the motions.
    """
    robot = robot_of(name)
    scene = load_scene(ROOT / f"config/scenes/{scene_of(name)}.yaml")
    simulation = Simulation(robot, scene)
    objects = {item.name: item.body for item in scene.objects}
    engine = CpuEngine(robot, scene.world_T_base, lambda _share, _text: None)
    engine.update_world(World(0.0, 1, objects, simulation.world.object_states()))
    ways = {arm: motions(engine, robot, arm, runs, seed) for arm in robot.arms}
    for arm, found in ways.items():
        show(f"{name} {arm}", judged(engine, robot, arm, found, SceneQuery()))
        for other in robot.arms:
            if other != arm:
                there = SceneQuery(others=(OtherArm(other, ways[other][0].q),))
                show(f"{name} {arm}, {other} moving", judged(engine, robot, arm, found, there))
    engine.close()


def show(what: str, ms: Array) -> None:
    """Print one line of the table.

    Args:
        what: Its label.
        ms: Times, (n,), ms.
    """
    p50, p95 = np.percentile(ms, [50, 95])
    print(f"| {what} | {len(ms)} | {p50:.1f} | {p95:.1f} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.planning.validation", description=__doc__)
    parser.add_argument("--robot", default="", help="one robot, not all")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print("| what is judged | runs | p50, ms | p95, ms |\n| --- | ---: | ---: | ---: |")
    for name in progress([options.robot] if options.robot else standing_robots(), "validation"):
        measure(name, options.runs, options.seed)


if __name__ == "__main__":
    main()
