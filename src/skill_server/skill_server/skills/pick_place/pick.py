"""Pick: choose a grasp, go there, close, lift; success is that the object rose with the hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from handiwork_core.contracts.commands import (
    AttachObject,
    CloseGripper,
    Motion,
    OpenGripper,
)
from handiwork_core.contracts.skill import Context, Skill, StepFailed
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.thresholds import BELT_REST_MPS
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, GripperSpec, Robot
from skill_server.grasping.antipodal_grasps import Grasp
from skill_server.grasping.grasp_selection import unmade_grasps, wanted_grasps
from skill_server.grasping.pick_checks import check_pick
from skill_server.grasping.pick_params import PickParams
from skill_server.motions.approach_planning import backed_off
from skill_server.motions.conveyor import closes_across
from skill_server.params.candidate_test import plans_approach
from skill_server.params.simbox_time import seconds
from skill_server.placing.look_ahead import LookAhead
from skill_server.stages.selection import choose_stages
from skill_server.stages.staged_skill import StagedSkill
from skill_server.state import gripper_state
from skill_server.state.held_object import refuse_when_holding
from skill_server.state.motion_limits import process_valid
from skill_server.state.scene_query import supports, width_across

__all__ = ["Pick", "PickParams"]

APPROACH_SPEED = 0.8
PLANS_AHEAD = 4
"""All grasps of one choice are looked at ahead within this many times ``allowed_planning_time``."""
NARROW_ROOM_M = 0.016
"""Room of an object between the fingers of a hand that opens no farther than it must, m."""
SLIP_M = 0.03
"""The largest motion of the object in the hand between the grasp and the end of the lift."""


class Pick(StagedSkill[PickParams]):
    """Grasp an object and lift it."""

    name = "pick"
    params_type = PickParams

    def is_feasible(self, params: PickParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        return check_pick(params, arm, world)

    def stages(self, params: PickParams, context: Context) -> Sequence[Sequence[SkillStage]]:
        """Make the stages of each grasp, the best grasp first."""
        gripper = context.arm_spec.gripper
        assert gripper is not None
        world = context.world.snapshot()
        refuse_when_holding(context, world)
        grasps = wanted_grasps(params, context, world, gripper, _opening(params, gripper))
        velocity = world.states[params.object].world_v_object
        if params.is_followed and float(np.linalg.norm(velocity)) > BELT_REST_MPS:
            # Fingers that close along the motion would come down on what is not below them yet.
            grasps = tuple(g for g in grasps if closes_across(g.world_T_ee, gripper, velocity)) or grasps
        lift_m = float(context.rng.uniform(params.post_grasp_offset_min, params.post_grasp_offset_max))
        # The held object leaves its supports; an open hand goes along the object.
        leaving = supports(world, params.object) if params.is_closing else frozenset({params.object})
        return [
            _stages(
                grasp,
                self.pre_grasp(grasp, params, context),
                params,
                gripper,
                lift_m,
                leaving,
                _width_m(grasp, params, world, gripper),
            )
            for grasp in grasps
        ]

    def chosen_stages(self, params: PickParams, context: Context) -> tuple[SkillStage, ...]:
        """See ``StagedSkill``; with ``next_place``, of a grasp from which the object can be placed there.

        Where a hand that is wide open has no way, as beside another object, one is tried that opens less.
        """
        try:
            return self._chosen(params, context)
        except StepFailed as failure:
            narrower = _narrower(params, context) if failure.outcome.code is Code.NO_CANDIDATE else None
            if narrower is None:
                raise StepFailed(_with_unmade(failure.outcome, params, context)) from failure
            return self._opening_less(narrower, params, context, failure.outcome)

    def _chosen(self, params: PickParams, context: Context) -> tuple[SkillStage, ...]:
        """Choose among the grasps with the hand as open as the goal says."""
        sequences = self.stages(params, context)
        if params.next_place is None or not params.is_closing:
            return choose_stages(sequences, params, context, plans_approach=plans_approach(params))
        budget_s = PLANS_AHEAD * params.allowed_planning_time
        ahead = LookAhead(params.next_place, params.object, context, budget_s)
        return _looking_ahead(sequences, params, context, ahead)

    def _opening_less(
        self, narrower: PickParams, params: PickParams, context: Context, failed: Outcome
    ) -> tuple[SkillStage, ...]:
        """Choose with a hand that opens less; what a wide open one could not reach is not left out."""
        refused, context.refused = context.refused, []
        try:
            return self._chosen(narrower, context)
        except StepFailed as failure:
            text = f"with the hand open by {narrower.gripper_width * 1e3:.0f} mm: {failure.outcome.message}"
            both = replace(failed, message=f"{failed.message}; {text}")
            raise StepFailed(_with_unmade(both, params, context)) from failure
        finally:
            context.refused = refused

    def pre_grasp(self, grasp: Grasp, params: PickParams, context: Context) -> Pose:
        """Return the pose before a grasp, back along its approach.

        Args:
            grasp: Grasp that was chosen.
            params: Parameters with ``pre_grasp_offset``.
            context: Context of the run.

        Returns:
            world_T_ee.
        """
        gripper = context.arm_spec.gripper
        assert gripper is not None
        return backed_off(grasp.world_T_ee, gripper, params.pre_grasp_offset, grasp.approach)

    def is_success(self, params: PickParams, before: World, after: World, context: Context) -> Outcome:
        """Check that the object is in the gripper, rose by more than ``lift_th``, and moved with the hand."""
        gripper = context.arm_spec.gripper
        assert gripper is not None
        if params.process_valid:
            found = process_valid(context, after, params.object, Code.NOTHING_GRASPED)
            if not found.ok:
                return found
        if not params.is_closing:
            return Outcome(Code.OK, f"the open hand is at {params.object!r}")
        grasped = gripper_state.holds(after, context.robot, gripper, params.object)
        if not grasped.ok:
            return grasped
        rise = float(_height(after, params.object) - _height(before, params.object))
        if params.lift_th > 0.0 and rise <= params.lift_th:
            text = f"{params.object!r} rose by {rise * 1e3:.0f} mm, lift_th is {params.lift_th * 1e3:.0f} mm"
            return Outcome(Code.NOTHING_GRASPED, text)
        slipped = _slip(params, after, context)
        return (
            slipped
            if not slipped.ok
            else Outcome(Code.OK, f"picked {params.object!r}: it rose by {rise * 1e3:.0f} mm")
        )

    def recovery_skills(self, params: PickParams, lost: str) -> Sequence[tuple[Skill[Any], Any]]:
        """Return no skills: the skill can be tried again at once."""
        return ()


def _looking_ahead(
    sequences: Sequence[Sequence[SkillStage]], params: PickParams, context: Context, ahead: LookAhead
) -> tuple[SkillStage, ...]:
    """Choose among the grasps; where none is left, look more closely, as long as that may change the result."""
    try:
        return choose_stages(
            sequences, params, context, plans_approach=plans_approach(params), test=ahead.refusal
        )
    except StepFailed as failure:
        if failure.outcome.code is not Code.NO_CANDIDATE or not ahead.look_closer():
            raise
    return _looking_ahead(sequences, params, context, ahead)


def _with_unmade(outcome: Outcome, params: PickParams, context: Context) -> Outcome:
    """Add to a refusal of all grasps why others, perhaps those from above, were not even among them."""
    gripper = context.arm_spec.gripper
    if outcome.code is not Code.NO_CANDIDATE or gripper is None:
        return outcome
    unmade = unmade_grasps(params, context, context.world.snapshot(), gripper, _opening(params, gripper))
    return (
        replace(outcome, message=f"{outcome.message}; of the object's shapes {unmade}") if unmade else outcome
    )


def _narrower(params: PickParams, context: Context) -> PickParams | None:
    """Return a goal whose hand opens only as far as its narrowest grasp needs; None where that is not less."""
    gripper, world = context.arm_spec.gripper, context.world.snapshot()
    if params.gripper_width or gripper is None or gripper.suction is not None:
        return None
    if params.grasp_poses or params.object not in world.states:
        return None
    try:
        grasps = wanted_grasps(params, context, world, gripper, gripper.max_width_m)
    except StepFailed:
        return None
    opening_m = min(grasp.width_m for grasp in grasps) + NARROW_ROOM_M
    is_less = gripper.min_width_m < opening_m < gripper.max_width_m
    return replace(params, gripper_width=opening_m) if is_less else None


def _opening(params: PickParams, gripper: GripperSpec) -> float:
    return params.gripper_width or gripper.max_width_m


def _width_m(grasp: Grasp, params: PickParams, world: World, gripper: GripperSpec) -> float:
    """Return the distance between the pads on the object; for poses that are given, the object's width at most."""
    opening = _opening(params, gripper)
    if grasp.width_m > 0.0 or gripper.suction is not None:
        return grasp.width_m
    return min(opening, width_across(world, params.object, grasp.world_T_ee, gripper))


