"""Runs a skill to its end, whatever that is: the only place that catches failures and brings the arm to rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from handiwork_core.contracts.composite import CompositeSkill
from handiwork_core.contracts.skill import (
    Context,
    Skill,
    StepFailed,
    Stopped,
    Token,
)
from handiwork_core.model.outcome import Code, Outcome
from skill_server.params.protocol import RunParams
from skill_server.params.retry_policy import RetryPolicy
from skill_server.state import gripper_state

from .attempt_loop import AttemptLoop
from .stage_log import StageLog, StageReport
from .step_loop import StepLoop

P = TypeVar("P", bound=RunParams)


@dataclass(frozen=True, slots=True)
class ExecutionResult:
    """How a run of ``arm`` ended; ``duration_s`` in time of the robot's world, ``planning_time_s`` steady.

    ``bundle`` is the file that the flight recorder leaves of it; empty for none.
    """

    outcome: Outcome
    stages: tuple[StageReport, ...]
    duration_s: float
    planning_time_s: float
    world_version: int
    seed: int
    arm: str = ""
    bundle: str = ""


def run_skill(
    skill: Skill[P], params: P, context: Context, policy: RetryPolicy | None = None
) -> ExecutionResult:
    """Run a skill to its end, whatever that is; never raises.

    On anything but success the arm is at rest when this returns.

    Args:
        skill: What to do.
        params: Its checked parameters.
        context: Ports of the run.
        policy: What is tried again after a failure, of a composite skill in each step; None: as the parameters say.

    Returns:
        How the run ended, with its stages.
    """
    log = StageLog(context)
    run: AttemptLoop | StepLoop = AttemptLoop(skill, params, context, log, policy)
    if isinstance(skill, CompositeSkill):
        run = StepLoop(skill, params, context, log, policy)
    started_s = 0.0
    try:
        started_s = context.clock.now_s()
        outcome = run.run()
    except Stopped as stop:
        outcome = _stopped(context.token, log.stage)
        outcome = replace(outcome, message=outcome.message + stop.report)
    except StepFailed as failure:
        outcome = failure.outcome
    except Exception as bug:  # noqa: BLE001 - the border: a bug in a skill or a port ends the goal, not the server
        outcome = Outcome(Code.INTERNAL, f"{type(bug).__name__}: {bug}; please report this")
    if not outcome.ok:
        outcome = replace(outcome, stage=outcome.stage or log.stage)
        for one in (context, *context.partners.values()):
            outcome = _rest(one, outcome)
        outcome = _with_holders(context, outcome)
    duration_s = _close(log, context, outcome, started_s)
    arm, contexts = context.arm_spec.name, (context, *context.partners.values())
    spent_s = sum(one.planning_time_s for one in contexts)
    return ExecutionResult(outcome, log.reports, duration_s, spent_s, run.world_version, context.seed, arm)


def _stopped(token: Token, stage: str) -> Outcome:
    reason = token.reason
    if reason is Code.PLANNER_LOST:
        return Outcome(
            reason, f"planner_node was lost in stage {stage!r}; restart it and send the goal again"
        )
    if reason is Code.ROBOT_LOST:
        return Outcome(reason, f"the robot was lost in stage {stage!r}: {token.detail}")
    if token.detail:
        return Outcome(reason, f"{token.detail} (ended in stage {stage!r})")
    return Outcome(reason, f"{reason.name.lower()} in stage {stage!r}")


def _rest(context: Context, outcome: Outcome) -> Outcome:
    """Stop the arm and forget objects that are no longer in the hand."""
    if context.token.is_revoked:
        return outcome
    try:
        stopped = context.arm.stop()
        if not stopped.ok:
            text = f"{outcome.message}; the arm may still move: {stopped.message}"
            # A client that reads CANCELED takes the arm to be at rest.
            code = stopped.code if outcome.code is Code.CANCELED else outcome.code
            outcome = replace(outcome, code=code, message=text)
        gripper_state.forget_lost(context, context.world.snapshot())
    except Stopped:  # its ports were revoked meanwhile, and who revokes them brings the arm to rest
        return outcome
    except Exception as bug:  # noqa: BLE001 - the first cause stays the outcome; a broken port is named beside it
        text = f"{outcome.message}; stopping the arm failed: {type(bug).__name__}: {bug}"
        outcome = replace(outcome, code=Code.INTERNAL, message=text)
    return outcome


def _with_holders(context: Context, outcome: Outcome) -> Outcome:
    """Say where the objects are that a goal of several arms may have moved from hand to hand."""
    if not context.partners or context.token.is_revoked:
        return outcome
    holders = dict[str, list[str]]()
    for one in (context, *context.partners.values()):
        for name in one.held:
            holders.setdefault(name, []).append(one.arm_spec.name)
    words = "".join(f"; {name!r} is held by {' and '.join(arms)}" for name, arms in holders.items())
    return replace(outcome, message=outcome.message + words)


def _close(log: StageLog, context: Context, outcome: Outcome, started_s: float) -> float:
    try:
        log.close(outcome.code)
        return context.clock.now_s() - started_s
    except Exception:  # noqa: BLE001 - a broken clock must not hide the outcome
        return float("nan")
