"""The one place that knows how the product's engine searches and checks, so that its parts can be timed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from handiwork_core.geometry import Array
from handiwork_core.planning import JointGoals, PlanRequest, PoseGoals, SceneQuery
from planner_node.engines.cpu import free_motion, shortcut
from planner_node.engines.cpu.arrays import Ints
from planner_node.engines.cpu.blocks import Checker, test_block
from planner_node.engines.cpu.borrowing import borrowed
from planner_node.engines.cpu.edges import found_hit, nearest_free
from planner_node.engines.cpu.goals import joint_goals, pose_goals
from planner_node.engines.cpu.jit import kernel
from planner_node.engines.cpu.lanes import LANES, f4
from planner_node.engines.cpu.query import Query
from planner_node.engines.cpu.requests import Deadline, Failed, checked_start
from planner_node.engines.cpu.rng import State, new_state
from planner_node.engines.cpu_engine import CpuEngine

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True, eq=False)
class Geometric:
    """``path`` (k, dof) after simplification, None when not found; both times count from the request [s]."""

    path: Array | None
    plan_s: float
    simplified_s: float
    why: str = ""


def geometric(engine: CpuEngine, request: PlanRequest, clock: Clock) -> Geometric:
    """Read the request, check start and goals, search, simplify: ``Core.plan`` without what makes time of a path."""
    core, began = engine._core, clock()
    deadline = Deadline.start(lambda: False, request.budget_s)
    try:
        arm = core.arm(request.arm)
        start, query = checked_start(arm, core.read(arm, request.scene), request.start_q)
        if isinstance(request.goal, JointGoals):
            query = query.grazing_at(request.goal.q)
            goals, _ = joint_goals(arm, query, request.goal.q)
        else:
            assert isinstance(request.goal, PoseGoals)
            seeds = np.array([start, arm.home_q])
            goals, _ = pose_goals(query, request.goal.world_T_ee, seeds, request.seed, deadline)
        state = new_state(request.seed)
        path = _search(query, start, goals, state, deadline)
        planned = clock()
        if len(path) > 2:
            path = shortcut.shorten(query.checker, path, free_motion.CUTS, state)
        return Geometric(path, planned - began, clock() - began)
    except Failed as failed:
        spent = clock() - began
        return Geometric(None, spent, spent, f"{failed.code.name}: {failed.message}")


def _search(query: Query, start: Array, goals: Array, state: State, deadline: Deadline) -> Array:
    """The straight way to a near goal, else what the trees find."""
    order = np.argsort(np.linalg.norm(goals - start, axis=1), kind="stable")[: free_motion.DIRECT]
    direct = nearest_free(query.checker, start, goals, order, np.zeros(2, dtype=np.int64))
    if direct >= 0:
        return np.array([start, goals[direct]])
    return free_motion._search(query, start, goals, state, deadline)[0]


def checker(engine: CpuEngine) -> Callable[[Array], int]:
    """A function that counts, of configurations (m, dof), the blocks of LANES neighbours that are free.

    In the engine's present world. A block ends at the first pair that touches in any of its configurations.
    """
    query = engine._core.read(engine._core.robot.arm(""), SceneQuery())
    made = query.checker
    return lambda q: int(_free_blocks(made, q, np.zeros(2, dtype=np.int64)))


@kernel
def _free_blocks(c: Checker, q: Array, hit: Ints) -> int:
    c, q, hit = borrowed(c), borrowed(q), borrowed(hit)
    place, move, active, near, free = c.q, c.move, c.listed[0], c.listed[2], 0
    count = len(c.pairs)
    for i in range(count):
        active[i] = i
    for start in range(0, len(q) - LANES + 1, LANES):
        for j in range(q.shape[1]):
            for k in range(LANES):
                place[j, k], move[j, k] = f4(q[start + k, j]), f4(0.0)
        touching, _, _ = test_block(c, active, count, near)
        if touching >= 0:
            found_hit(c, touching, hit)
        else:
            free += 1
    return free