def _stages(
    grasp: Grasp,
    pre: Pose,
    params: PickParams,
    gripper: GripperSpec,
    lift_m: float,
    leaving: frozenset[str],
    holds_m: float,
) -> tuple[SkillStage, ...]:
    """Return the stages of one grasp, as far as the goal asks for them."""
    at, target, opened = grasp.world_T_ee, frozenset({params.object}), OpenGripper(_opening(params, gripper))
    hand = CloseGripper(params.grip_force) if params.is_closing else opened
    made = [SkillStage("open", functions=(opened,))]
    motion, hold = Motion.FREE, None
    if params.pre_grasp_offset > 0.0:
        motion, hold = Motion.STRAIGHT, params.pre_grasp_hold_vec_weight or None
        made.append(
            SkillStage("approach", pre, functions=(opened,), speed=APPROACH_SPEED, waypoint="pre-grasp")
        )
    attach = (AttachObject(params.object),) if params.is_closing else ()
    made += [
        SkillStage(
            "descend",
            at,
            motion,
            (opened,),
            target,
            hold_vec_weight=hold,
            speed=0.5,
            waypoint="grasp",
            cost=grasp.score,
        ),
        SkillStage(
            "grasp",
            functions=(hand, *attach),
            dwell_s=seconds(params.gripper_change_steps),
            holds_m=holds_m,
        ),
    ]
    if lift_m > 0.0:
        lifted = Pose.of((0.0, 0.0, lift_m)) @ at
        made.append(SkillStage("lift", lifted, Motion.STRAIGHT, (hand,), leaving, speed=0.5))
    if params.return_to_pregrasp:
        made.append(SkillStage("return", pre, Motion.STRAIGHT, (hand,), leaving, speed=0.5))
    return tuple(made)


def _slip(params: PickParams, after: World, context: Context) -> Outcome:
    held = context.held.get(params.object)
    if held is None:
        return OK
    base = context.world.world_T_base()
    here = gripper_state.attachment(after, context.robot, context.arm_spec, base, params.object)
    slip_m, slip_rad = held.link_T_object.distance_to(here.link_T_object)
    if slip_m <= SLIP_M:
        return OK
    text = f"{params.object!r} slipped by {slip_m * 1e3:.0f} mm in the hand; it is not held firmly"
    return Outcome(Code.OBJECT_DROPPED, text, position_error_m=slip_m, angle_error_rad=slip_rad)


def _height(world: World, name: str) -> float:
    return float(world.states[name].world_T_object.translation_m[2])
