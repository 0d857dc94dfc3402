"""Both arms of the robots that have two, in one motion: time, success, and faults."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np

from benchmarks.mbm.rows import markdown
from handiwork_core.contracts.planning import OtherArm, PlanRequest, SceneQuery
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from planner_node.engines import CpuEngine
from planner_node.engines.curobo_together import CuroboTogether, TogetherResult

from .robots import nearby, opened, robot_folders

PAIRS = 20
HEADS = (
    "robot", "planned", "goals where the arms would meet", "not found", "refused by the referee", "ms p50",
    "ms p95", "motion s p50",
)  # fmt: skip
Pair = tuple[PlanRequest, PlanRequest]


def main(_options: argparse.Namespace) -> int:
    lines, wrong = [], 0
    for folder in robot_folders():
        robot = load_robot(folder)
        if len(robot.arms) == 2:
            row, refused = measured(robot)
            lines.append([robot.name, *row])
            wrong += refused
    print(markdown(HEADS, lines))
    return wrong


def measured(robot: Robot) -> tuple[list[str], int]:
    """Return a row of the table, and the number of motions that the referee refused.

    Args:
        robot: The robot, with two arms.
    """
    referee = opened(CpuEngine, robot)
    left, right = robot.arms.values()
    pairs = list(zip(nearby(referee, robot, left, PAIRS), nearby(referee, robot, right, PAIRS), strict=True))
    planner = CuroboTogether(robot, Pose.identity(), (left.name, right.name))
    planner.update_world(World(0.0))
    planner.plan(pairs[0], lambda: False)
    results, spent = [], []
    for pair in pairs:
        before = time.perf_counter()
        results.append(planner.plan(pair, lambda: False))
        spent.append(1e3 * (time.perf_counter() - before))
    planner.close()
    codes = [result.code for result in results]
    refused = sum(is_refused(referee, pair, result) for pair, result in zip(pairs, results, strict=True))
    solved_ms = [ms for ms, code in zip(spent, codes, strict=True) if code is Code.OK] or [np.nan]
    motions = [result.trajectories[0].t_s[-1] for result in results if result.code is Code.OK] or [np.nan]
    met = codes.count(Code.GOAL_IN_COLLISION)
    counts = [
        f"{codes.count(Code.OK)} of {PAIRS}",
        str(met),
        str(PAIRS - codes.count(Code.OK) - met),
        str(refused),
    ]
    times = [f"{n:.1f}" for n in np.percentile(solved_ms, (50, 95))]
    return [*counts, *times, f"{np.median(motions):.2f}"], refused


def is_refused(referee: CpuEngine, pair: Pair, result: TogetherResult) -> bool:
    """Check whether an arm's motion is not clean, with the other arm at each of the motion's moments in turn.

    Args:
        referee: The referee's engine.
        pair: The request of each arm.
        result: The motion.
    """
    for k, trajectory in enumerate(result.trajectories):
        other = pair[1 - k]
        nowhere = OtherArm(other.arm, np.zeros((0, len(other.start_q))))
        scene = replace(pair[k].scene, others=(nowhere,))
        if referee.validate(pair[k].arm, trajectory, scene, pair[k].start_q).code is not Code.OK:
            return True
    if not result.trajectories:
        return False
    first, second = result.trajectories
    for q, other_q in zip(first.q, second.q, strict=True):
        there = SceneQuery(others=(OtherArm(pair[1].arm, other_q[None]),))
        if referee.explain(pair[0].arm, q, there).code is not Code.OK:
            return True
    return False
