"""Percentiles of the CPU engine on the demo scene: ``python -m benchmarks.planning [--runs 100] [--seed 0]``."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from handiwork_cli.processes.progress import progress
from handiwork_core.contracts.planning import (
    Attachment,
    Candidate,
    CandidatesRequest,
    Engine,
    PlanRequest,
    PlanResult,
    PoseGoals,
    SceneQuery,
)
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import BodyPair
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from planner_node.engines import CpuEngine

from .demo import demo_world, down


def clocked(work: Callable[[int], object], runs: int) -> Array:
    """Return the wall time of each run, (runs,), ms.

    Args:
        work: Called with the index of the run.
        runs: Number of runs.
    """
    spent = []
    for i in progress(range(runs), "planning"):
        before = time.perf_counter()
        work(i)
        spent.append(1e3 * (time.perf_counter() - before))
    return np.array(spent)


def show(name: str, ms: Array) -> None:
    """Print one row of percentiles.

    Args:
        name: Its label.
        ms: Times, (n,), ms.
    """
    p50, p95, p99 = np.percentile(ms, [50, 95, 99])
    print(f"{name:<34}{p50:>9.2f}{p95:>9.2f}{p99:>9.2f}{len(ms):>7}")


def with_cube(robot: Robot) -> SceneQuery:
    """Return the scene in which the hand holds the cube between its fingers.

    Args:
        robot: The robot.
    """
    gripper, arm = robot.arm("").gripper, robot.arm("")
    assert gripper is not None
    ee_T_cube = Pose.of((0.0, 0.0, gripper.tcp_offset_m))
    hand = (arm.ee_link, *gripper.finger_links)
    allowed = frozenset(BodyPair(f"{robot.name}/{link}", "cube") for link in hand)
    return SceneQuery(attached=(Attachment("cube", arm.ee_link, ee_T_cube),), allowed=allowed)


def measure(engine: Engine, robot: Robot, runs: int, seed: int) -> None:
    """Print the table.

    Args:
        engine: The planner.
        robot: The robot.
        runs: Number of plans.
        seed: Seed of goals and plans.
    """
    rng, home, yaws = (
        np.random.default_rng(seed),
        np.array(robot.arm("").home_q),
        np.linspace(-np.pi, np.pi, 41)[:-1],
    )
    world, results = demo_world(), []
    goals = [
        PoseGoals(
            tuple(
                down(
                    robot,
                    0.45 + rng.uniform(-0.05, 0.05),
                    y + rng.uniform(-0.05, 0.05),
                    rng.uniform(0.15, 0.3),
                    yaw,
                )
                for yaw in yaws[::5]
            )
        )
        for y in rng.choice([-0.35, 0.2], runs)
    ]
    candidates = tuple(
        Candidate((down(robot, 0.5, 0.0, 0.125, yaw), down(robot, 0.5, 0.0, 0.025, yaw))) for yaw in yaws
    )
    request = CandidatesRequest("", home, candidates, (SceneQuery(), SceneQuery(ignored=frozenset({"cube"}))))
    print(f"{'[ms]':<34}{'p50':>9}{'p95':>9}{'p99':>9}{'runs':>7}")
    show("scene update, poses", clocked(lambda _i: engine.update_world(world), runs))
    show(
        "plan, 8 pose goals",
        clocked(
            lambda i: results.append(
                engine.plan(PlanRequest("", home, goals[i], seed=seed + i), lambda: False)
            ),
            runs,
        ),
    )
    carrying, carried = with_cube(robot), list[PlanResult]()
    show(
        "plan, 8 pose goals, cube in hand",
        clocked(
            lambda i: carried.append(
                engine.plan(PlanRequest("", home, goals[i], carrying, seed=seed + i), lambda: False)
            ),
            runs,
        ),
    )
    good = [r.trajectory for r in results if r.trajectory is not None]
    show(
        "candidates, 40 x 2 way points",
        clocked(lambda _i: engine.check_candidates(request, lambda: False), 20),
    )
    show("validate", clocked(lambda i: engine.validate("", good[i], SceneQuery(), home), len(good)))
    print(f"solved {len(good)} of {runs}; motion p50 {np.median([t.duration_s for t in good]):.2f} s")
    moved = [r.trajectory for r in carried if r.trajectory is not None]
    print(
        f"with the cube {len(moved)} of {runs}; motion p50 {np.median([t.duration_s for t in moved]):.2f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    robot = load_robot(Path(__file__).parents[2] / "src/robot_description/robots/fr3")
    before = time.perf_counter()
    engine = CpuEngine(robot, Pose.identity(), lambda _share, _text: None)
    print(f"engine ready after {time.perf_counter() - before:.2f} s")
    engine.update_world(demo_world())
    measure(engine, robot, options.runs, options.seed)


if __name__ == "__main__":
    main()
