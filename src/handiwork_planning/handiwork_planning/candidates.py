"""Judge candidates: free configurations for the first way point, straight lines to the later ones."""

from __future__ import annotations

import numpy as np

from handiwork_core.contracts.planning import NO_Q, Candidate, CandidateVerdict
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from handiwork_core.robot.robot import ArmSpec

from .cartesian_motion import track
from .ik.pose_ik import solve_pose
from .kernels.rng import State
from .scene.query import Query
from .search.requests import Deadline, Failed

DEVIATION_M = 0.002
TRIES, SOLUTIONS = 10, 4


def judge(
    arm: ArmSpec,
    queries: tuple[Query, ...],
    start: Array,
    home: Array,
    candidate: Candidate,
    state: State,
    deadline: Deadline,
) -> CandidateVerdict:
    """Return the cheapest way found to do ``candidate``, or why its best try failed.

    Solutions for the first pose are tried in order of distance from ``start``. The line to way point i is checked in
    the scene of way point i.

    Args:
        arm: The arm that moves.
        queries: Scene of each way point; the last one also counts for all further way points.
        start: Joint positions before the motion, (n,), rad or m.
        home: Joint positions that are a second seed of inverse kinematics, (n,), rad or m.
        candidate: EE poses in the world, one or more.
        state: Random numbers; it is advanced.
        deadline: Limit of time, and the client's request to stop.

    Returns:
        OK with configurations (w, n) at the way points and the cost, which is the sum of joint moves along them
        [rad or m]; else the code and the blocking pair of the first failure.

    Raises:
        Failed: CANCELED or PLAN_BUDGET.
    """
    first = solve_pose(queries[0], candidate.world_T_ee[0], np.array([start, home]), state, TRIES, SOLUTIONS)
    if len(first.q) == 0:
        if first.hit[0] >= 0:
            return CandidateVerdict(
                Code.GOAL_IN_COLLISION, NO_Q, blocking=queries[0].pair(first.hit), waypoint=0
            )
        return CandidateVerdict(Code.NO_IK, NO_Q, waypoint=0)
    # Not the exception: its traceback holds this frame, and the cycle the arrays of all queries, for many minutes.
    why: CandidateVerdict | None = None
    for i in np.argsort(np.abs(first.q - start).sum(axis=1), kind="stable"):
        q = _later(arm, queries, first.q[i], candidate, deadline)
        if isinstance(q, CandidateVerdict):
            why = why or q
            continue
        cost = float(np.abs(np.diff(np.concatenate([start[None], q]), axis=0)).sum())
        return CandidateVerdict(Code.OK, q, cost)
    assert why is not None
    return why


def _later(
    arm: ArmSpec, queries: tuple[Query, ...], q: Array, candidate: Candidate, deadline: Deadline
) -> Array | CandidateVerdict:
    """Return configurations (w, n) at all way points; or the verdict on the way point that a line does not lead to.

    Raises:
        Failed: As ``judge``.
    """
    rows = [q]
    for i, pose in enumerate(candidate.world_T_ee[1:], start=1):
        query = queries[min(i, len(queries) - 1)].touching_at(rows[-1])
        try:
            rows.append(track(query, arm, rows[-1], pose, DEVIATION_M, deadline)[-1])
        except Failed as failed:
            code = failed.outcome.code
            if code in (Code.CANCELED, Code.PLAN_BUDGET):
                raise
            return CandidateVerdict(code, NO_Q, blocking=failed.outcome.blocking, waypoint=i)
    return np.array(rows)
