"""Inverse kinematics of many poses, one result each."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from handiwork_core.contracts.planning import IkRequest, IkResult, ShouldStop
from handiwork_core.model.outcome import Code

from .ik.pose_ik import PoseSearch, Solutions, flat_poses
from .kernels.arrays import OFF, Ints
from .kernels.rng import new_state
from .planner import Core
from .search.requests import Failed

TRIES = 128
"""Random starts per pose, after the seeds."""
BLOCK = 4096
"""Poses that one search works on."""
CODES = {int(code): code for code in Code}


def solve_batch(core: Core, request: IkRequest, should_stop: ShouldStop) -> IkResult:
    """Solve the inverse kinematics of every pose of a request.

    Seeds are tried first, then random starts.

    Args:
        core: Robot, world and caches.
        request: Poses world_T_ee, seeds and scene of one arm.
        should_stop: Polled during the search; when it is true the poses not reached yet get CANCELED.

    Returns:
        One code, configuration and error per pose. A pose without a solution has a configuration of nan.
    """
    started, count = time.monotonic(), len(request.world_T_ee)
    dof = np.atleast_2d(request.seed_q).shape[1]
    q, errors = np.full((count, dof), np.nan), np.full((count, 2), np.inf)
    codes = np.full(count, Code.CANCELED)

    def result(code: Code | None = None) -> IkResult:
        said = tuple(CODES[c] for c in codes.tolist()) if code is None else (code,) * count
        return IkResult(said, q, errors[:, 0], errors[:, 1], time.monotonic() - started)

    try:
        arm = core.arm(request.arm)
        query = core.read(arm, request.scene)
    except Failed as failed:
        return result(failed.outcome.code)
    if dof != len(arm.joint_names) or not np.isfinite(request.seed_q).all():
        return result(Code.BAD_NUMBER)
    if not request.avoid_collision:
        query = replace(query, margins=np.full_like(query.margins, OFF))
    seeds = np.concatenate([np.atleast_2d(request.seed_q), arm.home_q[None]])
    state = new_state(request.seed)
    for first in range(0, count, BLOCK):
        block = slice(first, min(first + BLOCK, count))
        search = PoseSearch(query, flat_poses(request.world_T_ee[block]), seeds, state, most=1)
        found = search.run(len(seeds) + TRIES, BLOCK, should_stop)
        q[first + found.owner] = found.q
        errors[block], codes[block] = found.errors, _codes(found)
        if not found.complete:
            break
    return result()


def _codes(found: Solutions) -> Ints:
    """Return the code of each pose, (p,).

    OK with a solution, GOAL_IN_COLLISION if every solution touched something, NO_IK if there was none, and CANCELED
    if the search stopped before it was complete.
    """
    missed = np.where(found.hit[:, 0] >= 0, Code.GOAL_IN_COLLISION, Code.NO_IK)
    codes = missed if found.complete else np.full(len(missed), Code.CANCELED)
    codes[found.owner] = Code.OK
    return codes
