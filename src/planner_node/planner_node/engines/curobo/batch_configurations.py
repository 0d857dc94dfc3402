"""Inverse kinematics and checks of many configurations: near solutions from the GPU, finished and tested by the CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from handiwork_core.contracts.planning import IkRequest, IkResult, ShouldStop
from handiwork_core.model.geometry import Array, Pose, PoseArray
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import Indices
from handiwork_planning.batch_ik import IkAnswers, opened
from handiwork_planning.ik.finish import REACHED, finished
from handiwork_planning.ik.pose_ik import flat_poses
from handiwork_planning.planner import Core
from handiwork_planning.scene.query import Query
from handiwork_planning.search.requests import Failed

from .solvers.configurations import POSES, STARTS, Solutions

LEAST_POSES = 2_000
"""Fewer poses are always the CPU engine's."""
PROBED = (64, 256)
"""Poses that the CPU engine solves first, to estimate how many can be reached; the second number only above FEW."""
FEW = 0.8
"""Below this share of the first poses the GPU is faster anyway, and each pose without a solution takes long."""
SOLVED_S, MISSED_S = 1.0e-5, 3.4e-4
"""Measured times of the CPU engine for a pose that it solves, and for one that it does not, on one core."""
GPU_S, GPU_CALL_S = 1.1e-5, 0.1
"""The same of the GPU for any pose, with the CPU's test of it, and of a request."""
ROUNDS = 3
"""The poses that are left get other starts, so many times in all: STARTS alone miss one reachable pose in twelve."""
HOPELESS = 0.16
"""A pose that stays farther off than this from all of its starts, m plus rad, gets no others. So did two thirds of the
poses that no start solved, and 1 in 20 of those that later starts solved."""
RANKS = 3
"""Solutions of a pose that the CPU tests before it is given up: it may refuse what the GPU takes for free."""


class Configurations(Protocol):
    """What is needed of ``ConfigurationSolvers``."""

    def solve(self, base_T_ee: Array, starts: Array, *, is_free: bool) -> Solutions:
        """Solve inverse kinematics; see ``ConfigurationSolvers.solve``.

        Args:
            base_T_ee: Poses, (p, 7).
            starts: Joint positions, (STARTS, n), rad or m.
            is_free: Whether solutions must be free of collision.
        """


def is_for_gpu(count: int, solved_share: float) -> bool:
    """Check whether the GPU is expected to be faster.

    Args:
        count: Number of poses.
        solved_share: Expected share of those that have a solution.
    """
    if count < LEAST_POSES:
        return False
    on_cpu = count * (solved_share * SOLVED_S + (1.0 - solved_share) * MISSED_S)
    return on_cpu > GPU_CALL_S + count * GPU_S


def solved_share(request: IkRequest, solve: Callable[[IkRequest], IkResult]) -> float:
    """Estimate which share of the poses has a solution, from some all over the request.

    Args:
        request: The request, of many poses.
        solve: Solves the few poses.
    """
    share = 1.0
    for count in PROBED:
        rows = np.linspace(0, len(request.world_T_ee) - 1, count).astype(int)
        some = replace(request, world_T_ee=tuple(request.world_T_ee[i] for i in rows))
        share = sum(code is Code.OK for code in solve(some).codes) / count
        if share < FEW:
            break
    return share


