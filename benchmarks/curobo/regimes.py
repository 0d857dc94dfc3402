"""One pose on the FR3 by each variant of the cuRobo engine and by the CPU engine: times, and how long motions last."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np

from benchmarks.mbm.rows import markdown
from benchmarks.planning.demo import demo_world, down
from handiwork_core.contracts.planning import Engine, PlanRequest, PoseGoals
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.robot.robot import Robot
from planner_node.engines import CpuEngine, CuroboEngine
from planner_node.engines.curobo.solvers import single_solvers
from planner_node.engines.curobo_engine import FinetunedCuroboEngine

from .machine import fr3

PROBLEMS, WARM = 90, 3
HEADS = (
    "planner", "spheres", "ready s", "solved", "refused by the referee", "planned again", "by the CPU's search",
    "ms p50", "ms p95", "motion s, mean", "motion, ratio to the CPU's, mean",
)  # fmt: skip


class Waiting(CuroboEngine):
    """The engine as it is, except that requests wait for builds."""

    waits_for_builds = True


class WaitingFinetuned(FinetunedCuroboEngine):
    """The same with the passes that shorten motions."""

    waits_for_builds = True


def main(_options: argparse.Namespace) -> int:
    robot, wrong, lines = fr3(), 0, []
    fine = replace(robot, coarse_spheres=())
    requests = problems(robot)
    judge = CpuEngine(robot, Pose.identity(), lambda _share, _text: None)
    judge.update_world(demo_world())
    ms, lasts, _ = planned(judge, judge, requests)
    lines.append(
        ["CPU engine", "", "", f"{np.isfinite(lasts).sum()} of {PROBLEMS}", "0", "", "",
         *(f"{n:.2f}" for n in np.percentile(ms, (50, 95))), f"{np.nanmean(lasts):.3f}", "1"]
    )  # fmt: skip
    variants = (
        ("coarse spheres, one pass, 2 samples a piece", Waiting, robot, 50, 2),
        ("coarse spheres, one pass", Waiting, robot, 50, 4),
        ("coarse spheres, finetuned, 2 samples", WaitingFinetuned, robot, 50, 2),
        ("coarse spheres, finetuned", WaitingFinetuned, robot, 50, 4),
        ("coarse spheres, one pass of 100 iterations, 2 samples", Waiting, robot, 100, 2),
        ("fine spheres, one pass, 2 samples", Waiting, fine, 50, 2),
        ("fine spheres, one pass", Waiting, fine, 50, 4),
    )
    for name, kind, which, iterations, samples in variants:
        single_solvers.ITERATIONS, single_solvers.SAMPLES = iterations, samples
        before = time.perf_counter()
        made = kind(which, Pose.identity(), lambda _share, _text: None)
        ready_s = time.perf_counter() - before
        made.update_world(demo_world())
        core = made._gpu
        spent, durations, refused = planned(made, judge, requests)
        wrong += refused
        lines.append(
            [name, str(core.sphere_counts[0]), f"{ready_s:.1f}", f"{np.isfinite(durations).sum()} of {PROBLEMS}",
             str(refused), str(core.planned_again), str(core.handed_over),
             *(f"{n:.1f}" for n in np.percentile(spent, (50, 95))), f"{np.nanmean(durations):.3f}",
             f"{np.nanmean(durations / lasts):.3f}"]
        )  # fmt: skip
        print(f"GPU memory in use: {core.memory_bytes() / 2**20:.0f} MiB", flush=True)
        made.close()
    print(markdown(HEADS, lines), flush=True)
    return wrong


def problems(robot: Robot) -> list[PlanRequest]:
    """Return requests from home: to poses beside the cube, above the bin, and into the bin, a third each.

    Args:
        robot: The robot.
    """
    home, rng, found = np.array(robot.arm("").home_q), np.random.default_rng(4), []
    for i in range(PROBLEMS):
        x, y, low, high = ((0.45, 0.2, 0.15, 0.3), (0.45, -0.35, 0.2, 0.3), (0.45, -0.35, 0.1, 0.14))[i % 3]
        shift = rng.uniform(-0.04, 0.04, 2)
        pose = down(robot, x + shift[0], y + shift[1], rng.uniform(low, high), rng.choice([0.0, np.pi]))
        found.append(PlanRequest("", home, PoseGoals((pose,)), seed=i))
    return found


def planned(engine: Engine, judge: Engine, requests: list[PlanRequest]) -> tuple[Array, Array, int]:
    """Plan all requests; the first WARM twice.

    Args:
        engine: The planner.
        judge: The referee's engine.
        requests: The requests.

    Returns:
        Times, ms; durations of the motions, s, nan without one; the number of motions that the referee refuses.
    """
    for request in requests[:WARM]:
        engine.plan(request, lambda: False)
    spent, lasts, refused = np.empty(len(requests)), np.full(len(requests), np.nan), 0
    for i, request in enumerate(requests):
        before = time.perf_counter()
        result = engine.plan(request, lambda: False)
        spent[i] = 1e3 * (time.perf_counter() - before)
        if result.trajectory is not None:
            lasts[i] = result.trajectory.duration_s
            verdict = judge.validate("", result.trajectory, request.scene, request.start_q)
            refused += verdict.code is not Code.OK
    return spent, lasts, refused
