"""Growth of the cost with bodies, goals, robot spheres and joints."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from benchmarks.mbm.engine_adapter import checker
from benchmarks.mbm.measure import make_engine
from benchmarks.mbm.problems import Problem, load_problems
from benchmarks.mbm.rows import markdown, share
from benchmarks.mbm.sphere_robot import SphereRobot, load_sphere_robot
from handiwork_core.model.outcome import Code
from handiwork_planning.cpu_engine import CpuEngine

from .checks import best_us, samples
from .clocked import HEADS, clocked, words
from .goal_sets import BUDGET_S, plans_to, poses_near
from .synthetic import REACH_M, panda_of_spheres, pandas_in_series, problem_among

BODIES, GOALS, SPHERES = (1, 3, 10, 30, 100, 300, 1000), (1, 10, 100, 1000, 10_000), (20, 40, 59, 100, 200)
COLUMNS = ("us per check", "solved %", *(f"full plan, ms {head}" for head in HEADS))


def plans(engine: CpuEngine, problems: Sequence[Problem], seeds: int) -> list[str]:
    """Return the share solved and percentiles of full plans as cells.

    Args:
        engine: The engine.
        problems: The problems.
        seeds: Attempts at each problem.
    """
    solved: list[bool] = []
    spent: list[float] = []
    for problem in problems:
        engine.update_world(problem.world)
        requests = [problem.request(budget_s=BUDGET_S, seed=seed) for seed in range(seeds)]
        results, times = clocked(lambda request: engine.plan(request, lambda: False), requests)
        solved += [result.code is Code.OK for result in results]
        spent += times.tolist()
    return [share(solved), *words(np.array(spent)[solved])]


def check_us(engine: CpuEngine, robot: SphereRobot, problem: Problem, count: int) -> str:
    """Return the time of one collision check along motions in the problem's world, us.

    Args:
        engine: The engine.
        robot: The robot.
        problem: The problem.
        count: Number of configurations.
    """
    engine.update_world(problem.world)
    return f"{best_us(checker(engine), samples(robot.robot, count)['along motions']):.3f}"


def bodies(problems: int, seeds: int) -> str:
    """Return the table for boxes of 3 cm around the Panda, from 50 on in a room that grows with them: equally dense.

    Args:
        problems: Number of problems.
        seeds: Attempts at each.
    """
    robot, lines = load_sphere_robot("panda"), []
    engine = make_engine(robot)
    for count in BODIES:
        room_m = REACH_M * max(1.0, count / 50.0) ** (1.0 / 3.0)
        some = [problem_among(robot, count, seed, room_m) for seed in range(problems)]
        lines.append([str(count), check_us(engine, robot, some[0], 3200), *plans(engine, some, seeds)])
    return markdown(("bodies", *COLUMNS), lines)


def goals(problems: int, seeds: int) -> str:
    """Return the table for poses around the goals of published problems.

    Args:
        problems: Number of problems.
        seeds: Attempts at each.
    """
    robot = load_sphere_robot("panda")
    engine, some = (
        make_engine(robot),
        load_problems("panda", ["table_pick", "bookshelf_tall"], per_scene=problems // 2),
    )
    sets = [poses_near(robot, problem, GOALS[-1]) for problem in some]
    lines = [
        [str(count), "-", *plans_to(engine, some, [poses[:count] for poses in sets], seeds)[0]]
        for count in GOALS
    ]
    return markdown(("goal poses", *COLUMNS), lines)


def spheres(problems: int, seeds: int) -> str:
    """Return the table for the Panda in more or less detail, on published problems that stay solvable with any.

    Args:
        problems: Number of problems.
        seeds: Attempts at each.
    """
    lines, some = [], load_problems("panda", ["table_pick"], per_scene=problems)
    for count in SPHERES:
        robot = panda_of_spheres(count)
        engine = make_engine(robot)
        lines.append([str(count), check_us(engine, robot, some[0], 3200), *plans(engine, some, seeds)])
    return markdown(("robot spheres", *COLUMNS), lines)


def arms(problems: int, seeds: int) -> str:
    """Return the table for arms with more joints, among ten boxes each.

    Args:
        problems: Number of problems.
        seeds: Attempts at each.
    """
    lines = []
    robots = {
        "6 (UR5)": load_sphere_robot("ur5"),
        "7 (Panda)": load_sphere_robot("panda"),
        "14 (Panda on Panda)": pandas_in_series(),
    }
    for name, robot in robots.items():
        engine = make_engine(robot)
        some = [problem_among(robot, 10, seed) for seed in range(problems)]
        lines.append([name, check_us(engine, robot, some[0], 3200), *plans(engine, some, seeds)])
    return markdown(("joints", *COLUMNS), lines)


PARTS = {"bodies": bodies, "goals": goals, "spheres": spheres, "arms": arms}


def main() -> None:
    """Print one table per part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--problems", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    for part in options.parts.split(","):
        print(PARTS[part](options.problems, options.seeds), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
