"""Many poses at once: the GPU solves inverse kinematics in batches, our own code makes it exact and judges it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from handiwork_core.geometry import Array, Pose
from handiwork_core.outcome import Code
from handiwork_core.planning import (
    CandidatesRequest,
    CandidatesResult,
    CandidateVerdict,
    IkRequest,
    IkResult,
    JointGoals,
    PlanRequest,
    SceneQuery,
    ShouldStop,
)
from handiwork_core.robot import ArmSpec
from planner_node.engines.cpu.arrays import flat
from planner_node.engines.cpu.batch_ik import solve_batch
from planner_node.engines.cpu.candidates import judge
from planner_node.engines.cpu.kinematics import pose_error, tool_poses
from planner_node.engines.cpu.query import Query
from planner_node.engines.cpu.requests import Deadline, Failed, within_limits
from planner_node.engines.cpu.rng import new_state

from .attempts import Goals
from .gpu_core import GpuCore
from .solvers import BATCH

MANY = 64
"""Fewer poses are the CPU engine's: a batch costs the GPU the same however few poses are in it."""


def solve_many(core: GpuCore, request: IkRequest, should_stop: ShouldStop) -> IkResult:
    """As ``Engine.solve_ik``; what the GPU does not find the CPU engine looks for, and says why it cannot be."""
    deadline = Deadline.start(should_stop, float("inf"))
    count = len(request.world_T_ee)
    try:
        arm = core.arm(request.arm)
        query = core.read(arm, request.scene)
        start = within_limits(arm, query, np.atleast_2d(request.seed_q)[0], "seed_q")
        q, found = _reached(core, arm, query, request.scene, start, request.world_T_ee, deadline)
    except Failed as failed:
        gone = np.full(count, np.inf)
        none = np.full((count, np.atleast_2d(request.seed_q).shape[1]), np.nan)
        return IkResult((failed.code,) * count, none, gone, gone.copy(), deadline.used_s)
    errors = _errors(query, q, request.world_T_ee)
    codes = [Code.OK if good else Code.NO_IK for good in found]
    q[~found], missed = np.nan, np.flatnonzero(~found)
    if len(missed):
        poses = tuple(request.world_T_ee[i] for i in missed)
        rest = solve_batch(core, replace(request, world_T_ee=poses), should_stop)
        q[missed] = rest.q
        errors[missed] = np.column_stack([rest.position_error_m, rest.angle_error_rad])
        for i, code in zip(missed, rest.codes, strict=True):
            codes[i] = code
    return IkResult(tuple(codes), q, errors[:, 0], errors[:, 1], deadline.used_s)


def judge_many(core: GpuCore, request: CandidatesRequest, should_stop: ShouldStop) -> CandidatesResult:
    """As ``Engine.check_candidates``: the GPU's solution of each first pose is one more place to search from."""
    deadline = Deadline.start(should_stop, request.budget_s)
    verdicts: list[CandidateVerdict] = []
    code, message = Code.OK, ""
    try:
        arm = core.arm(request.arm)
        scenes = request.scenes or (SceneQuery(),)
        queries = tuple(core.read(arm, scene) for scene in scenes)
        start = within_limits(arm, queries[0], request.start_q, "start")
        for i, candidate in enumerate(request.candidates):
            if not candidate.world_T_ee:
                raise Failed(Code.BAD_GOAL, f"candidate {i} has no pose; give at least one")
        firsts = tuple(candidate.world_T_ee[0] for candidate in request.candidates)
        q, found = _reached(core, arm, queries[0], scenes[0], start, firsts, deadline)
        for i, candidate in enumerate(request.candidates):
            deadline.poll()
            other = q[i] if found[i] else arm.home_q
            state = new_state(request.seed + 7919 * i)
            verdicts.append(judge(arm, queries, start, other, candidate, state, deadline))
    except Failed as failed:
        code, message = failed.code, failed.message
        missing = len(request.candidates) - len(verdicts)
        verdicts += [CandidateVerdict(code, np.zeros((0, 0)))] * missing
    return CandidatesResult(code, message, tuple(verdicts), deadline.used_s, core.scene.world.version)


def _reached(
    core: GpuCore,
    arm: ArmSpec,
    query: Query,
    scene: SceneQuery,
    start: Array,
    poses: tuple[Pose, ...],
    deadline: Deadline,
) -> tuple[Array, NDArray[np.bool_]]:
    """(p, n) configurations, and which of them (p,) reach their pose exactly and are free."""
    solvers = core.ready(arm, PlanRequest(arm.name, start, JointGoals(start[None]), scene), query, start)
    rows = core.base_rows(poses)
    q, found = np.zeros((len(poses), len(start))), np.zeros(len(poses), dtype=bool)
    for first in range(0, len(poses), BATCH):
        deadline.poll()
        part = slice(first, min(first + BATCH, len(poses)))
        some, good = solvers.reach_each(rows[part], start)
        index = first + np.flatnonzero(good)
        exact = Goals.polished(some[good], index, poses, Pose.identity(), query)
        q[exact.owner], found[exact.owner] = exact.q, True
    return q, found


def _errors(query: Query, q: Array, poses: tuple[Pose, ...]) -> Array:
    """(p, 2) [m, rad]."""
    there, error, out = np.empty((len(q), 12)), np.empty(6), np.empty((len(q), 2))
    tool_poses(np.ascontiguousarray(q), query.robot, there)
    for i, pose in enumerate(poses):
        pose_error(flat(pose), there[i], error)
        out[i] = np.linalg.norm(error[:3]), np.linalg.norm(error[3:])
    return out
