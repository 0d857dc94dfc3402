"""Growth of the rate of planning with workers: ``python -m benchmarks.planning.batch [--plans 400] [--seed 0]``."""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np

from benchmarks.planning.demo import demo_world, down
from handiwork_core.contracts.planning import PlanRequest, PoseGoals
from handiwork_core.model.geometry import Pose
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_planning.process_pool import PlanPool


def problems(robot: Robot, count: int, seed: int) -> list[PlanRequest]:
    """Return requests from home to one random pose above the table or the bin each.

    Args:
        robot: The robot.
        count: Number of requests.
        seed: Seed of the poses and the requests.
    """
    rng, home = np.random.default_rng(seed), np.array(robot.arm("").home_q)
    return [
        PlanRequest(
            "",
            home,
            PoseGoals(
                (
                    down(
                        robot,
                        0.45 + rng.uniform(-0.05, 0.05),
                        float(rng.choice([-0.35, 0.2])) + rng.uniform(-0.05, 0.05),
                        rng.uniform(0.15, 0.3),
                        rng.uniform(-np.pi, np.pi),
                    ),
                )
            ),
            seed=seed + i,
        )
        for i in range(count)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plans", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    robot = load_robot(Path(__file__).parents[2] / "src/robot_description/robots/fr3")
    requests, world = problems(robot, options.plans, options.seed), demo_world()
    cores = len(os.sched_getaffinity(0))
    print(f"{'workers':>8}{'ready [s]':>12}{'plans/s':>10}{'times':>8}{'solved':>8}")
    alone = 0.0
    for workers in sorted({1, 2, 4, 8, cores} & set(range(1, cores + 1))):
        before = time.perf_counter()
        with PlanPool(robot, Pose.identity(), workers) as pool:
            pool.plan(world, requests[: 16 * workers])
            ready = time.perf_counter()
            results = pool.plan(world, requests)
            rate = len(requests) / (time.perf_counter() - ready)
        alone = alone or rate
        solved = sum(r.trajectory is not None for r in results)
        print(f"{workers:>8}{ready - before:>12.2f}{rate:>10.0f}{rate / alone:>8.2f}{solved:>8}")


if __name__ == "__main__":
    main()
