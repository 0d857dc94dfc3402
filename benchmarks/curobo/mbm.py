"""MotionBenchMaker's Panda problems with each engine, and with the FR3 for its fine and its coarse spheres."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.mbm.measure import Options, attempt
from benchmarks.mbm.problems import Problem, load_problems
from benchmarks.mbm.referee import Referee
from benchmarks.mbm.rows import NAN, Row, faults, markdown, percentiles, share
from benchmarks.mbm.sphere_robot import SphereRobot, load_sphere_robot
from handiwork_core.contracts.planning import JointGoals, PlanRequest
from handiwork_core.model.outcome import Code
from planner_node.engines import CpuEngine, CuroboEngine, SeededCuroboEngine

from .machine import fr3
from .robots import SET_HEADS, Case, both_sets

BUDGET_S = 5.0
HEADS = (
    "engine and goal",
    "n",
    "solved %",
    "clean %",
    "in rates %",
    *("p50", "p75", "p95", "p98"),
    "path rad",
    "motion s p50",
    "motion s p95",
)


def main(options: argparse.Namespace) -> int:
    return sets(options) + engines(options)


def suitable(judge: CpuEngine, asked: Sequence[Problem]) -> Iterator[tuple[Problem, PlanRequest]]:
    """Yield the problems that the CPU engine solves with another robot than the Panda, with their requests.

    Args:
        judge: The engine of that robot.
        asked: The problems.
    """
    for i, problem in enumerate(asked):
        request = PlanRequest("", problem.start, JointGoals(problem.goals), seed=i, budget_s=BUDGET_S)
        judge.update_world(problem.world)
        if judge.plan(request, lambda: False).code is Code.OK:
            yield problem, request


def sets(options: argparse.Namespace) -> int:
    """Plan with the FR3 in place of the Panda, which has the same kinematics, with both of its sets of spheres.

    Problems that the CPU engine cannot solve, as start or goal is beyond the FR3's limits or its links touch there,
    are left out.

    Args:
        options: How many problems of each scene.

    Returns:
        The number of motions that the referee refused.
    """
    robot, lines, wrong = fr3(), [], 0
    arm, world_T_base = robot.arm(""), load_sphere_robot("panda").world_T_root
    judge = CpuEngine(robot, world_T_base, lambda _share, _text: None)
    of: dict[str, list[Case]] = {}
    asked = load_problems("panda", (), options.per_scene)
    for problem, request in suitable(judge, asked):
        of.setdefault(problem.scene, []).append(Case(problem.world, request))
    print(f"{arm.name}: {sum(map(len, of.values()))} of {len(asked)} problems suit the FR3\n", flush=True)
    for scene, cases in of.items():
        rows, refused = both_sets(robot, world_T_base, cases)
        wrong += refused
        lines += [[scene, *row] for row in rows]
        print(markdown(SET_HEADS, lines[-len(rows) :]), flush=True)
    print(f"\n{markdown(SET_HEADS, lines)}\n", flush=True)
    return wrong


def engines(options: argparse.Namespace) -> int:
    """Plan with each engine, print a table, and return the number of motions that were not clean.

    Args:
        options: How many problems of each scene.
    """
    robot = load_sphere_robot("panda")
    problems = load_problems("panda", (), options.per_scene)
    rows: dict[str, list[Row]] = {}
    for kind in (CpuEngine, CuroboEngine, SeededCuroboEngine):
        for to_pose in (False, True):
            what = "a tool pose" if to_pose else "given configurations"
            rows[f"{kind.name}, to {what}"] = run(kind, robot, problems, to_pose)
    print(f"{len(problems)} problems, wall clock, ms; {BUDGET_S:g} s each\n")
    print(markdown(HEADS, [_line(name, part) for name, part in rows.items()]))
    for name, part in rows.items():
        scenes = dict.fromkeys(row.scene for row in part)
        print(
            f"\n{name}: solved "
            + ", ".join(f"{s} {_solved([r for r in part if r.scene == s])}" for s in scenes)
        )
        print("\n".join(faults(part, 6)))
    return sum(not row.motion.clean for part in rows.values() for row in part if row.motion is not None)


def run(kind: type[CpuEngine], robot: SphereRobot, problems: list[Problem], to_pose: bool) -> list[Row]:
    """Run every problem once, on a warm engine.

    Args:
        kind: The engine's class.
        robot: The robot.
        problems: The problems.
        to_pose: Goals are EE poses instead of configurations.
    """
    engine = kind(robot.robot, robot.world_T_root, lambda _share, _text: None)
    referee = Referee(robot.robot, robot.world_T_root)
    chosen = Options("wall", BUDGET_S, 1, to_pose, with_path=False)
    for problem in problems[:3]:
        attempt(engine, referee, problem, chosen, 0)
    rows = [attempt(engine, referee, problem, chosen, 0) for problem in problems]
    if isinstance(engine, CuroboEngine):
        print(
            f"{engine.name}: {engine._gpu.handed_over} of {len(rows)} were finished by the CPU engine's search"
        )
    engine.close()
    return rows


def _solved(rows: list[Row]) -> str:
    return f"{share([row.motion is not None for row in rows])} %"


def _line(name: str, rows: list[Row]) -> list[str]:
    good = [row for row in rows if row.motion is not None]
    times = [row.full_s for row in good]
    extra = [f"{1e3 * v:.3g}" for v in np.percentile(times, (75, 98))] if times else ["-", "-"]
    p50, p95, _ = percentiles(times)
    motions = [row.duration_s if row.motion else NAN for row in good]
    return [
        name,
        str(len(rows)),
        share([row.motion is not None for row in rows]),
        share([row.motion.clean for row in good if row.motion]),
        share([row.motion.in_rates for row in good if row.motion]),
        p50,
        extra[0],
        p95,
        extra[1],
        f"{np.median([row.motion.length_rad for row in good if row.motion]):.2f}",
        *(f"{v:.2f}" for v in np.percentile(motions, (50, 95))),
    ]
