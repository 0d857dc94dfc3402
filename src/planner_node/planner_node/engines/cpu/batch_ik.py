"""Inverse kinematics of many poses, one result each."""

from __future__ import annotations

import time

import numpy as np

from handiwork_core.outcome import Code
from handiwork_core.planning import IkRequest, IkResult, ShouldStop

from .arrays import OFF
from .core import Core
from .goals import solve_pose
from .query import Query
from .requests import Failed
from .rng import new_state


def solve_batch(core: Core, request: IkRequest, should_stop: ShouldStop) -> IkResult:
    """Seeds are tried first, then random starts. A stop leaves CANCELED for the poses not reached."""
    started, count = time.monotonic(), len(request.world_T_ee)
    dof = np.atleast_2d(request.seed_q).shape[1]
    codes, q = [Code.CANCELED] * count, np.full((count, dof), np.nan)
    gap, turn = np.full(count, np.inf), np.full(count, np.inf)
    try:
        arm = core.arm(request.arm)
        query = core.read(arm, request.scene)
    except Failed as failed:
        return IkResult((failed.code,) * count, q, gap, turn, time.monotonic() - started)
    if dof != len(arm.joint_names) or not np.isfinite(request.seed_q).all():
        return IkResult((Code.BAD_NUMBER,) * count, q, gap, turn, time.monotonic() - started)
    if not request.avoid_collision:
        off = np.full_like(query.margins, OFF)
        query = Query(query.robot, query.scene, off, query.bodies, query.columns, query.held)
    seeds = np.concatenate([np.atleast_2d(request.seed_q), arm.home_q[None]])
    for i, pose in enumerate(request.world_T_ee):
        if should_stop():
            break
        found = solve_pose(query, pose, seeds, new_state(request.seed + i), tries=40, most=1)
        gap[i], turn[i] = found.errors
        if len(found.q):
            codes[i], q[i] = Code.OK, found.q[0]
        else:
            codes[i] = Code.GOAL_IN_COLLISION if found.hit[0] >= 0 else Code.NO_IK
    return IkResult(tuple(codes), q, gap, turn, time.monotonic() - started)
