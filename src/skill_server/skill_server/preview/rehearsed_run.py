"""Previews skills: one, or several one after the other, each in the world that the one before would leave."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np

from handiwork_core.contracts.composite import CompositeSkill
from handiwork_core.contracts.planning import Attachment
from handiwork_core.contracts.skill import Context, PeakSpeeds, Progress, Skill, Token
from handiwork_core.model.outcome import Code
from handiwork_core.robot.robot import Robot
from skill_server.execution.run import ExecutionResult, run_skill
from skill_server.execution.stage_log import StageReport
from skill_server.params.protocol import RunParams
from skill_server.state.held_object import held_name

from .composite_rehearsal import CompositeRehearsal
from .rehearsal import Rehearsal, world_before
from .rehearsed_planner import RehearsedPlanner
from .rehearsed_world import RehearsedWorld
from .skill_plan import PlannedStep, SkillPlan, joined_motions
from .surroundings import ALONE, Surroundings

P = TypeVar("P", bound=RunParams)
CHOICE = "select"
"""The stage in which each attempt chooses its commands, and a composite skill its next step."""


@dataclass(frozen=True, slots=True)
class PreviewResult(ExecutionResult):
    """How a preview ended; its stages have the durations that are foreseen. ``plan``: None after a failure.

    With a plan, the stages are those of the attempts that made it, and ``duration_s`` is theirs; ``planning_time_s``
    has all attempts.
    """

    plan: SkillPlan | None = None


def preview_skill(
    skill: Skill[P], params: P, context: Context, around: Surroundings = ALONE
) -> PreviewResult:
    """Plan all motions of a skill, each from where the one before leaves the arms, the hands and the objects.

    Nothing moves: the ports of ``context`` and of its partners are only asked. The motions are planned, and candidates
    tried, by the code that executes the skill. Whether it would succeed is not judged.

    Args:
        skill: The skill.
        params: Its checked parameters.
        context: Ports of the arm, with those of the further arms as its partners.
        around: The server around the preview.

    Returns:
        The result with the plan, or the failure that an execution would have had; BUSY where a goal took an arm.
    """
    arm = context.arm_spec.name
    run = RehearsedRun({arm: context, **context.partners}, around)
    return run.do(skill, params, arm, context.token, context.report)


class RehearsedRun:
    """A rehearsal of one skill, or of several one after the other.

    Args:
        contexts: Context of each arm that has a part, by its name.
        around: The server around the preview.
    """

    def __init__(self, contexts: Mapping[str, Context], around: Surroundings = ALONE) -> None:
        self._contexts, self._around = contexts, around
        self.world = RehearsedWorld(contexts)
        self._is_begun = False

    def do(
        self,
        skill: Skill[P],
        params: P,
        arm: str,
        token: Token,
        report: Callable[[Progress], None],
    ) -> PreviewResult:
        """Rehearse a skill; the next one begins where a good one ends.

        Args:
            skill: The skill.
            params: Its checked parameters.
            arm: Name of its arm.
            token: Ends the rehearsal when it is set.
            report: Takes the progress.
        """
        seed = getattr(params, "seed", 0) if self._is_begun else None  # the first one has the context's own
        own = self._rehearsed(arm, token, report, seed)
        if self._is_begun:
            self.world.mark()
        made: Rehearsal[P] | CompositeRehearsal[P] = Rehearsal(skill, self.world, self._around)
        if isinstance(skill, CompositeSkill):
            made = CompositeRehearsal(skill, self.world, self._around)
        ended, plan = run_skill(made, params, own), None
        if not made.at_rest.ok:  # the answer to a later attempt has the code of the one before
            ended = replace(ended, outcome=made.at_rest)
        if ended.outcome.ok:
            plan, stages = made.plan(params, own), _of_plan(ended.stages)
            ended = replace(ended, stages=stages, duration_s=sum(stage.duration_s for stage in stages))
            self._is_begun = True
        elif self._is_begun:
            self.world.begin()
        return PreviewResult(**{one.name: getattr(ended, one.name) for one in fields(ended)}, plan=plan)

    def held(self, arm: str) -> str:
        """Return the object that a hand would hold now; empty for none.

        Args:
            arm: Name of the arm.
        """
        cell, context = self.world.cells[arm], self._contexts[arm]
        return held_name(replace(context, held=cell.held), cell.snapshot())

    def joined(
        self,
        skill: Skill[Any],
        params: RunParams,
        seed: int,
        steps: Sequence[PlannedStep],
        robot: Robot | None,
    ) -> SkillPlan:
        """Return the plan of several skills that were rehearsed one after the other.

        Args:
            skill: What does them.
            params: Its parameters.
            seed: Its seed.
            steps: The plan of each skill, at least one.
            robot: Robot with the changes of a task file; None: that of the server.
        """
        arm, begun = steps[0].plan.arm, self.world.measured
        begun_in = {
            name: world_before(begun, params, replace(one, world=self.world.cells[name]), {})
            for name, one in self._contexts.items()
        }
        before = begun_in.pop(arm)
        motions = joined_motions(steps)
        return SkillPlan(skill, params, arm, seed, (), motions, before, tuple(steps), begun_in, robot)

    def _rehearsed(
        self, arm: str, token: Token, report: Callable[[Progress], None], seed: int | None
    ) -> Context:
        """Return the context of a run on an arm, with those of the other arms as its partners."""
        made = {name: self._on_ports(name, token, report, seed) for name in self._contexts}
        for name, one in made.items():
            one.partners = {other: context for other, context in made.items() if other != name}
        return made[arm]

    def _on_ports(
        self, name: str, token: Token, report: Callable[[Progress], None], seed: int | None
    ) -> Context:
        context, cell = self._contexts[name], self.world.cells[name]

        def held_by_others() -> Mapping[str, Attachment]:
            others = (one for other, one in self.world.cells.items() if other != name)
            return {key: item for one in others for key, item in one.held.items()}

        made = replace(
            context,
            planner=RehearsedPlanner(context, self.world, self._around),
            arm=cell,
            gripper=cell,
            world=cell,
            clock=cell,
            held=cell.held,
            held_by_others=held_by_others if len(self._contexts) > 1 else context.held_by_others,
            refused=[],
            right_of_way=None,
            base=None if context.base is None else cell,
            supervision=replace(context.supervision, is_on=False),
            frames_used={},
            partners={},
            token=token,
            report=report,
        )
        if seed is not None:
            made.seed, made.rng = seed, np.random.default_rng(seed & (2**64 - 1))
            made.released, made.begun, made.contact, made.finding = "", None, None, None
            made.planning_time_s, made.fastest = 0.0, PeakSpeeds()
        return made


def _of_plan(stages: tuple[StageReport, ...]) -> tuple[StageReport, ...]:
    """Return the stages of the attempts that made the plan: of each step that succeeded, those of its last attempt."""
    made, step = list[StageReport](), list[StageReport]()
    for stage in (*stages, None):
        if stage is None or stage.stage == CHOICE:  # that of a composite skill, or of another attempt
            made += _last_attempt(step)
            step = []
        if stage is not None:
            step.append(stage)
    own = [i for i, stage in enumerate(made) if stage.stage == CHOICE]
    is_composite = any(": " in stage.stage for stage in made)
    return tuple(made if is_composite or not own else made[own[-1] :])


def _last_attempt(stages: Sequence[StageReport]) -> list[StageReport]:
    """Return the choice of a step, and the stages of its last attempt unless that failed."""
    begins = [i for i, one in enumerate(stages) if one.stage.endswith(f": {CHOICE}")]
    if not begins:
        return list(stages)
    attempt = stages[begins[-1] :]
    return [*stages[: begins[0]], *(attempt if attempt[-1].code is Code.OK else ())]
