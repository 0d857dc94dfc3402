"""Run the product's engine over problems, and let the referee judge the results."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_cli.processes.progress import progress
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from handiwork_planning.cpu_engine import CpuEngine

from .engine_adapter import Clock, geometric
from .problems import Problem
from .referee import Referee
from .rows import NAN, Row
from .sphere_robot import SphereRobot

CLOCKS: dict[str, Clock] = {"cpu": time.process_time, "wall": time.perf_counter}
"""Processor seconds do not depend on other work on the machine; wall seconds are a user's waiting time."""


@dataclass(frozen=True, slots=True)
class Options:
    """The extent of a measurement.

    Attributes:
        clock: "cpu" or "wall".
        budget_s: Time of each attempt, s.
        seeds: Attempts at each problem.
        to_pose: Goals are EE poses instead of configurations.
        with_path: Time search and simplification.
        with_motion: Time the full plan.
    """

    clock: str = "cpu"
    budget_s: float = 1.0
    seeds: int = 1
    to_pose: bool = False
    with_path: bool = True
    with_motion: bool = True


def make_engine(robot: SphereRobot) -> CpuEngine:
    """Return the product's engine, warm.

    Args:
        robot: The robot.
    """
    return CpuEngine(robot.robot, robot.world_T_root, lambda _share, _text: None)


def measure(
    engine: CpuEngine, robot: SphereRobot, problems: Sequence[Problem], options: Options
) -> list[Row]:
    """Run every problem with every seed; the first problem runs twice, and its first run does not count.

    Args:
        engine: The engine.
        robot: The robot.
        problems: The problems.
        options: The extent.
    """
    referee = Referee(robot.robot, robot.world_T_root, mounted=robot.mounted)
    rows: list[Row] = []
    for problem in problems[:1]:
        attempt(engine, referee, problem, options, 0)
    for problem in progress(problems, "measure"):
        rows += [attempt(engine, referee, problem, options, seed) for seed in range(options.seeds)]
    return rows


def attempt(engine: CpuEngine, referee: Referee, problem: Problem, options: Options, seed: int) -> Row:
    """Search and simplify, then, as a request of its own, plan fully.

    Args:
        engine: The engine.
        referee: Judges the results.
        problem: The problem.
        options: The extent.
        seed: Seed of the requests.
    """
    request = problem.request(budget_s=options.budget_s, seed=seed, to_pose=options.to_pose)
    clock, why, path, motion = CLOCKS[options.clock], "", None, None
    plan_s = simplified_s = full_s = duration_s = NAN
    engine.update_world(problem.world)
    if options.with_path:
        found = geometric(engine, request, clock)
        plan_s, simplified_s, why = found.plan_s, found.simplified_s, found.why
        if found.path is not None:
            goals = _ends(referee, problem, found.path, options)
            path = referee.path(found.path, problem.start, goals, problem.world)
    if options.with_motion:
        began = clock()
        result = engine.plan(request, lambda: False)
        full_s = clock() - began
        if result.code is not Code.OK:
            why = f"{result.code.name}: {result.message}"
        if result.trajectory is not None:
            goals = _ends(referee, problem, result.trajectory.q, options)
            motion = referee.timed(result.trajectory, problem.start, goals, problem.world)
            duration_s = result.trajectory.duration_s
    return Row(problem.id, problem.scene, plan_s, simplified_s, full_s, path, motion, duration_s, why)


def _ends(referee: Referee, problem: Problem, path: Array, options: Options) -> Array:
    """Return the allowed ends (g, dof) of ``path`` (k, dof): for a pose, any configuration that reaches it."""
    if not options.to_pose:
        return problem.goals
    return path[-1:] if referee.reaches(path[-1], problem.world_T_ee) else np.full_like(path[-1:], np.inf)
