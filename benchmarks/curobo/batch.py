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
from planner_node.engines.curobo import batch_core
from planner_node.engines.curobo_batch import CuroboPool

from .machine import fr3
from .soak import changed

LANES = (256, 1024)
PROBLEMS = 1024
WORKERS = 16
ITERATIONS = (25, 50)
HEADS = (
    "planner", "solved", "by the CPU's search", "refused by the referee", "ms each", "problems/s", "motion s, mean",
)  # fmt: skip


def main(_options: argparse.Namespace) -> int:
    cpu = CpuEngine(fr3(), Pose.identity(), lambda _share, _text: None)
    own = hard_enough(fr3(), 2 * PROBLEMS)
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
        problems: The problems. The first half only warms the planners; the other half is new to them.
        cpu: The CPU engine.
    """
    warm, fresh = problems[:PROBLEMS], problems[PROBLEMS:]
    lines, wrong = [], 0
    with PlanPool(fr3(), Pose.identity(), WORKERS) as many:
        run(many, warm)
        before = time.perf_counter()
        pooled = run(many, fresh)
        spent = time.perf_counter() - before
        lines.append(line(f"`PlanPool`, {WORKERS} workers", pooled, 0, judged(cpu, fresh, pooled), spent))
    before = time.perf_counter()
    plain = [alone(cpu, problem) for problem in fresh]
    spent = time.perf_counter() - before
    lines.append(line("CPU engine, one core", plain, 0, judged(cpu, fresh, plain), spent))
    for lanes, iterations, workers in (
        *((lanes, i, WORKERS) for i in ITERATIONS for lanes in LANES),
        (LANES[0], ITERATIONS[0], 1),
    ):
        what = f"cuRobo, {lanes} at a time, {iterations} iterations, {workers} workers"
        row, refused = of_gpu(what, (warm, fresh), (lanes, iterations, workers), cpu)
        lines.append(row)
        wrong += refused
        print(" | ".join(row), flush=True)
    print(f"\n{name}:\n\n{markdown(HEADS, lines)}", flush=True)
    return wrong


def of_gpu(
    name: str, problems: tuple[list[Problem], list[Problem]], size: tuple[int, int, int], cpu: CpuEngine
) -> tuple[list[str], int]:
    """Measure cuRobo, and return a row of the table and the number of motions that the referee refused.

    Args:
        name: Label of the row.
        problems: Those that warm the planner, and those that are measured.
        size: Lanes, iterations and workers.
        cpu: The CPU engine.
    """
    lanes, iterations, workers = size
    warm, fresh = problems
    batch_core.LANE_ITERATIONS = iterations
    before = time.perf_counter()
    with CuroboPool(fr3(), Pose.identity(), lanes, workers) as pool:
        run(pool, warm)
        run(pool, warm)
        print(f"{name}: built and warm after {time.perf_counter() - before:.1f} s", flush=True)
        handed = pool.core.handed_over
        before = time.perf_counter()
        results = run(pool, fresh)
        spent = time.perf_counter() - before
        handed = pool.core.handed_over - handed
        again = run(pool, fresh)
        same = all(_alike(a, b) for a, b in zip(results, again, strict=True))
        print(f"{name}: planned again, the motions are {'the same' if same else 'OTHERS'}")
        refused = judged(cpu, fresh, results)
    return line(name, results, handed, refused, spent), refused


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


def run(pool: CuroboPool | PlanPool, problems: list[Problem]) -> list[PlanResult]:
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
        f"{np.mean([r.trajectory.duration_s for r in results if r.trajectory is not None]):.3f}",
    ]


def _alike(a: PlanResult, b: PlanResult) -> bool:
    if a.trajectory is None or b.trajectory is None:
        return a.code is b.code and a.trajectory is b.trajectory
    fields = [f.name for f in dataclasses.fields(a.trajectory) if f.name != "joint_names"]
    return all(np.array_equal(getattr(a.trajectory, f), getattr(b.trajectory, f)) for f in fields)
