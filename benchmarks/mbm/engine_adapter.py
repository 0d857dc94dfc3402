"""The one place that knows how the product's engine searches and checks, so that its parts can be timed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from handiwork_core.geometry import Array
from handiwork_core.planning import JointGoals, PlanRequest, PoseGoals, SceneQuery
from handiwork_core.robot import ArmSpec
from planner_node.engines.cpu import free_motion, shortcut
from planner_node.engines.cpu.arrays import Ints
from planner_node.engines.cpu.blocks import WHOLE, Checker, test_block
from planner_node.engines.cpu.borrowing import borrowed
from planner_node.engines.cpu.edges import found_hit
from planner_node.engines.cpu.goal_search import find_pose
from planner_node.engines.cpu.jit import kernel
from planner_node.engines.cpu.joint_motion import find_joints
from planner_node.engines.cpu.lanes import LANES, f4
from planner_node.engines.cpu.query import Query
from planner_node.engines.cpu.requests import Deadline, Failed, checked_start
from planner_node.engines.cpu.rng import new_state
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
    """Check start and goals, search, simplify, from a scene that is packed; the full plan includes the packing."""
    core = engine._core
    arm = core.arm(request.arm)
    query = core.read(arm, request.scene)
    # Like the peers, who get their scene before the clock starts.
    _ = query.checker
    began = clock()
    deadline = Deadline.start(lambda: False, request.budget_s)
    try:
        path, query = _search(arm, query, request, deadline)
        planned = clock()
        if len(path) > 2:
            path = shortcut.shorten(query.checker, path, free_motion.CUTS, new_state(request.seed))
        return Geometric(path, planned - began, clock() - began)
    except Failed as failed:
        spent = clock() - began
        return Geometric(None, spent, spent, f"{failed.code.name}: {failed.message}")


def _search(arm: ArmSpec, query: Query, request: PlanRequest, deadline: Deadline) -> tuple[Array, Query]:
    """Way points (k, dof) as they are found, not yet shortened, and the query by which they are free."""
    if isinstance(request.goal, JointGoals):
        path, query = find_joints(arm, query, request.start_q, request.goal.q, request.seed, deadline, cuts=0)
        return path.points, query
    assert isinstance(request.goal, PoseGoals)
    start, query = checked_start(arm, query, request.start_q)
    return find_pose(arm, query, start, request.goal.world_T_ee, request.seed, deadline, cuts=0)[
        0
    ].points, query


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
    place, active, near, free = c.q, c.listed[0], c.listed[2], 0
    c.most[:] = f4(0.0)
    count = len(c.pairs)
    for i in range(count):
        active[i] = i
    for start in range(0, len(q) - LANES + 1, LANES):
        for j in range(q.shape[1]):
            for k in range(LANES):
                place[j, k] = f4(q[start + k, j])
        touching, _, _ = test_block(c, active, count, near, WHOLE)
        if touching >= 0:
            found_hit(c, touching, hit)
        else:
            free += 1
    return free
