"""One pose for each arm of every robot, alone and in its own scene: plan times and success of both engines."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import ObjectState, World
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.layout import Scene
from handiwork_core.scene.loader import load_scene
from planner_node.engines import CpuEngine, CuroboEngine

from .machine import FR3
from .regimes import Waiting

PLANS = 20
FAR_RAD = 0.8
HEADS = (
    "robot, arm", "spheres", "ready s", "cuRobo solved", "refused by the referee", "ms p50", "ms p95",
    "CPU solved", "ms p50", "ms p95",
)  # fmt: skip
SCENES = {
    "fr3": ("tabletop", "assorted"),
    "fr3_mobile": ("mobile",),
    "fr3_robotiq": ("tabletop",),
    "genie1": ("genie1_table",),
    "lift2": ("lift2_table", "lift2_two_arms"),
    "split_aloha": ("split_aloha_table",),
    "ur10_suction": ("ur10_suction_table",),
}
"""Scenes of each robot, in config/scenes."""
IN_SCENE = 30
ABOVE_M = (0.06, 0.25)
SET_HEADS = (
    "problems", "planner", "spheres", "solved", "refused by the referee", "planned again", "by the CPU's search",
    "ms p50", "ms p95", "motion s, mean", "motion, ratio to the fine set's",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A request in its world."""

    world: World
    request: PlanRequest


def main(options: argparse.Namespace) -> int:
    return alone(options) + scenes(options)


def scenes(_options: argparse.Namespace) -> int:
    """Plan in the robots' own scenes with both sets of spheres, print a table, and return the number of faults.

    Args:
        _options: Not used.
    """
    lines, wrong = [], 0
    for folder in progress(robot_folders(), "robots in their scenes"):
        robot = load_robot(folder)
        for name in SCENES.get(robot.name, ()):
            scene = load_scene(FR3.parents[3] / f"config/scenes/{name}.yaml")
            for arm in robot.arms.values():
                cases = in_scene(robot, arm, scene, IN_SCENE)
                if cases:
                    rows, refused = both_sets(robot, scene.world_T_base, cases)
                    lines += [[f"{robot.name}, {arm.name}, {name}", *row] for row in rows]
                    wrong += refused
                    print(markdown(SET_HEADS, lines[-len(rows) :]), flush=True)
    print(f"\n{markdown(SET_HEADS, lines)}", flush=True)
    return wrong


