"""Inverse kinematics and checks of many configurations of the FR3 in the demo scene, on the GPU and on one CPU core."""

from __future__ import annotations

import argparse
import time

import numpy as np

from benchmarks.mbm.rows import markdown
from benchmarks.planning.demo import demo_world, down
from handiwork_core.contracts.planning import IkRequest, IkResult, SceneQuery
from handiwork_core.model.geometry import Pose, PoseArray
from handiwork_core.model.outcome import Code
from handiwork_core.robot.kinematics import forward
from planner_node.engines import CpuEngine, CuroboEngine
from planner_node.engines.curobo.batch_configurations import solve_many

from .machine import fr3

POSES, ON_CPU = 100_000, 2_000
CHECKED, CHECKED_ON_CPU, REPEATED = 1_000_000, 50_000, 5
REACH_M = (0.9, 0.9, 1.2)


def main(_options: argparse.Namespace) -> int:
    robot = fr3()
    cpu = CpuEngine(robot, Pose.identity(), lambda _share, _text: None)
    gpu = CuroboEngine(robot, Pose.identity(), lambda _share, _text: None, builds_planners=False)
    for engine in (cpu, gpu):
        engine.update_world(demo_world())
    rng, home = np.random.default_rng(0), np.array(robot.arm("").home_q)
    near = PoseArray.of(
        down(robot, x, y, z, yaw)
        for x, y, z, yaw in rng.uniform((0.3, -0.4, 0.1, -3.0), (0.6, 0.4, 0.4, 3.0), (POSES, 4))
    )
    turns = rng.normal(size=(POSES, 4))
    places = rng.uniform((-REACH_M[0], -REACH_M[1], 0.0), REACH_M, (POSES, 3))
    anywhere = PoseArray.from_rows(places, turns / np.linalg.norm(turns, axis=1, keepdims=True))
    lines, wrong = [], 0
    for name, poses in (("above the table", near), ("anywhere", anywhere)):
        one = IkRequest("", poses, home)
        opened = lambda: gpu._batches.configurations("", SceneQuery())  # noqa: E731
        solve_many(gpu._gpu, one, opened, lambda: False)  # records graphs
        began = time.perf_counter()
        found = solve_many(gpu._gpu, one, opened, lambda: False)
        lines.append(line(f"GPU, finished by the CPU, {name}", found, time.perf_counter() - began))
        began = time.perf_counter()
        chosen = gpu.solve_ik(one, lambda: False)
        lines.append(line(f"`CuroboEngine.solve_ik`, {name}", chosen, time.perf_counter() - began))
        few = IkRequest("", poses[:ON_CPU], home)
        cpu.solve_ik(few, lambda: False)
        began = time.perf_counter()
        on_cpu = cpu.solve_ik(few, lambda: False)
        lines.append(line(f"CPU engine, one core, {name}", on_cpu, time.perf_counter() - began))
        wrong += bad(found, poses)
    print(markdown(("inverse kinematics", "poses", "solved %", "s", "poses/s"), lines), flush=True)
    return wrong + checks(cpu, gpu)


def checks(cpu: CpuEngine, gpu: CuroboEngine) -> int:
    """Print the rates of checks; return the number of configurations that touch and that the GPU takes for free.

    Args:
        cpu: The CPU engine.
        gpu: The cuRobo engine.
    """
    query = cpu._core.read(cpu._core.arm(""), SceneQuery())
    q = np.random.default_rng(1).uniform(
        query.robot.lower, query.robot.upper, (CHECKED, len(query.robot.lower))
    )
    gpu.free("", q[:1000], SceneQuery())
    gpu.free("", q, SceneQuery())
    spent = []
    for _ in range(REPEATED):
        began = time.perf_counter()
        free = gpu.free("", q, SceneQuery())
        spent.append(time.perf_counter() - began)
    rates = ", ".join(f"{CHECKED / one / 1e6:.2f}" for one in spent)
    began = time.perf_counter()
    clear = np.array([not query.touches(row) for row in q[:CHECKED_ON_CPU]])
    on_cpu = time.perf_counter() - began
    missed = int((free[:CHECKED_ON_CPU] & ~clear).sum())
    cautious = int((~free[:CHECKED_ON_CPU] & clear).sum())
    print(
        f"\n{CHECKED} configurations checked with the fine spheres, {REPEATED} times: GPU {rates} million/s; CPU "
        f"engine called from Python, one core, {CHECKED_ON_CPU / on_cpu / 1e6:.3f} million/s. Of {CHECKED_ON_CPU}, "
        f"{int(clear.sum())} are free; the GPU misses {missed} that touch, and "
        f"takes {cautious} free ones for touching.",
        flush=True,
    )
    return missed


def line(name: str, found: IkResult, spent_s: float) -> list[str]:
    """Return a row of the table.

    Args:
        name: Its label.
        found: The result.
        spent_s: Time, s.
    """
    count = len(found.codes)
    solved = sum(code is Code.OK for code in found.codes)
    return [name, str(count), f"{100 * solved / count:.1f}", f"{spent_s:.3f}", f"{count / spent_s:.0f}"]


def bad(found: IkResult, poses: PoseArray) -> int:
    """Return the number of solutions, of every fiftieth, that do not reach their pose.

    Args:
        found: The result.
        poses: The poses.
    """
    rows = [i for i in range(0, len(poses), 50) if found.codes[i] is Code.OK]
    return sum(
        not forward(fr3(), "", found.q[i]).almost_equal(poses[i], within_m=1e-4, within_rad=1e-3)
        for i in rows
    )
