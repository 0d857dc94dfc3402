"""Executes a plan as it was previewed: its commands with exactly its motions, in the world that it was made for."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar

from handiwork_core.contracts.commands import Command
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
from .skill_plan import SkillPlan
from .world_comparison import compared

P = TypeVar("P", bound=RunParams)


def execute_plan(plan: SkillPlan, context: Context) -> ExecutionResult:
    """Execute a plan, supervised like every run, once and without planning.

    Args:
        plan: The plan.
        context: Ports of the arm of the plan.

    Returns:
        How the run ended; a failure with the differences, and nothing moved, where the world is not the same.
    """
    # An arm that had to brake is not led on by a motion that nobody has seen.
    context.supervision = replace(context.supervision, replans=0)
    # A change right before the goal may still be on its way. The run takes its targets to be where they are when it
    # begins, so the wait comes first; what ends the wait ends the run as well.
    with suppress(StepFailed, Stopped):
        world_since(context, context.clock.now_s())
    return run_skill(PreviewedSkill(plan), plan.params, context, ONE_ATTEMPT)


@dataclass(frozen=True)
class PreviewedSkill(Skill[P]):
    """The skill of a plan, whose commands are those of the plan.

    Attributes:
        plan: The plan.
    """

    plan: SkillPlan
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
        forget_frames(context)
        for name in then.frames:
            frame_used(name, "", context, world)
        frames = {name: pose_frame_now(name, "", context, world) for name in then.pose_frames}
        now = world_before(world, params, context, frames)
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