def solve_many(
    core: Core, request: IkRequest, opened_solvers: Callable[[], Configurations], should_stop: ShouldStop
) -> IkResult:
    """Solve the inverse kinematics of every pose from up to ROUNDS times STARTS starts.

    While the GPU solves one block of poses the CPU finishes the last one.

    Args:
        core: Robot, world and caches.
        request: Poses world_T_ee, seeds and scene of one arm.
        opened_solvers: Returns the GPU's solvers with the request's spheres and world.
        should_stop: Polled between blocks of POSES; the poses not reached yet get CANCELED.

    Returns:
        One code, configuration and error per pose. A pose without a solution has a configuration of nan.
    """
    answers = IkAnswers.none_yet(request)
    try:
        arm, query = opened(core, request)
    except Failed as failed:
        return answers.result(failed.outcome.code)
    solvers, rng = opened_solvers(), np.random.default_rng(request.seed)
    poses = request.world_T_ee
    rows = np.empty((len(poses), 7))
    search = _Search(query, np.empty((len(poses), 12)), answers)
    seeds = np.concatenate([np.atleast_2d(request.seed_q), np.array(arm.home_q)[None]])[:STARTS]
    lower, upper = query.robot.lower, query.robot.upper
    with ThreadPoolExecutor(1, thread_name_prefix="GPU inverse kinematics") as gpu:
        for turn in range(ROUNDS):
            starts = rng.uniform(lower, upper, (STARTS, len(lower)))
            if turn == 0:
                starts[: len(seeds)] = np.clip(seeds, lower, upper)
            left = search.left()
            last: tuple[Indices, Future[Solutions]] | None = None
            for first in range(0, len(left), POSES):
                if should_stop():
                    break
                some = left[first : first + POSES]
                if turn == 0:  # all are left, in order; the GPU solves the last block meanwhile
                    block = slice(first, first + POSES)
                    rows[block] = base_rows(poses[block], core.world_T_root)
                    search.goals[block] = flat_poses(poses[block])
                found = gpu.submit(solvers.solve, rows[some], starts, is_free=request.avoid_collision)
                if last is not None:
                    search.take(last[0], last[1].result())
                last = (some, found)
            if last is not None:
                search.take(last[0], last[1].result())
            if should_stop():
                break
    return answers.result()


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """The poses of a request, and what was found of each so far."""

    query: Query
    goals: Array
    answers: IkAnswers

    def left(self) -> Indices:
        """Return the indices of the poses that are worth other starts, (s,)."""
        codes, errors = self.answers.codes, self.answers.errors
        may_be = (codes != int(Code.NO_IK)) | (errors.sum(axis=1) < HOPELESS)
        return np.flatnonzero((codes != int(Code.OK)) & may_be)

    def take(self, some: Indices, found: Solutions) -> None:
        """Finish what the GPU has found for some of the poses.

        Args:
            some: Their indices, (s,).
            found: Near solutions.
        """
        codes, errors = self.answers.codes, self.answers.errors
        best = found.errors[np.arange(len(some)), found.errors.sum(axis=2).argmin(axis=1)]
        nearer = best.sum(axis=1) < errors[some].sum(axis=1)
        errors[some[nearer]] = best[nearer]
        touched = found.near.any(axis=1) | (codes[some] == int(Code.GOAL_IN_COLLISION))
        codes[some] = np.where(touched, int(Code.GOAL_IN_COLLISION), int(Code.NO_IK))
        for rank in range(RANKS):
            chosen = np.flatnonzero((found.free.sum(axis=1) > rank) & (codes[some] != int(Code.OK)))
            if not len(chosen):
                return
            column = np.argsort(~found.free[chosen], axis=1, kind="stable")[:, rank]
            robot = self.query.robot
            ends = np.clip(found.q[chosen, column].astype(np.float64), robot.lower, robot.upper)
            states, left = finished(self.query, self.goals[some[chosen]], ends)
            done = states == REACHED
            at = some[chosen[done]]
            self.answers.q[at], errors[at], codes[at] = ends[done], left[done], int(Code.OK)


def base_rows(poses: Sequence[Pose], world_T_base: Pose) -> Array:
    """Return poses in the base frame, (p, 7): x, y, z in m and wxyz.

    Args:
        poses: world_T_ee.
        world_T_base: The robot's base in the world.
    """
    inverse, rows = world_T_base.inverse(), PoseArray.of(poses)
    a, b, c, d = inverse.rotation.wxyz
    left = np.array([[a, -b, -c, -d], [b, a, -d, c], [c, d, a, -b], [d, -c, b, a]])
    return np.concatenate([inverse.apply(rows.translations_m), rows.wxyz @ left.T], axis=1)
