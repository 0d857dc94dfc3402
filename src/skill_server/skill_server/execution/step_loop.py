"""One run of a composite skill: its steps, one after the other, and then its own judgement of the world."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from handiwork_core.contracts.composite import CompositeSkill, SkillStep, Steps
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.outcome import OK, Outcome
from handiwork_core.model.world import World
from skill_server.params.protocol import RunParams
from skill_server.params.retry_policy import RetryPolicy
from skill_server.state import gripper_state

from .attempt_loop import AttemptLoop
from .measurement import fresh_world
from .stage_log import StageLog

P = TypeVar("P", bound=RunParams)


class StepLoop:
    """Does each step as a run of its own, with attempts, a seed and random choices of its own.

    Attributes:
        world_version: Newest version of the world in which a finished motion was planned.
    """

    def __init__(
        self,
        skill: CompositeSkill[P],
        params: P,
        context: Context,
        log: StageLog,
        policy: RetryPolicy | None = None,
    ) -> None:
        self._skill, self._params, self._context, self._log = skill, params, context, log
        self._policy = policy
        self.world_version = 0

    def run(self) -> Outcome:
        """Do the steps, and return the skill's judgement of the world, or its verdict on the goal.

        Raises:
            StepFailed: A step failed, or the skill has no further one; the stage names the step.
            Stopped: The token was set.
        """
        context = self._context
        context.token.check()
        before = context.world.snapshot()
        verdict = self._skill.is_feasible(self._params, context.robot, context.arm_spec, before)
        if not verdict.ok:
            return verdict
        self._forget_lost(before)
        steps, done, count = self._skill.steps(self._params, context), 0, 1
        outcome: Outcome | None = None
        label = ""
        while (step := self._next(steps, outcome, done, count)) is not None:
            label, count = step.label, done + 1 + step.left
            doing = context.partners[step.arm] if step.arm else context
            self._log.begin_step(step.label, done, count, doing)
            outcome = self._do(step, doing)
            if not outcome.ok:
                _rest(outcome, doing)
            done, count = done + 1, max(count, done + 2)
        after = fresh_world(context)
        judged = self._skill.is_success(self._params, before, after, context)
        if judged.ok:
            self._log.finished()
            return judged
        return replace(judged, stage=judged.stage or f"{label}: judge")

    def _next(self, steps: Steps, outcome: Outcome | None, done: int, count: int) -> SkillStep | None:
        """Let the skill choose the next step, in a stage of its own, by the newest world; None: there is none."""
        self._context.token.check()
        self._log.begin_step("", done, count, self._context)
        self._log.enter("select")
        # What has fallen out of the hand since the last step is grasped again by the next one.
        self._forget_lost(fresh_world(self._context))
        try:
            return next(steps) if outcome is None else steps.send(outcome)
        except StopIteration:
            return None

    def _forget_lost(self, world: World) -> None:
        for context in (self._context, *self._context.partners.values()):
            gripper_state.forget_lost(context, world)

    def _do(self, step: SkillStep, context: Context) -> Outcome:
        """Do a step on the arm of a context, and return how it ended, with its name in the stage."""
        context.refused.clear()
        context.rng = np.random.default_rng(step.params.seed & (2**64 - 1))
        loop = AttemptLoop(step.skill, step.params, context, self._log, self._policy)
        try:
            outcome = loop.run()
        except StepFailed as failure:
            outcome = failure.outcome
        self.world_version = max(self.world_version, loop.world_version)
        if outcome.ok:
            return OK
        self._log.close(outcome.code)
        stage = outcome.stage.removeprefix(f"{step.label}: ") or "select"
        return replace(outcome, stage=f"{step.label}: {stage}", message=f"{step.label}: {outcome.message}")


def _rest(failed: Outcome, context: Context) -> None:
    """Bring the arm to rest, so that the next step is chosen for the place at which it begins."""
    stopped = context.arm.stop()
    if not stopped.ok:
        raise StepFailed(replace(failed, message=f"{failed.message}; {stopped.message}"))
