"""Independent problems, each in its own world: cuRobo all at once, the CPU engine one after the other on one core."""

from __future__ import annotations

import argparse
import dataclasses
import time

import numpy as np

from benchmarks.mbm.rows import markdown
from benchmarks.planning.demo import demo_world, down
from handiwork_core.contracts.planning import PlanRequest, PlanResult, PoseGoals
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot
from handiwork_planning.process_pool import PlanPool, Problem
from planner_node.engines import CpuEngine
from planner_node.engines.curobo_batch import CuroboPool

from .machine import fr3
from .soak import changed

LANES = (64, 256, 1024)
PROBLEMS = 1024
WORKERS = 16
HEADS = ("planner", "solved", "by the CPU's search", "refused by the referee", "ms each", "problems/s")


def main(_options: argparse.Namespace) -> int:
    cpu = CpuEngine(fr3(), Pose.identity(), lambda _share, _text: None)
    own = hard_enough(fr3(), PROBLEMS)
    world = changed(demo_world(), 2, np.random.default_rng(1))
    return sum(
        measured(name, problems, cpu)
        for name, problems in (
            ("one world", [Problem(world, problem.request) for problem in own]),
            ("own worlds", own),
        )
    )


def measured(name: str, problems: list[Problem], cpu: CpuEngine) -> int:
    """Print a table; return the number of motions that the referee refused.

    Args:
        name: What the problems are.
        problems: The problems.
        cpu: The CPU engine.
    """
    robot, lines, wrong = fr3(), [], 0
    for lanes in LANES:
        with CuroboPool(robot, Pose.identity(), lanes) as pool:
            before = time.perf_counter()
            run(pool, problems)
            run(pool, problems[:lanes])
            print(f"{lanes} lanes: built and warm after {time.perf_counter() - before:.1f} s", flush=True)
            handed = pool.core.handed_over
            before = time.perf_counter()
            results = run(pool, problems)
            spent = time.perf_counter() - before
            handed = pool.core.handed_over - handed
            again = run(pool, problems)
            same = all(_alike(a, b) for a, b in zip(results, again, strict=True))
            print(f"{lanes} lanes: planned again, the motions are {'the same' if same else 'OTHERS'}")
            refused = judged(cpu, problems, results)
            wrong += refused
            lines.append(line(f"cuRobo, {lanes} at a time", results, handed, refused, spent))
    before = time.perf_counter()
    plain = [alone(cpu, problem) for problem in problems]
    spent = time.perf_counter() - before
    lines.append(line("CPU engine, one core", plain, 0, judged(cpu, problems, plain), spent))
    with PlanPool(robot, Pose.identity(), WORKERS) as many:
        worlds, requests = [p.world for p in problems], [p.request for p in problems]
        many.plan(worlds, requests)
        before = time.perf_counter()
        pooled = many.plan(worlds, requests)
        spent = time.perf_counter() - before
        lines.append(line(f"`PlanPool`, {WORKERS} workers", pooled, 0, judged(cpu, problems, pooled), spent))
    print(f"\n{name}:\n\n{markdown(HEADS, lines)}", flush=True)
    return wrong


def hard_enough(robot: Robot, count: int) -> list[Problem]:
    """Return problems from home to one of a few poses, in the demo world with an object of its own beside them.

    Args:
        robot: The robot.
        count: Number of problems.
    """
    home, rng, problems = np.array(robot.arm("").home_q), np.random.default_rng(7), []
    for i in range(count):
        poses = tuple(
            down(robot, 0.45 + rng.uniform(-0.1, 0.1), rng.uniform(0.1, 0.4), rng.uniform(0.12, 0.3), yaw)
            for yaw in rng.uniform(-3, 3, 1 + i % 4)
        )
        world: World = changed(demo_world(), i, rng)
        start = home + rng.uniform(-0.3, 0.3, len(home))
        problems.append(Problem(world, PlanRequest("", start, PoseGoals(poses), seed=i)))
    return problems


def run(pool: CuroboPool, problems: list[Problem]) -> list[PlanResult]:
    """Plan all problems.

    Args:
        pool: The planners.
        problems: The problems.
    """
    return pool.plan([p.world for p in problems], [p.request for p in problems])


def alone(engine: CpuEngine, problem: Problem) -> PlanResult:
    """Plan one problem.

    Args:
        engine: The planner.
        problem: The problem.
    """
    engine.update_world(problem.world)
    return engine.plan(problem.request, lambda: False)


def judged(engine: CpuEngine, problems: list[Problem], results: list[PlanResult]) -> int:
    """Return the number of motions that the referee refuses.

    Args:
        engine: The referee's engine.
        problems: The problems.
        results: Their results.
    """
    refused = 0
    for problem, result in zip(problems, results, strict=True):
        if result.trajectory is None:
            continue
        engine.update_world(problem.world)
        verdict = engine.validate("", result.trajectory, problem.request.scene, problem.request.start_q)
        refused += verdict.code is not Code.OK
    return refused


def line(name: str, results: list[PlanResult], handed: int, refused: int, spent_s: float) -> list[str]:
    """Return a row of the table.

    Args:
        name: Its label.
        results: The results.
        handed: Number of problems that the CPU's search solved.
        refused: Number of motions that the referee refused.
        spent_s: Time of all problems, s.
    """
    solved = sum(result.code is Code.OK for result in results)
    each = 1e3 * spent_s / len(results)
    return [
        name,
        f"{solved} of {len(results)}",
        str(handed),
        str(refused),
        f"{each:.2f}",
        f"{1e3 / each:.0f}",
    ]


def _alike(a: PlanResult, b: PlanResult) -> bool:
    if a.trajectory is None or b.trajectory is None:
        return a.code is b.code and a.trajectory is b.trajectory
    fields = [f.name for f in dataclasses.fields(a.trajectory) if f.name != "joint_names"]
    return all(np.array_equal(getattr(a.trajectory, f), getattr(b.trajectory, f)) for f in fields)
