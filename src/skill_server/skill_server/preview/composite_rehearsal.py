"""Rehearses a skill that is done by others: each step in the world that the steps before it would leave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from handiwork_core.contracts.composite import CompositeSkill, Steps
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.outcome import OK, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.params.protocol import RunParams

from .rehearsal import Rehearsal, previewed, world_before
from .rehearsed_world import RehearsedWorld
from .skill_plan import PlannedStep, SkillPlan, WorldBefore, joined_motions
from .surroundings import Surroundings

P = TypeVar("P", bound=RunParams)


class CompositeRehearsal(CompositeSkill[P]):
    """A composite skill for one rehearsal. A step that fails is not part of the plan: the next one begins before it.

    Args:
        skill: The skill that is rehearsed.
        world: The world of the rehearsal.
        around: The server around the preview.

    Attributes:
        at_rest: See ``Rehearsal``.
    """

    name = "preview"

    def __init__(self, skill: CompositeSkill[P], world: RehearsedWorld, around: Surroundings) -> None:
        self._skill, self._world, self._around = skill, world, around
        self.at_rest: Outcome = OK
        self._made = list[PlannedStep]()
        self._before: WorldBefore
        self._further: Mapping[str, WorldBefore] = {}

    def is_feasible(self, params: P, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``; BUSY where a goal took an arm while the preview waited."""
        self.at_rest = self._around.at_rest()
        self._world.stand_still()
        return self._skill.is_feasible(params, robot, arm, world) if self.at_rest.ok else self.at_rest

    def steps(self, params: P, context: Context) -> Steps:
        """Yield the steps of the skill, each as a rehearsal.

        Raises:
            StepFailed: BUSY when a goal has an arm; else as the skill does.
        """
        self.at_rest = self._around.at_rest()
        if not self.at_rest.ok:
            raise StepFailed(self.at_rest)
        self._made.clear()
        self._before = world_before(self._world.began, params, context, self._around.pose_frames)
        self._further = {
            name: world_before(self._world.began, params, one, {}) for name, one in context.partners.items()
        }
        steps, outcome = self._skill.steps(params, context), OK
        step = next(steps, None)
        while step is not None:
            self._world.mark()
            doing = context.partners[step.arm] if step.arm else context
            rehearsal = Rehearsal(step.skill, self._world, self._around)
            outcome = yield replace(step, skill=rehearsal)
            if outcome.ok:
                self._made.append(PlannedStep(step.label, rehearsal.plan(step.params, doing), step.left))
            else:
                self._world.begin()
                self.at_rest = rehearsal.at_rest
                if not self.at_rest.ok:
                    raise StepFailed(self.at_rest)
            try:
                step = steps.send(outcome)
            except StopIteration:
                step = None

    def is_success(self, params: P, before: World, after: World, context: Context) -> Outcome:
        """Return OK: only the real world can be judged."""
        return previewed(self._skill.name, joined_motions(self._made), f" in {len(self._made)} steps")

    def plan(self, params: P, context: Context) -> SkillPlan:
        """Return the plan of the steps that succeeded.

        Args:
            params: Parameters of the goal.
            context: Context of the rehearsal.
        """
        steps = tuple(self._made)
        before = replace(self._before, frames=dict(context.frames_used))
        return SkillPlan(
            self._skill,
            params,
            context.arm_spec.name,
            context.seed,
            (),
            joined_motions(steps),
            before,
            steps,
            self._further,
        )
