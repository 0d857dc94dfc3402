"""The questions of a run to the planner, each asked in one way: stoppable, and with its time added to the run's."""

from __future__ import annotations

from handiwork_core.contracts.planning import (
    Candidate,
    CandidatesRequest,
    CandidatesResult,
    Goal,
    PlanRequest,
    PlanResult,
    SceneQuery,
)
from handiwork_core.contracts.skill import Context
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from skill_server.params.protocol import RunParams


def plan_motion(
    context: Context,
    params: RunParams,
    start_q: Array,
    goal: Goal,
    scene: SceneQuery,
    *,
    speed: float,
    hold_vec_weight: tuple[float, ...] | None = None,
) -> PlanResult:
    """Ask the planner for a motion of the run's arm.

    Args:
        context: Ports of the run; the planning time is added to its own.
        params: Limits of time, velocity and acceleration.
        start_q: Configuration (dof,) [rad] that the motion starts at.
        goal: Where it leads.
        scene: How the world is to be read.
        speed: Part of the allowed velocity and acceleration.
        hold_vec_weight: Weights of the pose components that must keep their start value; None for none.

    Returns:
        The planner's answer, good or bad.

    Raises:
        Stopped: The token was set.
        ValueError: The planner answered OK without a trajectory.
    """
    request = PlanRequest(
        arm=context.arm_spec.name,
        start_q=start_q,
        goal=goal,
        scene=scene,
        hold_vec_weight=hold_vec_weight,
        budget_s=params.allowed_planning_time,
        velocity_scaling=params.max_velocity_scaling_factor * speed,
        acceleration_scaling=params.max_acceleration_scaling_factor * speed,
        seed=context.seed,
    )
    context.token.check()
    result = context.planner.plan(request, should_stop=context.token.is_set)
    context.token.check()
    context.planning_time_s += result.planning_time_s
    if result.code is Code.OK and result.trajectory is None:
        raise ValueError("the planner answered OK without a trajectory")
    return result


def judge_candidates(
    context: Context,
    start_q: Array,
    candidates: tuple[Candidate, ...],
    scenes: tuple[SceneQuery, ...],
    budget_s: float,
) -> CandidatesResult:
    """Ask the planner which candidates the run's arm can do.

    Args:
        context: Ports of the run; the planning time is added to its own.
        start_q: Configuration (dof,) [rad] that each candidate starts at.
        candidates: The ways that are to be judged.
        scenes: How the world is to be read: once for all waypoints, or once for each.
        budget_s: Steady time that the planner may take [s].

    Returns:
        The planner's answer; where it is OK, it holds one verdict for each candidate, in order.

    Raises:
        Stopped: The token was set.
        ValueError: The planner gave another number of verdicts.
    """
    request = CandidatesRequest(context.arm_spec.name, start_q, candidates, scenes, budget_s, context.seed)
    context.token.check()
    result = context.planner.check_candidates(request, should_stop=context.token.is_set)
    context.token.check()
    context.planning_time_s += result.planning_time_s
    if result.code is Code.OK and len(result.verdicts) != len(candidates):
        raise ValueError(f"the planner gave {len(result.verdicts)} verdicts for {len(candidates)} candidates")
    return result
