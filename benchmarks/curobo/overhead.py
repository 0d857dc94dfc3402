"""Time that our engine adds to a bare cuRobo call, for one pose, a set of 100 poses and a batch of 1,000."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.mbm.rows import markdown
from benchmarks.planning.demo import down
from handiwork_cli.processes.progress import progress
from handiwork_core.contracts.planning import IkRequest, PlanRequest, PoseGoals
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from planner_node.engines import CpuEngine, CuroboEngine
from planner_node.engines.curobo.gpu_core import GpuCore
from planner_node.engines.curobo.solvers.single_solvers import SEEDS

from .machine import engine, fr3

RUNS = 60


def main(_options: argparse.Namespace) -> int:
    robot, ours = fr3(), engine(CuroboEngine)
    assert isinstance(ours, CuroboEngine)
    core, home = ours._gpu, np.array(robot.arm("").home_q)
    rng = np.random.default_rng(0)

    def goals(count: int) -> PoseGoals:
        places = zip(rng.uniform(-0.05, 0.05, count), rng.uniform(-0.05, 0.05, count), strict=True)
        return PoseGoals(
            tuple(
                down(robot, 0.45 + x, 0.2 + y, rng.uniform(0.15, 0.3), rng.uniform(-3, 3)) for x, y in places
            )
        )

    print(f"GPU memory in use, driver and graphs included: {core.memory_bytes() / 2**20:.0f} MiB\n")
    lines = []
    for what, count in (("one pose", 1), ("set of 100 poses", 100)):
        sets = [goals(count) for _ in range(RUNS)]
        bare = Bare(core, home, count)
        inside = Inside(core)
        spent = clocked(lambda i, s=sets: ours.plan(PlanRequest("", home, s[i]), lambda: False))
        within, calls = inside.stop()
        theirs = clocked(lambda i, s=sets, b=bare: b.plan(base_rows(s[i])))
        cpu = clocked(lambda i, s=sets: engine(CpuEngine).plan(PlanRequest("", home, s[i]), lambda: False))
        own = spent - within
        lines.append(
            [what, *(f"{np.median(ms):.2f}" for ms in (theirs, spent, within, own)), f"{np.percentile(own, 95):.2f}",
             f"{calls / RUNS:.1f}", f"{np.median(cpu):.2f}"]
        )  # fmt: skip
        bare.close()
    heads = (
        "ms, median",
        "bare cuRobo",
        "our engine",
        "of which in cuRobo",
        "ours",
        "ours p95",
        "GPU calls",
        "CPU engine",
    )
    print(markdown(heads, lines))
    many = goals(1000).world_T_ee
    ik = IkRequest("", many, home)
    print(
        f"\nIK of 1,000 poses, ms: cuRobo {batch_ik(core, base_rows(PoseGoals(many)))}; CPU engine {cpu_ik(ik)}"
    )
    return 0


def cpu_ik(request: IkRequest) -> str:
    """Return the median time of the CPU engine, ms, and the share of poses solved, %.

    Args:
        request: The poses.
    """
    planner = engine(CpuEngine)
    ms = clocked(lambda _i: planner.solve_ik(request, lambda: False), 5)
    codes = planner.solve_ik(request, lambda: False).codes
    return f"{np.median(ms):.1f} ({100 * sum(c is Code.OK for c in codes) / len(codes):.1f} % solved)"


def batch_ik(core: GpuCore, rows: Array) -> str:
    """Return the same with cuRobo's solver, all poses in one batch; the engine does not use it.

    Args:
        core: The engine's GPU part.
        rows: Poses in the base, (g, 7).
    """
    from curobo.inverse_kinematics import InverseKinematics, InverseKinematicsCfg

    (solvers,) = core._solvers.values()
    made = InverseKinematicsCfg.create(
        robot=solvers.robot, optimizer_configs=["ik/lbfgs_ik.yml"], num_seeds=32, max_batch_size=len(rows)
    )
    solver = InverseKinematics(made, solvers.scene)
    goal = solvers._goal(rows[:, None])
    ms = clocked(lambda _i: bool(solver.solve_pose(goal).success.any()), 5)
    solved = float(solver.solve_pose(goal).success.float().mean())
    solver.destroy()
    return f"{np.median(ms):.1f} ({100 * solved:.1f} % solved)"


def clocked(work: Callable[[int], object], runs: int = RUNS) -> Array:
    """Return the wall time of each run, (runs,), ms; the first two calls are made twice and do not count.

    Args:
        work: Called with the index of the run.
        runs: Number of runs.
    """
    for i in range(2):
        work(i)
    spent = np.empty(runs)
    for i in progress(range(runs), "overhead"):
        before = time.perf_counter()
        work(i)
        spent[i] = 1e3 * (time.perf_counter() - before)
    return spent


class Inside:
    """Time within cuRobo's solvers, request by request."""

    def __init__(self, core: GpuCore) -> None:
        (self._solvers,) = core._solvers.values()
        self._spent, self._calls = 0.0, 0
        self._marks: list[tuple[float, int]] = []
        self._plain = {name: getattr(self._solvers, name) for name in ("optimise", "graph_seeds")}
        for name, call in self._plain.items():
            setattr(self._solvers, name, self._timed(call))
        self._begin = self._solvers.begin
        self._solvers.begin = self._mark  # type: ignore[method-assign]

    def _timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: object) -> object:
            before = time.perf_counter()
            out = call(*given)
            self._spent += 1e3 * (time.perf_counter() - before)
            self._calls += 1
            return out

        return timed

    def _mark(self) -> None:
        self._marks.append((self._spent, self._calls))
        self._begin()

    def stop(self) -> tuple[Array, int]:
        """Stop timing, and return the time in cuRobo, (RUNS,), ms, and the number of calls."""
        for name in (*self._plain, "begin"):
            delattr(self._solvers, name)
        ends = np.array([*self._marks, (self._spent, self._calls)])
        return np.diff(ends[:, 0])[-RUNS:], int(np.diff(ends[:, 1])[-RUNS:].sum())


class Bare:
    """cuRobo's own planner, used as in its documentation, with the same robot, spheres, world and room."""

    def __init__(self, core: GpuCore, home: Array, goals: int) -> None:
        (self._solvers,) = core._solvers.values()
        cuda, room = core._cuda, self._solvers.room
        made = cuda.MotionPlannerCfg.create(
            robot=self._solvers.robot,
            collision_cache={"cuboid": room.boxes, "mesh": room.solids},
            num_trajopt_seeds=SEEDS,
            max_goalset=goals,
        )
        self._planner = cuda.MotionPlanner(made)
        boxes = self._solvers.scene.data.cuboids
        for name in ("dims", "inv_pose", "enable", "count"):
            getattr(self._planner.scene_collision_checker.data.cuboids, name).copy_(getattr(boxes, name))
        self._planner.warmup(enable_graph=False, num_warmup_iterations=3)
        self._home = self._solvers._state(home)

    def plan(self, rows: Array) -> object:
        """Plan from arrays to a result, and wait for the GPU, as any user must.

        Args:
            rows: Goal poses in the base, (g, 7).
        """
        result = self._planner.plan_pose(self._solvers._goal(rows[None]), self._home.clone())
        return None if result is None else bool(result.success.any())

    def close(self) -> None:
        """Free the GPU."""
        self._planner.destroy()


def base_rows(goals: PoseGoals) -> Array:
    """Return the poses as rows x, y, z, qw, qx, qy, qz, (g, 7); the base is at the world's origin.

    Args:
        goals: The poses.
    """
    return np.array([(*p.translation_m, *p.rotation.wxyz) for p in goals.world_T_ee])
