"""MotionBenchMaker's scenes as clouds, planned by the FR3 with each engine, and judged in the true scenes."""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np

from benchmarks.curobo.machine import fr3
from benchmarks.curobo.mbm import suitable
from benchmarks.curobo.regimes import Waiting
from benchmarks.mbm.problems import Problem, load_problems
from benchmarks.mbm.rows import markdown
from benchmarks.mbm.sphere_robot import load_sphere_robot
from benchmarks.perception.mbm_clouds import seen
from handiwork_core.contracts.planning import PlanRequest, SceneQuery
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import World
from planner_node.engines import CpuEngine, CuroboEngine

CELL_M = 0.01
IN_COLLISION = (Code.START_IN_COLLISION, Code.GOAL_IN_COLLISION)
HEADS = (
    "scene", "engine", "solved", "clean in the true scene", "finished by the CPU's search",
    "ms p50", "ms p95", "a new map, ms p50",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Clouded:
    """A problem, its cloud as occupied cells, and the request."""

    problem: Problem
    cloud: World
    request: PlanRequest


def main(options: argparse.Namespace) -> int:
    """Plan in the clouds of problems that suit the FR3, print a table, and return the number of motions that touch.

    Those whose start or goal touches something, in the true scene or by its cloud's cells, are left out.

    Args:
        options: How many problems of each scene.
    """
    robot, world_T_base, lines, wrong = fr3(), load_sphere_robot("panda").world_T_root, [], 0
    judge = CpuEngine(robot, world_T_base, lambda _share, _text: None)
    of: dict[str, list[Clouded]] = {}
    asked = load_problems("panda", (), options.per_scene)
    for problem, request in suitable(judge, asked):
        cloud = seen(problem.world, world_T_base.translation_m, CELL_M)
        judge.update_world(cloud)
        if judge.plan(request, lambda: False).code not in IN_COLLISION:
            of.setdefault(problem.scene, []).append(Clouded(problem, cloud, request))
    print(f"{sum(map(len, of.values()))} of {len(asked)} problems suit the FR3 and are open in the cloud\n")
    engines = (Waiting(robot, world_T_base, lambda _s, _t: None), judge)
    for scene, cases in of.items():
        for engine in engines:
            line, touching = _row(engine, judge, cases)
            wrong += touching
            lines.append([scene, engine.name, *line])
        print(markdown(HEADS, lines[-2:]), flush=True)
    for engine in engines:
        engine.close()
    print(f"\ncells of {1e3 * CELL_M:g} mm or, in large scenes, more\n\n{markdown(HEADS, lines)}")
    return wrong


def _row(engine: CpuEngine, judge: CpuEngine, cases: list[Clouded]) -> tuple[list[str], int]:
    """Return a row, and the number of motions that touch the true scene."""
    gpu = engine._gpu if isinstance(engine, CuroboEngine) else None
    handed = 0 if gpu is None else gpu.handed_over
    plans_s, maps_s, found = [], [], []
    for case in cases:
        began = time.perf_counter()
        engine.update_world(case.cloud)
        maps_s.append(time.perf_counter() - began)
        if gpu is not None:
            gpu.wait_for_builds()
        began = time.perf_counter()
        result = engine.plan(case.request, lambda: False)
        plans_s.append(time.perf_counter() - began)
        found.append((case, result))
    clean, solved = 0, 0
    for case, result in found:
        if result.code is not Code.OK or result.trajectory is None:
            print(f"{engine.name}, {case.problem.id}: {result.code.name}: {result.message}", flush=True)
            continue
        solved += 1
        judge.update_world(case.problem.world)
        verdict = judge.validate("", result.trajectory, SceneQuery(), case.request.start_q)
        clean += verdict.code is Code.OK
        if verdict.code is not Code.OK:
            print(f"{engine.name}, {case.problem.id}: {verdict.message}", flush=True)
    by_cpu = "" if gpu is None else str(gpu.handed_over - handed)
    p50, p95 = 1e3 * np.percentile(plans_s, (50, 95))
    return [
        f"{solved} of {len(cases)}", f"{clean} of {solved}", by_cpu,
        f"{p50:.1f}", f"{p95:.1f}", f"{1e3 * np.median(maps_s):.1f}",
    ], solved - clean  # fmt: skip
