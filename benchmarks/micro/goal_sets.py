"""Cost of a plan to any of 100 poses, compared with a plan to one."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from benchmarks.mbm.measure import make_engine
from benchmarks.mbm.problems import Problem, load_problems
from benchmarks.mbm.referee import Referee
from benchmarks.mbm.rows import markdown, share
from benchmarks.mbm.sphere_robot import SphereRobot, load_sphere_robot
from handiwork_cli.processes.progress import progress
from handiwork_core.contracts.planning import PlanRequest, PoseGoals
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.robot.kinematics import forward
from handiwork_planning.cpu_engine import CpuEngine

from .clocked import HEADS, clocked, words

SPREAD_RAD, CLEAR_M, BUDGET_S = 0.1, 0.003, 5.0
DISTINCT = 1000
"""Largest number of different poses; more repeat these with tiny offsets: to find them takes long, at the same cost."""


def poses_near(robot: SphereRobot, problem: Problem, count: int, seed: int = 0) -> tuple[Pose, ...]:
    """Return the problem's goal pose first, then others that free configurations around its goal reach.

    Args:
        robot: The robot.
        problem: The problem.
        count: Number of poses.
        seed: Seed of the configurations.
    """
    rng, referee = np.random.default_rng(seed), Referee(robot.robot, robot.world_T_root)
    found, spread = [problem.goals[0]], SPREAD_RAD
    while len(found) < min(count, DISTINCT):
        draws = problem.goals[0] + rng.normal(scale=spread, size=(256, len(problem.start)))
        good = draws[referee.clearances(draws, problem.world).min(axis=1) > CLEAR_M]
        found += list(good)
        spread *= 1.0 if len(good) > 25 else 0.7  # narrow places: look closer to the goal
    many = np.resize(found, (count, len(problem.start)))
    many[DISTINCT:] += rng.normal(scale=2e-4, size=many[DISTINCT:].shape)  # less than CLEAR_M at the tool
    return tuple(robot.world_T_base @ forward(robot.robot, "", q) for q in many)


def plans_to(
    engine: CpuEngine, problems: Sequence[Problem], goals: Sequence[tuple[Pose, ...]], seeds: int
) -> tuple[list[str], Array]:
    """Plan to any of the poses of each problem.

    Args:
        engine: The engine.
        problems: The problems.
        goals: Poses of each problem.
        seeds: Attempts at each problem.

    Returns:
        The share solved and percentiles as cells, and the time of each solved attempt, (n,), s.
    """
    solved: list[bool] = []
    spent: list[float] = []
    for problem, poses in progress(zip(problems, goals, strict=True), "goal sets", total=len(problems)):
        engine.update_world(problem.world)
        requests = [
            PlanRequest("", problem.start, PoseGoals(poses), budget_s=BUDGET_S, seed=seed)
            for seed in range(seeds)
        ]
        results, times = clocked(lambda request: engine.plan(request, lambda: False), requests)
        solved += [result.code is Code.OK for result in results]
        spent += times.tolist()
    good = np.array(spent)[solved]
    return [share(solved), *words(good)], good


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--per-scene", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    robot = load_sphere_robot("panda")
    engine, lines, medians = make_engine(robot), [], []
    problems = load_problems("panda", per_scene=options.per_scene)
    sets = [poses_near(robot, problem, 100) for problem in problems]
    for count in (1, 100):
        line, spent = plans_to(engine, problems, [poses[:count] for poses in sets], options.seeds)
        lines.append([f"{count}", *line])
        medians.append(float(np.median(spent)))
    print(markdown(("goal poses", "solved %", *(f"full plan, ms {head}" for head in HEADS)), lines))
    print(f"\n100 poses against one, median: {medians[1] / medians[0]:.2f}x")


if __name__ == "__main__":
    main()
