"""Executes a plan as it was previewed: its commands with exactly its motions, in the world that it was made for."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.composite import CompositeSkill, SkillStep, Steps
from handiwork_core.contracts.skill import Context, Skill, StepFailed, Stopped
from handiwork_core.model.outcome import Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.execution.measurement import fresh_world, world_since
from skill_server.execution.run import ExecutionResult, run_skill
from skill_server.motions.arm_motions import held
from skill_server.params.protocol import RunParams
from skill_server.params.retry_policy import ONE_ATTEMPT
from skill_server.state.frame_lookup import forget_frames, frame_used, pose_frame_now

from .rehearsal import world_before
from .skill_plan import SkillPlan, WorldBefore
from .world_comparison import compared, compared_between

P = TypeVar("P", bound=RunParams)


def execute_plan(plan: SkillPlan, context: Context) -> ExecutionResult:
    """Execute a plan, supervised like every run, once and without planning.

    Args:
        plan: The plan.
        context: Ports of the arm of the plan, with those of its further arms as partners.

    Returns:
        How the run ended; a failure with the differences, and nothing moved, where the world is not the same.
    """
    contexts = {context.arm_spec.name: context, **context.partners}
    for name, one in contexts.items():
        # An arm that had to brake is not led on by a motion that nobody has seen.
        one.supervision = replace(one.supervision, replans=0)
        # A skill of a task may have any of the arms as its own.
        one.partners = {other: partner for other, partner in contexts.items() if other != name}
    # A change right before the goal may still be on its way. The run takes its targets to be where they are when it
    # begins, so the wait comes first; what ends the wait ends the run as well.
    with suppress(StepFailed, Stopped):
        world_since(context, context.clock.now_s())
    skill: Skill[Any] = PreviewedSteps(plan) if plan.steps else PreviewedSkill(plan)
    return run_skill(skill, plan.params, context, ONE_ATTEMPT)


@dataclass(frozen=True)
class PreviewedSkill(Skill[P]):
    """The skill of a plan, whose commands are those of the plan.

    Attributes:
        plan: The plan.
        is_step: True for a step, which is executed in the world that the steps before it have left.
    """

    plan: SkillPlan
    is_step: bool = False
    name = "previewed"

    def is_feasible(self, params: P, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        return self.plan.skill.is_feasible(params, robot, arm, world)

    def commands(self, params: P, context: Context) -> Sequence[Command]:
        """Return the plan's commands.

        Raises:
            StepFailed: The world is not the one that the plan was made in; names each difference.
        """
        world, then = fresh_world(context), self.plan.before
        now = _now(then, params, context, world)
        if self.is_step:
            found = compared_between(then, now, context.arm_spec, frozenset(params.targets))
        else:
            found = compared(then, now, context.arm_spec)
        if not found.ok:
            raise StepFailed(found)
        if then.held:
            held(context, world)  # records it where no goal has yet
        return self.plan.commands

    def is_subtask_done(self, params: P, command: Command, world: World, context: Context) -> Outcome:
        """See ``Skill``."""
        return self.plan.skill.is_subtask_done(params, command, world, context)

    def is_done(self, params: P, rest: Sequence[Command], context: Context) -> bool:
        """See ``Skill``."""
        return self.plan.skill.is_done(params, rest, context)

    def is_success(self, params: P, before: World, after: World, context: Context) -> Outcome:
        """See ``Skill``."""
        return self.plan.skill.is_success(params, before, after, context)


@dataclass(frozen=True)
class PreviewedSteps(CompositeSkill[P]):
    """The skill of a plan that has steps: exactly these, one after the other.

    Attributes:
        plan: The plan.
    """

    plan: SkillPlan
    name = "previewed"

    def is_feasible(self, params: P, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        return self.plan.skill.is_feasible(params, robot, arm, world)

    def steps(self, params: P, context: Context) -> Steps:
        """Yield the steps of the plan.

        Raises:
            StepFailed: The world is not the one that the plan was made in, with each difference; or a step failed.
        """
        world = fresh_world(context)
        for then, one in ((self.plan.before, context), *_further(self.plan, context)):
            found = compared(then, _now(then, params, one, world), one.arm_spec)
            if not found.ok:
                raise StepFailed(found)
        yield from _steps_of(self.plan, context, "")

    def is_success(self, params: P, before: World, after: World, context: Context) -> Outcome:
        """See ``Skill``."""
        return self.plan.skill.is_success(params, before, after, context)


def _now(then: WorldBefore, params: RunParams, context: Context, world: World) -> WorldBefore:
    """Return what a plan would be executed in, with the frames that it was made for."""
    forget_frames(context)
    for name in then.frames:
        frame_used(name, "", context, world)
    frames = {name: pose_frame_now(name, "", context, world) for name in then.pose_frames}
    return world_before(world, params, context, frames)


def _further(plan: SkillPlan, context: Context) -> list[tuple[WorldBefore, Context]]:
    return [(then, context.partners[name]) for name, then in plan.further.items()]


def _steps_of(plan: SkillPlan, context: Context, of: str) -> Steps:
    """Yield the steps of a plan, and those of steps that have steps of their own, which are judged here.

    Args:
        plan: The plan.
        context: Context of the run.
        of: Text that names what the plan is a step of; empty for the whole, which the run judges.
    """
    own = context.partners.get(plan.arm, context)
    before = fresh_world(own)
    for step in plan.steps:
        label, arm = of + step.label, step.plan.arm
        if step.plan.steps:
            yield from _steps_of(step.plan, context, f"{label}: ")
            continue
        doing = PreviewedSkill[Any](step.plan, is_step=True)
        other = "" if arm == context.arm_spec.name else arm
        outcome = yield SkillStep(label, doing, step.plan.params, step.left, other)
        if not outcome.ok:
            raise StepFailed(outcome)
    if of:
        judged = plan.skill.is_success(plan.params, before, fresh_world(own), own)
        if not judged.ok:
            raise StepFailed(replace(judged, stage=judged.stage or f"{of}judge"))
