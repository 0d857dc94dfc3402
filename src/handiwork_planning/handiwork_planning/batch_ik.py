"""Inverse kinematics of many poses, one result each."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from handiwork_core.contracts.planning import IkRequest, IkResult, ShouldStop
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from handiwork_core.robot.robot import ArmSpec

from .ik.pose_ik import PoseSearch, Solutions, flat_poses
from .kernels.arrays import OFF, Ints
from .kernels.rng import new_state
from .planner import Core
from .scene.query import Query
from .search.requests import Failed

TRIES = 128
"""Random starts per pose, after the seeds."""
BLOCK = 4096
"""Poses that one search works on."""
CODES = np.full(1 + max(Code), Code.UNSET, dtype=object)
"""Each code at the index of its number."""
CODES[[int(code) for code in Code]] = list(Code)


@dataclass(frozen=True, slots=True, eq=False)
class IkAnswers:
    """What was found of each pose of a request so far; see ``IkResult``.

    Attributes:
        q: Joint positions, (p, n), rad or m; nan without a solution.
        errors: Smallest errors, (p, 2), m and rad.
        codes: Codes as numbers, (p,).
        began_s: The time at which the request was begun, s of steady time.
    """

    q: Array
    errors: Array
    codes: Ints
    began_s: float

    @classmethod
    def none_yet(cls, request: IkRequest) -> IkAnswers:
        """Return the answers before the first pose is solved: all CANCELED.

        Args:
            request: The request.
        """
        count, dof = len(request.world_T_ee), np.atleast_2d(request.seed_q).shape[1]
        codes = np.full(count, int(Code.CANCELED), dtype=np.int64)
        return cls(np.full((count, dof), np.nan), np.full((count, 2), np.inf), codes, time.monotonic())

    def result(self, code: Code | None = None) -> IkResult:
        """Return the result of the request.

        Args:
            code: The code of all poses; None for that of each.
        """
        count = len(self.codes)
        said = tuple(CODES[self.codes].tolist()) if code is None else (code,) * count
        return IkResult(said, self.q, self.errors[:, 0], self.errors[:, 1], time.monotonic() - self.began_s)


def opened(core: Core, request: IkRequest) -> tuple[ArmSpec, Query]:
    """Return the arm of a request, and the reading of the scene in which its poses are solved.

    Args:
        core: Robot, world and caches.
        request: Poses, seeds and scene of one arm.

    Returns:
        The arm, and the reading; without margins when collision is not to be avoided.

    Raises:
        Failed: There is no such arm, the scene names something unknown, or BAD_NUMBER, a seed is no configuration.
    """
    arm = core.arm(request.arm)
    query = core.read(arm, request.scene)
    seeds, dof = np.atleast_2d(request.seed_q), len(arm.joint_names)
    if seeds.shape[1] != dof or not np.isfinite(seeds).all():
        raise Failed(Code.BAD_NUMBER, f"seed_q has shape {seeds.shape}; give {dof} finite joint positions")
    if not request.avoid_collision:
        query = replace(query, margins=np.full_like(query.margins, OFF))
    return arm, query


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
    answers, count = IkAnswers.none_yet(request), len(request.world_T_ee)
    try:
        arm, query = opened(core, request)
    except Failed as failed:
        return answers.result(failed.outcome.code)
    seeds = np.concatenate([np.atleast_2d(request.seed_q), arm.home_q[None]])
    state = new_state(request.seed)
    for first in range(0, count, BLOCK):
        block = slice(first, min(first + BLOCK, count))
        search = PoseSearch(query, flat_poses(request.world_T_ee[block]), seeds, state, most=1)
        found = search.run(len(seeds) + TRIES, BLOCK, should_stop)
        answers.q[first + found.owner] = found.q
        answers.errors[block], answers.codes[block] = found.errors, _codes(found)
        if not found.complete:
            break
    return answers.result()


def _codes(found: Solutions) -> Ints:
    """Return the code of each pose, (p,).

    OK with a solution, GOAL_IN_COLLISION if every solution touched something, NO_IK if there was none, and CANCELED
    if the search stopped before it was complete.
    """
    missed = np.where(found.hit[:, 0] >= 0, Code.GOAL_IN_COLLISION, Code.NO_IK)
    codes = missed if found.complete else np.full(len(missed), Code.CANCELED)
    codes[found.owner] = Code.OK
    return codes
