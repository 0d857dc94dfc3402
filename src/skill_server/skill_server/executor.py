"""Runs a skill: chooses, walks the command list, judges.

The only place that moves, waits and looks at the token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from handiwork_core.commands import Command, Motion, OpenGripper
from handiwork_core.geometry import Array
from handiwork_core.outcome import Code, Outcome
from handiwork_core.skill import Context, Skill, StepFailed, Stopped
from handiwork_core.world import World

from . import grip
from .carry_watch import CarryWatch
from .functions import Functions
from .stage_log import StageLog, StageReport
from .steps import POLL_S, PlanRefused, RunParams, Steps

ATTEMPTS = 3
"""How many candidates are tried when no free path leads to the chosen one."""
RETRIED = (Code.PLAN_FAILED, Code.PATH_BLOCKED, Code.PLAN_BUDGET, Code.GOAL_IN_COLLISION, Code.NO_IK)
SETTLE_S = 2.0
SETTLED_MPS = 0.02
NEW_WORLD_S = 0.1
P = TypeVar("P", bound=RunParams)


@dataclass(frozen=True, slots=True)
class SkillRun:
    """How a run ended; ``duration_s`` in time of the robot's world, ``planning_time_s`` steady."""

    outcome: Outcome
    stages: tuple[StageReport, ...]
    duration_s: float
    planning_time_s: float
    world_version: int
    seed: int


def run_skill(skill: Skill[P], params: P, context: Context) -> SkillRun:
    """Run to the end, whatever it is; never raises.

    On anything but success the arm is at rest when this returns.
    """
    log = StageLog(context)
    run = _Run(skill, params, context, log)
    started_s = 0.0
    try:
        started_s = context.clock.now_s()
        outcome = run.run()
    except Stopped:
        outcome = _stopped(context.token.reason, log.stage)
    except StepFailed as failure:
        outcome = failure.outcome
    except Exception as bug:  # noqa: BLE001 - the border: a bug in a skill or a port ends the goal, not the server
        outcome = Outcome(Code.INTERNAL, f"{type(bug).__name__}: {bug}; please report this")
    if not outcome.ok:
        outcome = replace(outcome, stage=outcome.stage or log.stage)
        outcome = _rest(context, outcome)
    duration_s = _close(log, context, outcome, started_s)
    return SkillRun(
        outcome, log.reports, duration_s, context.planning_time_s, run.world_version, context.seed
    )


def _stopped(reason: Code, stage: str) -> Outcome:
    if reason is Code.PLANNER_LOST:
        return Outcome(
            reason, f"planner_node was lost in stage {stage!r}; restart it and send the goal again"
        )
    return Outcome(reason, f"{reason.name.lower()} in stage {stage!r}")


def _rest(context: Context, outcome: Outcome) -> Outcome:
    """Stop the arm and forget objects that are no longer in the hand."""
    try:
        stopped = context.arm.stop()
        if not stopped.ok:
            text = f"{outcome.message}; the arm may still move: {stopped.message}"
            # Whoever reads CANCELED takes the arm to be at rest.
            code = stopped.code if outcome.code is Code.CANCELED else outcome.code
            outcome = replace(outcome, code=code, message=text)
        grip.forget_lost(context, context.world.snapshot())
    except Exception as bug:  # noqa: BLE001 - the first cause stays the outcome; a broken port is told beside it
        text = f"{outcome.message}; stopping the arm failed: {type(bug).__name__}: {bug}"
        outcome = replace(outcome, code=Code.INTERNAL, message=text)
    return outcome


def _close(log: StageLog, context: Context, outcome: Outcome, started_s: float) -> float:
    try:
        log.close(outcome.code)
        return context.clock.now_s() - started_s
    except Exception:  # noqa: BLE001 - a broken clock must not hide the outcome
        return float("nan")


class _Run:
    """One run, from the choice to the judgement."""

    def __init__(self, skill: Skill[P], params: P, context: Context, log: StageLog) -> None:
        self._skill, self._params, self._context, self._log = skill, params, context, log
        self.world_version = 0
        self._first_free: Array | None = None

    def run(self) -> Outcome:
        context = self._context
        context.token.check()
        before = context.world.snapshot()
        verdict = self._skill.is_feasible(self._params, context.robot, context.arm_spec, before)
        if not verdict.ok:
            return verdict
        grip.forget_lost(context, before)
        tried: list[str] = []
        while True:
            self._log.enter("select")
            steps = Steps(self._params, context, before, CarryWatch(context))
            try:
                before = steps.before = steps.world()
                self._walk(self._chosen(tried), steps)
                break
            except PlanRefused as refusal:
                if not self._may_retry(refusal, steps, tried):
                    raise
        return self._judge(before, steps)

    def _chosen(self, tried: Sequence[str]) -> Sequence[Command]:
        """The command list, or the failure of the choice together with what was tried before."""
        try:
            commands = self._skill.commands(self._params, self._context)
        except StepFailed as failure:
            if not tried:
                raise
            text = f"{failure.outcome.message}; tried before: {' | '.join(tried)}"
            raise StepFailed(replace(failure.outcome, message=text)) from failure
        self._context.token.check()
        self._log.planned()
        self._log.expect(tuple(dict.fromkeys(command.stage for command in commands)))
        return commands

    def _may_retry(self, refusal: PlanRefused, steps: Steps, tried: list[str]) -> bool:
        """Only while the arm has not moved; remembers what could not be reached."""
        tried.append(refusal.outcome.message)
        if steps.moved or refusal.outcome.code not in RETRIED or self._first_free is None:
            return False
        self._context.refused.append(self._first_free)
        if len(tried) < ATTEMPTS:
            return True
        text = f"no free path to {len(tried)} candidates: {' | '.join(tried)}"
        raise StepFailed(replace(refusal.outcome, message=text))

    def _walk(self, commands: Sequence[Command], steps: Steps) -> None:
        functions = Functions(self._context, steps)
        free = [c.q for c in commands if c.world_T_ee is not None and c.motion is Motion.FREE]
        self._first_free = free[0] if free else None
        for command in commands:
            self._context.token.check()
            self._log.enter(command.stage)
            if command.world_T_ee is not None:
                steps.move(command)
                self.world_version = max(self.world_version, steps.world_version)
                self._log.planned()
            elif not isinstance(command.function, OpenGripper):
                steps.watch.check(command.stage)
            functions.run(command)
            if command.dwell_s > 0.0:
                steps.pause(command.dwell_s)

    def _judge(self, before: World, steps: Steps) -> Outcome:
        """Ask the skill once the world has come to rest, or after ``SETTLE_S``."""
        context = self._context
        ended_s = context.clock.now_s()
        while True:
            steps.pause(POLL_S)
            steps.watch.check(self._log.stage)
            world = steps.world()
            waited = context.clock.now_s() - ended_s
            heard_s = world.stamp_s if world.contacts is None else min(world.stamp_s, world.contacts_stamp_s)
            fresh = heard_s >= ended_s + NEW_WORLD_S
            if fresh and (_at_rest(world) or waited > SETTLE_S):
                break
        context.token.check()
        outcome = self._skill.is_success(self._params, before, world, context)
        if outcome.ok:
            self._log.finished()
        return outcome


def _at_rest(world: World) -> bool:
    speeds = (
        np.linalg.norm(s.world_v_object) for n, s in world.states.items() if not world.objects[n].is_static
    )
    return all(bool(speed < SETTLED_MPS) for speed in speeds)
