"""One pose for each arm of every robot: spheres, time to be ready, plan times and success of both engines."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from benchmarks.mbm.rows import markdown
from handiwork_cli.processes.progress import progress
from handiwork_core.contracts.planning import (
    Engine,
    PlanRequest,
    PoseGoals,
    SceneQuery,
)
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import World
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.robot_files.loader import load_robot
from planner_node.engines import CpuEngine, CuroboEngine

from .machine import FR3

PLANS = 20
FAR_RAD = 0.8
HEADS = (
    "robot, arm", "spheres", "ready s", "cuRobo solved", "refused by the referee", "ms p50", "ms p95",
    "CPU solved", "ms p50", "ms p95",
)  # fmt: skip


def main(_options: argparse.Namespace) -> int:
    lines, wrong = [], 0
    for folder in progress(robot_folders(), "robots"):
        robot = load_robot(folder)
        spheres = sum(len(link.radii) for link in robot.spheres)
        cpu = opened(CpuEngine, robot)
        before = time.perf_counter()
        ours = opened(CuroboEngine, robot)
        ready_s = time.perf_counter() - before
        for arm in robot.arms.values():
            requests = nearby(cpu, robot, arm, PLANS)
            solved, refused, ms = tried(ours, cpu, requests)
            cpu_solved, cpu_refused, cpu_ms = tried(cpu, cpu, requests)
            wrong += refused + cpu_refused
            times = [f"{n:.1f}" for n in np.percentile(ms, (50, 95))]
            cpu_times = [f"{n:.2f}" for n in np.percentile(cpu_ms, (50, 95))]
            counts = [f"{solved} of {PLANS}", str(refused), *times, f"{cpu_solved} of {PLANS}", *cpu_times]
            lines.append([f"{robot.name}, {arm.name}", str(spheres), f"{ready_s:.1f}", *counts])
        ours.close()
    print(markdown(HEADS, lines))
    return wrong


def robot_folders() -> list[Path]:
    """Return the folders of all robots."""
    return sorted(path.parent for path in FR3.parent.glob("*/robot.yaml"))


def opened(kind: type[Engine], robot: Robot) -> Engine:
    """Return an engine for the robot alone in the world.

    Args:
        kind: The engine's class.
        robot: The robot.
    """
    made = kind(robot, Pose.identity(), lambda _share, _text: None)
    made.update_world(World(0.0))
    return made


def nearby(judge: Engine, robot: Robot, arm: ArmSpec, count: int) -> list[PlanRequest]:
    """Return requests from home to tool poses of free configurations around it.

    Args:
        judge: Decides which configurations are free.
        robot: The robot.
        arm: The arm.
        count: Number of requests.
    """
    rng, home, found = np.random.default_rng(3), np.array(arm.home_q), list[PlanRequest]()
    bounds = [robot.joints[name] for name in arm.joint_names]
    lower, upper = np.array([joint.lower for joint in bounds]), np.array([joint.upper for joint in bounds])
    while len(found) < count:
        q = np.clip(home + rng.uniform(-FAR_RAD, FAR_RAD, len(home)), lower + 0.05, upper - 0.05)
        if judge.explain(arm.name, q, SceneQuery()).code is Code.OK:
            pose = link_poses(robot, dict(zip(arm.joint_names, q.tolist(), strict=True)))[arm.ee_link]
            found.append(PlanRequest(arm.name, home, PoseGoals((pose,)), seed=len(found), budget_s=10.0))
    return found


def tried(engine: Engine, judge: Engine, requests: list[PlanRequest]) -> tuple[int, int, list[float]]:
    """Plan all requests; the first one twice.

    Args:
        engine: The planner.
        judge: The referee's engine.
        requests: The requests.

    Returns:
        Number solved, number of motions that the referee refuses, and times, ms.
    """
    solved, refused, spent = 0, 0, []
    engine.plan(requests[0], lambda: False)
    for request in requests:
        before = time.perf_counter()
        result = engine.plan(request, lambda: False)
        spent.append(1e3 * (time.perf_counter() - before))
        solved += result.code is Code.OK
        if result.trajectory is not None:
            verdict = judge.validate(request.arm, result.trajectory, request.scene, request.start_q)
            refused += verdict.code is not Code.OK
    return solved, refused, spent