def in_scene(robot: Robot, arm: ArmSpec, scene: Scene, count: int) -> list[Case]:
    """Return requests from home, to poses above the scene's movable objects and near home, that the CPU engine solves.

    Args:
        robot: The robot.
        arm: The arm.
        scene: The scene.
        count: The largest number of requests.
    """
    judge = CpuEngine(robot, scene.world_T_base, lambda _share, _text: None)
    rng, still = np.random.default_rng(5), np.zeros(3)
    objects = {item.name: item for item in scene.objects}
    states = {n: ObjectState(item.world_T_object, still, still, 0.0) for n, item in objects.items()}
    world = World(0.0, 1, {n: item.body for n, item in objects.items()}, states)
    judge.update_world(world)
    home = np.array(arm.home_q)
    places = [item.world_T_object for item in scene.objects if not item.body.is_static]
    asked = [request.goal for request in nearby(judge, robot, arm, count, scene.world_T_base)]
    turned = Rotation.from_rpy(np.pi, 0.0, 0.0)
    offset = arm.gripper.tcp_offset_m if arm.gripper is not None else 0.0
    for place in places * (count // max(1, len(places))):
        x, y, z = place.translation_m
        up = z + offset + rng.uniform(*ABOVE_M)
        turn = Rotation.from_rpy(0.0, 0.0, rng.uniform(-np.pi, np.pi))
        asked.append(PoseGoals((Pose.of((x, y, up), turn @ turned),)))
    found = []
    for i, goal in enumerate(asked):
        case = Case(world, PlanRequest(arm.name, home, goal, seed=i, budget_s=10.0))
        if judge.plan(case.request, lambda: False).code is Code.OK:
            found.append(case)
    return found


def both_sets(robot: Robot, world_T_base: Pose, cases: Sequence[Case]) -> tuple[list[list[str]], int]:
    """Plan cases that the CPU engine solves, with the fine spheres, with the coarse ones, and by the CPU engine.

    Args:
        robot: The robot.
        world_T_base: Its base in the world.
        cases: The cases.

    Returns:
        Rows of a table, and the number of motions that the referee refuses.
    """
    judge = CpuEngine(robot, world_T_base, lambda _share, _text: None)
    rows, wrong = [], 0
    fine: Array = np.zeros(0)
    variants: tuple[tuple[str, Callable[[], Engine]], ...] = (
        ("cuRobo, fine", lambda: Waiting(replace(robot, coarse_spheres=()), world_T_base, _quiet)),
        ("cuRobo, coarse", lambda: Waiting(robot, world_T_base, _quiet)),
        ("CPU engine", lambda: CpuEngine(robot, world_T_base, _quiet)),
    )
    for name, make in variants:
        made = make()
        spent, lasts, refused = in_worlds(made, judge, cases)
        fine = lasts if not len(fine) else fine
        wrong += refused
        core = made._gpu if isinstance(made, CuroboEngine) else None
        counts = ["", "", ""]
        if core is not None:
            counts = [str(core.sphere_counts[0]), str(core.planned_again), str(core.handed_over)]
        rows.append(
            [name, counts[0], f"{np.isfinite(lasts).sum()} of {len(cases)}", str(refused), *counts[1:],
             *(f"{n:.1f}" for n in np.percentile(spent, (50, 95))), f"{np.nanmean(lasts):.3f}",
             f"{np.nanmean(lasts / fine):.3f}"]
        )  # fmt: skip
        made.close()
    return rows, wrong


def in_worlds(engine: Engine, judge: Engine, cases: Sequence[Case]) -> tuple[Array, Array, int]:
    """Plan all cases, each in its world; the first twice.

    Args:
        engine: The planner.
        judge: The referee's engine.
        cases: The cases.

    Returns:
        Times, ms; durations of the motions, s, nan without one; the number of motions that the referee refuses.
    """
    spent, lasts, refused = np.empty(len(cases)), np.full(len(cases), np.nan), 0
    engine.update_world(cases[0].world)
    engine.plan(cases[0].request, lambda: False)
    for i, case in enumerate(cases):
        if i and case.world is not cases[i - 1].world:
            engine.update_world(case.world)
        before = time.perf_counter()
        result = engine.plan(case.request, lambda: False)
        spent[i] = 1e3 * (time.perf_counter() - before)
        if result.trajectory is not None:
            lasts[i] = result.trajectory.duration_s
            judge.update_world(case.world)
            request = case.request
            verdict = judge.validate(request.arm, result.trajectory, request.scene, request.start_q)
            refused += verdict.code is not Code.OK
    return spent, lasts, refused


def _quiet(_share: float, _text: str) -> None:
    pass


def alone(_options: argparse.Namespace) -> int:
    """Plan for each arm of every robot alone in the world, print a table, and return the number of faults.

    Args:
        _options: Not used.
    """
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


def nearby(
    judge: Engine, robot: Robot, arm: ArmSpec, count: int, world_T_base: Pose | None = None
) -> list[PlanRequest]:
    """Return requests from home to tool poses of free configurations around it.

    Args:
        judge: Decides which configurations are free.
        robot: The robot.
        arm: The arm.
        count: Number of requests.
        world_T_base: The robot's base in the world; None is at its origin.
    """
    base = world_T_base or Pose.identity()
    rng, home, found = np.random.default_rng(3), np.array(arm.home_q), list[PlanRequest]()
    bounds = [robot.joints[name] for name in arm.joint_names]
    lower, upper = np.array([joint.lower for joint in bounds]), np.array([joint.upper for joint in bounds])
    while len(found) < count:
        q = np.clip(home + rng.uniform(-FAR_RAD, FAR_RAD, len(home)), lower + 0.05, upper - 0.05)
        if judge.explain(arm.name, q, SceneQuery()).code is Code.OK:
            pose = link_poses(robot, dict(zip(arm.joint_names, q.tolist(), strict=True)))[arm.ee_link]
            pose = base @ pose
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
