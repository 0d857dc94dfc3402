"""Place: bring the held object to a container, lower or insert it, let go, retreat.

Success is measured on the settled world.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.planning import Attachment
from handiwork_core.contracts.skill import Context, Skill, StepFailed
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.motions import arm_motions
from skill_server.params import checks
from skill_server.params.candidate_test import plans_approach
from skill_server.placing.checks import check_goal, check_numbers
from skill_server.placing.params import PlaceParams
from skill_server.placing.place_stages import N_CANDIDATES, place_stages
from skill_server.placing.success import judge
from skill_server.stages.commands import stage_commands
from skill_server.stages.selection import choose_stages

from .pick import Pick, PickParams

__all__ = ["Place", "PlaceParams"]

MORE_CANDIDATES = 4 * N_CANDIDATES
"""Number of releases that are sampled where none of the first ones is possible."""


class Place(Skill[PlaceParams]):
    """Put the held object on, into or beside another."""

    name = "place"
    params_type = PlaceParams

    def is_feasible(self, params: PlaceParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        return checks.all_faults((check_goal(params, arm, world), check_numbers(params)))

    def commands(self, params: PlaceParams, context: Context) -> Sequence[Command]:
        """Sample release poses in random order of place, the present heading first, and choose among their stages.

        Where none of them is possible, more are sampled in the time that is left.
        """
        held, before_s = _held(params, context, context.world.snapshot()), context.planning_time_s
        try:
            chosen = _chosen(params, context, held, N_CANDIDATES)
        except StepFailed as none:
            left_s = params.allowed_planning_time - (context.planning_time_s - before_s)
            is_given = bool(params.ee_poses(held.link_T_object))
            if none.outcome.code is not Code.NO_CANDIDATE or is_given or left_s <= 0.0:
                raise
            rest = replace(params, allowed_planning_time=left_s)
            try:
                chosen = _chosen(rest, context, held, MORE_CANDIDATES)
            except StepFailed as late:
                raise (none if late.outcome.code is Code.PLAN_BUDGET else late) from None
        return stage_commands(chosen, params, context)

    def is_success(self, params: PlaceParams, before: World, after: World, context: Context) -> Outcome:
        """Check that the object was released, is at rest, and is at the place that ``success_mode`` asks for."""
        return judge(params, params.object or context.released, after, context)

    def recovery_skills(self, params: PlaceParams, lost: str) -> Sequence[tuple[Skill[Any], Any]] | None:
        """Return a Pick of the lost object that looks ahead to this place; None when none is lost."""
        if not lost:
            return None
        again = PickParams(
            object=lost,
            arm=params.arm,
            next_place=params,
            ignore_substring=params.ignore_substring,
            max_velocity_scaling_factor=params.max_velocity_scaling_factor,
            max_acceleration_scaling_factor=params.max_acceleration_scaling_factor,
            allowed_planning_time=params.allowed_planning_time,
            seed=params.seed,
            follow_tolerance=params.follow_tolerance,
            follow_speed=params.follow_speed,
        )
        return ((Pick(), again),)


def _chosen(params: PlaceParams, context: Context, held: Attachment, count: int) -> tuple[SkillStage, ...]:
    """Sample so many releases, and return the stages of the best one."""
    made = place_stages(params, context, held, count)
    is_planned = plans_approach(params)
    return choose_stages(made.sequences, params, context, plans_approach=is_planned, removed=made.removed)


def _held(params: PlaceParams, context: Context, world: World) -> Attachment:
    """Return the object to be placed, as recorded when it was grasped, else by the contacts."""
    held = arm_motions.held(context, world, params.object)
    if held.object == params.container:
        text = f"{held.object!r} cannot be placed into itself; name another container"
        raise StepFailed(Outcome(Code.CONTRADICTION, text, "select", "container"))
    return held
