"""A grasp in one call, with any engine: a free motion to the approach, a line to the grasp, a line up with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from handiwork_core.contracts.planning import (
    Attachment,
    Candidate,
    CandidatesRequest,
    CandidatesResult,
    CandidateVerdict,
    Engine,
    Goal,
    JointGoals,
    PlanRequest,
    PlanResult,
    SceneQuery,
    ShouldStop,
    StraightGoal,
)
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory

Way = tuple[Pose, Pose, Pose]
FIRST = 12
"""Grasps that are judged first, spread evenly over those given."""


@dataclass(frozen=True, slots=True, eq=False)
class GraspRequest:
    """Take ``object`` at any of ``world_T_ee``.

    Attributes:
        arm: Name of the arm.
        start_q: Start configuration, (n,), rad or m.
        object: Name of the object.
        world_T_object: Pose of the object.
        world_T_ee: Grasps: poses of the EE link.
        ee_link: The link that holds the object.
        ee_approach_m: From the grasp to the start of the straight approach, in the EE frame, m.
        world_lift_m: The way up afterwards, in the world, m.
        scene: Attachments, gripper openings and allowed contacts before the grasp.
        closed_m: Positions of the gripper's joints while it holds the object.
        budget_s: Steady time for the whole request, s.
        seed: Seed of all random numbers.
    """

    arm: str
    start_q: Array
    object: str
    world_T_object: Pose
    world_T_ee: tuple[Pose, ...]
    ee_link: str
    ee_approach_m: tuple[float, float, float] = (0.0, 0.0, -0.1)
    world_lift_m: tuple[float, float, float] = (0.0, 0.0, 0.1)
    scene: SceneQuery = field(default_factory=SceneQuery)
    closed_m: tuple[tuple[str, float], ...] = ()
    budget_s: float = 5.0
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class GraspPlan:
    """The result of ``plan_grasp``.

    Attributes:
        code: OK, or the reason of the failure.
        message: The reason in words; empty with OK.
        parts: Motions to the approach, to the grasp, and up with the object; three exactly when ``code`` is OK.
        grasp_index: Row of ``GraspRequest.world_T_ee``; -1 without a plan.
        planning_time_s: Time spent, s.
    """

    code: Code
    message: str = ""
    parts: tuple[Trajectory, ...] = ()
    grasp_index: int = -1
    planning_time_s: float = 0.0


def plan_grasp(engine: Engine, request: GraspRequest, should_stop: ShouldStop) -> GraspPlan:
    """Plan one grasp of several: approach, grasp and lift.

    The grasps that can be done are the goals of one free plan; the one that it reaches is followed to the lift. When
    its lines fail, the others are tried, then further grasps, until the budget is spent. The object is no obstacle
    while the hand is at it, and is carried on the way up.

    Args:
        engine: The engine that judges the grasps and plans the motions.
        request: The object, its grasps and the scene.
        should_stop: Polled during planning.

    Returns:
        The plan, or NO_CANDIDATE with the reasons by number, BAD_GOAL without a grasp, or the code of the last try.
    """
    count = len(request.world_T_ee)
    spent_s, causes = 0.0, Counter[Code]()
    last = GraspPlan(Code.BAD_GOAL, "no grasp was given; give at least one")
    for rows in _rounds(count):
        ways = {i: _way(request, request.world_T_ee[i]) for i in rows}
        judged = _judged(engine, request, list(ways.values()), should_stop, spent_s)
        spent_s += judged.planning_time_s
        if judged.code is not Code.OK:
            return GraspPlan(judged.code, judged.message, planning_time_s=spent_s)
        found = dict(zip(rows, judged.verdicts, strict=True))
        causes.update(verdict.code for verdict in found.values())
        good = {i: verdict for i, verdict in found.items() if verdict.code is Code.OK}
        if good:
            last = _planned(engine, request, ways, good, should_stop, spent_s)
            spent_s = last.planning_time_s
        if last.code in (Code.OK, Code.CANCELED) or spent_s >= request.budget_s:
            return last
    if count and not causes[Code.OK]:
        reasons = ", ".join(f"{code.name} ({n} times)" for code, n in causes.most_common())
        text = f"none of {count} grasps of {request.object!r} can be done: {reasons}"
        return GraspPlan(Code.NO_CANDIDATE, text, planning_time_s=spent_s)
    return replace(last, planning_time_s=spent_s)


def _rounds(count: int) -> list[range]:
    """Return the indices of the grasps that are judged together.

    The first round has a few from everywhere, for they mostly suffice.
    """
    step = max(1, count // FIRST)
    return [range(first, count, step) for first in range(min(step, count))]


def _judged(
    engine: Engine,
    request: GraspRequest,
    ways: list[Way],
    should_stop: ShouldStop,
    spent_s: float,
) -> CandidatesResult:
    at = replace(request.scene, ignored=request.scene.ignored | {request.object})
    asked = CandidatesRequest(
        request.arm,
        request.start_q,
        tuple(Candidate(way) for way in ways),
        (request.scene, at, at),
        budget_s=max(request.budget_s - spent_s, 0.0),
        seed=request.seed,
    )
    return engine.check_candidates(asked, should_stop)


def _planned(
    engine: Engine,
    request: GraspRequest,
    ways: Mapping[int, Way],
    good: Mapping[int, CandidateVerdict],
    should_stop: ShouldStop,
    spent_s: float,
) -> GraspPlan:
    """Plan freely to the first configurations of all that are left, then the lines of the grasp that was reached."""
    left = sorted(good, key=lambda i: good[i].cost)
    last = PlanResult(Code.PLAN_BUDGET, f"checking the grasps took all of budget_s = {request.budget_s:g} s")
    while left and spent_s < request.budget_s:
        free = JointGoals(np.array([good[i].q[0] for i in left]))
        last = engine.plan(_asked(request, request.start_q, free, request.scene, spent_s), should_stop)
        spent_s += last.planning_time_s
        if last.trajectory is None:
            break
        chosen, first = left[last.goal_index], last.trajectory
        parts = _lines(engine, request, first, ways[chosen], should_stop, spent_s)
        spent_s, last = spent_s + sum(part.planning_time_s for part in parts), parts[-1]
        if last.code is Code.OK:
            motions = (first, *(part.trajectory for part in parts if part.trajectory is not None))
            return GraspPlan(Code.OK, "", motions, chosen, spent_s)
        if last.code is Code.CANCELED:
            break
        left.remove(chosen)
    return GraspPlan(last.code, last.message, planning_time_s=spent_s)


def _way(request: GraspRequest, grasp: Pose) -> Way:
    """Return the tool poses before, at and after the grasp."""
    return grasp @ Pose.of(request.ee_approach_m), grasp, Pose.of(request.world_lift_m) @ grasp


def _lines(
    engine: Engine,
    request: GraspRequest,
    first: Trajectory,
    way: Way,
    should_stop: ShouldStop,
    spent_s: float,
) -> list[PlanResult]:
    """Plan the straight parts from the end of ``first``, up to the first that fails."""
    at = replace(request.scene, ignored=request.scene.ignored | {request.object})
    held = Attachment(request.object, request.ee_link, way[1].inverse() @ request.world_T_object)
    closed = {**dict(request.scene.gripper_m), **dict(request.closed_m)}
    carrying = replace(
        request.scene, attached=(*request.scene.attached, held), gripper_m=tuple(closed.items())
    )
    parts: list[PlanResult] = []
    q = first.q[-1]
    for pose, scene in ((way[1], at), (way[2], carrying)):
        answer = engine.plan(_asked(request, q, StraightGoal(pose), scene, spent_s), should_stop)
        parts.append(answer)
        if answer.trajectory is None:
            break
        q, spent_s = answer.trajectory.q[-1], spent_s + answer.planning_time_s
    return parts


def _asked(request: GraspRequest, q: Array, goal: Goal, scene: SceneQuery, spent_s: float) -> PlanRequest:
    left_s = max(request.budget_s - spent_s, 0.0)
    return PlanRequest(request.arm, q, goal, scene, budget_s=left_s, seed=request.seed)
