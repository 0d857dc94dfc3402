"""The one module that knows the parts of the product's engine, so that they can be timed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.planning import (
    JointGoals,
    PlanRequest,
    PoseGoals,
    SceneQuery,
)
from handiwork_core.model.geometry import Array
from handiwork_core.robot.robot import ArmSpec
from handiwork_planning.collision.batch_check import WHOLE, Checker, test_block
from handiwork_planning.collision.motion_check import found_hit
from handiwork_planning.cpu_engine import CpuEngine
from handiwork_planning.kernels.arrays import Ints
from handiwork_planning.kernels.borrowed_ref import borrowed
from handiwork_planning.kernels.jit import kernel
from handiwork_planning.kernels.rng import new_state
from handiwork_planning.kernels.simd_kinematics import LANES, f4
from handiwork_planning.scene.query import Query
from handiwork_planning.search import free_motion, shortcut
from handiwork_planning.search.goal_search import find_pose
from handiwork_planning.search.joint_motion import find_joints
from handiwork_planning.search.requests import Deadline, Failed, checked_start

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True, eq=False)
class Geometric:
    """A path after simplification; both times count from the request.

    Attributes:
        path: Way points, (k, dof), rad; None when not found.
        plan_s: Time until the path was found, s.
        simplified_s: Time until it was simplified, s.
        why: The reason of a failure.
    """

    path: Array | None
    plan_s: float
    simplified_s: float
    why: str = ""


def geometric(engine: CpuEngine, request: PlanRequest, clock: Clock) -> Geometric:
    """Check start and goals, search, simplify, from a scene that is packed; the full plan includes the packing.

    Args:
        engine: The engine.
        request: The request.
        clock: Time, s.
    """
    core = engine._core
    arm = core.arm(request.arm)
    query = core.read(arm, request.scene)
    # The peers, too, get their scene before the clock starts.
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
        return Geometric(None, spent, spent, f"{failed.outcome.code.name}: {failed.outcome.message}")


def _search(arm: ArmSpec, query: Query, request: PlanRequest, deadline: Deadline) -> tuple[Array, Query]:
    """Return way points (k, dof) as found, not yet shortened, and the query with which they are free."""
    if isinstance(request.goal, JointGoals):
        path, query = find_joints(arm, query, request.start_q, request.goal.q, request.seed, deadline, cuts=0)
        return path.points, query
    assert isinstance(request.goal, PoseGoals)
    start, query = checked_start(arm, query, request.start_q)
    return find_pose(arm, query, start, request.goal.world_T_ee, request.seed, deadline, cuts=0)[
        0
    ].points, query


def checker(engine: CpuEngine) -> Callable[[Array], int]:
    """Return a function that counts, of configurations (m, dof), the blocks of LANES neighbours that are free.

    The world is the engine's present one. A block ends at the first pair that touches in any of its configurations.

    Args:
        engine: The engine.
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
