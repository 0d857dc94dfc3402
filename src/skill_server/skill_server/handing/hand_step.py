"""What each hand does in a handover, as stages, and the skill that does them on one arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from handiwork_core.contracts.commands import (
    AttachObject,
    CloseGripper,
    Command,
    DetachObject,
    Motion,
    OpenGripper,
)
from handiwork_core.contracts.skill import Context, Skill, StepFailed
from handiwork_core.contracts.skill_params import common_values
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.execution.grasp_monitor import LOST_AFTER_S
from skill_server.execution.measurement import pause
from skill_server.motions import arm_motions
from skill_server.motions.approach_planning import backed_off
from skill_server.stages.commands import stage_commands
from skill_server.stages.selection import choose_stages
from skill_server.state import gripper_state

from .params import BACK, HandStepParams, TwoHandParams
from .search import FoundMeeting

CALM, SLOW = 0.3, 0.4
"""Shares of the full speed on the free ways to the place where the hands meet, and on straight ones near the object.

At full speed the hand of a long arm exceeds what the safety layer allows on a way as long as the first.
"""


class HandStep(Skill[HandStepParams]):
    """One step of a handover on one arm."""

    name = "hand_step"
    params_type = HandStepParams

    def is_feasible(self, params: HandStepParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``; the handover has checked the goal."""
        return OK

    def commands(self, params: HandStepParams, context: Context) -> Sequence[Command]:
        """See ``Skill``; a motion to the best alternative is planned before it is begun."""
        first = params.alternatives[0]
        if all(stage.world_T_ee is None or stage.q is not None for stage in first):
            return stage_commands(first, params, context)
        is_free = any(stage.motion is Motion.FREE and stage.world_T_ee is not None for stage in first)
        chosen = choose_stages(params.alternatives, params, context, plans_approach=is_free)
        return stage_commands(chosen, params, context)

    def is_done(self, params: HandStepParams, rest: Sequence[Command], context: Context) -> bool:
        """See ``Skill``; an object that has left the giving hand is not grasped at where it was.

        Raises:
            StepFailed: OBJECT_DROPPED, before the hand closes.
            Stopped: The token was set.
        """
        if params.giver and any(isinstance(one.function, CloseGripper) for one in rest):
            giver, name = context.robot.arms[params.giver], params.object
            is_lost = gripper_state.is_lost(context.world.snapshot(), context.robot, giver, name)
            if is_lost:  # or one report has missed it
                pause(context, LOST_AFTER_S)
                is_lost = gripper_state.is_lost(context.world.snapshot(), context.robot, giver, name)
            if is_lost:
                text = f"{name!r} fell out of the hand of {giver.name}; pick it again"
                raise StepFailed(Outcome(Code.OBJECT_DROPPED, text, rest[0].stage))
        return not rest

    def is_success(self, params: HandStepParams, before: World, after: World, context: Context) -> Outcome:
        """Check that the hand holds the object where it is to."""
        gripper = context.arm_spec.gripper
        assert gripper is not None
        if not params.is_held_after:
            return OK
        found = gripper_state.holds(after, context.robot, gripper, params.object)
        return found if found.ok else replace(found, stage="judge")


def present(params: TwoHandParams, found: FoundMeeting, name: str, giver: Context) -> HandStepParams:
    """Return the step that brings the object to the place where the arms meet.

    Args:
        params: Parameters of the goal.
        found: The place.
        name: The object.
        giver: Context of the arm that holds it.
    """
    leaving = arm_motions.touching_now(giver, giver.world.snapshot())
    stage = SkillStage("move", found.world_T_giver, leaving=leaving, speed=CALM, q=found.giver_q)
    return step_params(params, name, ((stage,),), is_held_after=True)


def take(
    params: TwoHandParams, grasps: Sequence[Pose], name: str, taker: Context, giver: str = ""
) -> HandStepParams:
    """Return the step in which the other hand grasps the object where it is measured.

    Args:
        params: Parameters of the goal.
        grasps: object_T_ee of the alternatives, best first; none: the hand is at the object, and closes.
        name: The object.
        taker: Context of the arm that takes it.
        giver: The arm that holds it meanwhile; empty: this one is at the object already.
    """
    gripper, touched = taker.arm_spec.gripper, frozenset({name})
    assert gripper is not None
    closing = SkillStage("grasp", functions=(CloseGripper(), AttachObject(name)), dwell_s=params.gripper_wait)
    if not grasps:
        return step_params(params, name, ((closing,),), is_held_after=True)
    world_T_object = taker.world.snapshot().states[name].world_T_object
    made = []
    for rank, grasp in enumerate(grasps):
        at = world_T_object @ grasp
        before = backed_off(at, gripper, params.approach_offset)
        made.append(
            (
                SkillStage("open", functions=(OpenGripper(),)),
                SkillStage("approach", before, functions=(OpenGripper(),), speed=CALM, cost=0.01 * rank),
                SkillStage("reach", at, Motion.STRAIGHT, (OpenGripper(),), touched, speed=SLOW),
                closing,
            )
        )
    return replace(step_params(params, name, tuple(made), is_held_after=True), giver=giver)


def release(params: TwoHandParams, name: str, *, gives: bool) -> HandStepParams:
    """Return the step in which a hand opens.

    Args:
        params: Parameters of the goal.
        name: The object, which the other hand holds.
        gives: True where this hand held the object as well.
    """
    functions = (OpenGripper(), DetachObject(name)) if gives else (OpenGripper(),)
    stage = SkillStage("release", functions=functions, dwell_s=params.gripper_wait)
    return step_params(params, name, ((stage,),), is_held_after=False)


def retreat(params: TwoHandParams, name: str, context: Context, first: int = 0) -> HandStepParams:
    """Return the step in which an open hand goes straight back from the object.

    Args:
        params: Parameters of the goal.
        name: The object.
        context: Context of the arm.
        first: Index in ``BACK`` of the longest way that is considered.
    """
    gripper, here = context.arm_spec.gripper, arm_motions.hand(context, context.world.snapshot())
    assert gripper is not None
    ways = []
    for rank, share in enumerate(BACK[first:]):
        back = backed_off(here, gripper, share * params.approach_offset)
        leaving = frozenset({name})
        way = SkillStage("retreat", back, Motion.STRAIGHT, leaving=leaving, speed=SLOW, cost=float(rank))
        ways.append((way,))
    return step_params(params, name, tuple(ways), is_held_after=False)


def step_params(
    params: TwoHandParams,
    name: str,
    alternatives: tuple[tuple[SkillStage, ...], ...],
    *,
    is_held_after: bool,
) -> HandStepParams:
    """Return the parameters of a step with those that the goal has for all motions.

    Args:
        params: Parameters of the goal.
        name: The object.
        alternatives: Sequences of stages.
        is_held_after: True when the arm holds the object at the end.
    """
    return HandStepParams(
        object=name,
        alternatives=alternatives,
        is_held_after=is_held_after,
        **common_values(params),
    )
