"""The one place that knows how the product's engine searches, so that its parts can be timed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from handiwork_core.geometry import Array
from handiwork_core.outcome import Code
from handiwork_core.planning import JointGoals, PlanRequest, PoseGoals, SceneQuery
from planner_node.engines.cpu import free_motion, shortcut, tree_search
from planner_node.engines.cpu.collision import pairs_on, touches
from planner_node.engines.cpu.edges import edge_is_free
from planner_node.engines.cpu.goals import joint_goals, pose_goals
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
    """Check start and goals, search, simplify; nothing is timed in the sense of a trajectory."""
    core, began = engine._core, clock()
    deadline = Deadline.start(lambda: False, request.budget_s)
    try:
        arm = core.arm(request.arm)
        start, query = checked_start(arm, core.read(arm, request.scene), request.start_q)
        if isinstance(request.goal, JointGoals):
            goals, _ = joint_goals(arm, query, request.goal.q)
        else:
            assert isinstance(request.goal, PoseGoals)
            seeds = np.array([start, arm.home_q])
            goals, _ = pose_goals(query, request.goal.world_T_ee, seeds, request.seed, deadline)
        path, direct = _search(query, start, goals, request.seed, deadline)
        planned = clock()
        if not direct:
            path = _shorten(path, query, request.seed)
        return Geometric(path, planned - began, clock() - began)
    except Failed as failed:
        spent = clock() - began
        return Geometric(None, spent, spent, f"{failed.code.name}: {failed.message}")


def _search(query: Query, start: Array, goals: Array, seed: int, deadline: Deadline) -> tuple[Array, bool]:
    """A path, and whether it is one straight joint motion."""
    hit = np.zeros(2, dtype=np.int64)
    for i in np.argsort(np.linalg.norm(goals - start, axis=1), kind="stable")[:8]:
        if edge_is_free(start, goals[i], query.robot, query.scene, query.margins, query.frames, hit):
            return np.array([start, goals[i]]), True
    rows, columns = query.margins.shape
    trees, state, met = tree_search.plant(start, goals, (rows, columns), free_motion.ROOM), new_state(seed), 0
    while met == 0:
        deadline.poll()
        met = tree_search.grow(trees, 20, query.robot, query.scene, query.margins, state)
    if met < 0:
        raise Failed(Code.PATH_BLOCKED, "the trees are full")
    return tree_search.path_of(trees)[0], False


def _shorten(path: Array, query: Query, seed: int) -> Array:
    state = new_state(seed)
    path = shortcut.skip(path, query.robot, query.scene, query.margins)
    path = shortcut.cut(path, free_motion.CUTS, query.robot, query.scene, query.margins, state)
    return shortcut.skip(path, query.robot, query.scene, query.margins)


def checker(engine: CpuEngine) -> Callable[[Array], int]:
    """A function that counts the free ones of configurations (m, dof) in the engine's present world."""
    query = engine._core.read(engine._core.robot.arm(""), SceneQuery())
    pairs, frames = pairs_on(query.robot, query.scene, query.margins), query.frames
    hit = np.zeros(2, dtype=np.int64)

    def count_free(q: Array) -> int:
        return len(q) - sum(
            touches(row, pairs, query.robot, query.scene, query.margins, frames, hit) for row in q
        )

    return count_free
