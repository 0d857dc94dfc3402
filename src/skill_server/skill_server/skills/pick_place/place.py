"""Place: bring the held object to a container, lower or insert it, let go, retreat.

Success is measured on the settled world.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from handiwork_core.contracts.arrival import ee_pose
from handiwork_core.contracts.commands import (
    CloseGripper,
    Command,
    DetachObject,
    Motion,
    OpenGripper,
)
from handiwork_core.contracts.planning import Attachment
from handiwork_core.contracts.skill import Context, Skill, StepFailed
from handiwork_core.contracts.stages import Stage
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, GripperSpec, Robot
from skill_server.motions import arm_motions
from skill_server.motions.approach_planning import backed_off
from skill_server.params import checks
from skill_server.params.recovery import plans_approach
from skill_server.params.simbox_time import seconds
from skill_server.placing.candidates import releases, setting_of
from skill_server.placing.checks import check_goal, check_numbers
from skill_server.placing.lowering import lowered
from skill_server.placing.params import PlaceParams
from skill_server.placing.release_points import Held, retreat_pose
from skill_server.placing.success import judge
from skill_server.stages.commands import stage_commands
from skill_server.stages.selection import choose_stages
from skill_server.state import gripper_state

from .pick import Pick, PickParams

__all__ = ["Place", "PlaceParams"]

N_CANDIDATES = 64
RETREAT_M = 0.1
"""The default retreat after the release, back along the axis by which the gripper approaches."""
RELEASE_OPENING_M = 0.03
"""The fingers open by this much, so that they do not hit the walls of a narrow container."""
CARRY_SPEED = 0.6
"""The part of the allowed speed while carrying, so that grip and tracking have a reserve."""


class Place(Skill[PlaceParams]):
    """Put the held object on, into or beside another."""

    name = "place"
    params_type = PlaceParams

    def is_feasible(self, params: PlaceParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        return checks.all_faults((check_goal(params, arm, world), check_numbers(params)))

    def commands(self, params: PlaceParams, context: Context) -> Sequence[Command]:
        """Sample release poses in random order of place, the present heading first, and choose among their stages."""
        gripper = context.arm_spec.gripper
        assert gripper is not None
        world = context.world.snapshot()
        held = _held(params, context, world)
        poses, unsupported = _place_poses(params, context, world, held)
        opened = OpenGripper(_release_width(world, gripper))
        sequences = [
            _stages(pre, place, params, gripper, opened, held.object, 0.01 * i)
            for i, (pre, place) in enumerate(poses)
        ]
        removed = {"without support": unsupported} if unsupported else {}
        is_planned = plans_approach(params)
        chosen = choose_stages(sequences, params, context, plans_approach=is_planned, removed=removed)
        return stage_commands(chosen, params, context)

    def is_success(self, params: PlaceParams, before: World, after: World, context: Context) -> Outcome:
        """Check that the object was released, is at rest, and is at the place that ``success_mode`` asks for."""
        return judge(params, params.object or context.released, after, context)

    def recovery_skills(self, params: PlaceParams, lost: str) -> Sequence[tuple[Skill[Any], Any]] | None:
        """Return a Pick of the lost object; None when none is lost."""
        if not lost:
            return None
        again = PickParams(
            object=lost,
            arm=params.arm,
            ignore_substring=params.ignore_substring,
            max_velocity_scaling_factor=params.max_velocity_scaling_factor,
            max_acceleration_scaling_factor=params.max_acceleration_scaling_factor,
            allowed_planning_time=params.allowed_planning_time,
            seed=params.seed,
        )
        return ((Pick(), again),)


def _held(params: PlaceParams, context: Context, world: World) -> Attachment:
    """Return the object to be placed, as recorded when it was grasped, else by the contacts."""
    held = arm_motions.held(context, world, params.object)
    if held.object == params.container:
        text = f"{held.object!r} cannot be placed into itself; name another container"
        raise StepFailed(Outcome(Code.CONTRADICTION, text, "select", "container"))
    return held


def _place_poses(
    params: PlaceParams, context: Context, world: World, attachment: Attachment
) -> tuple[list[tuple[Pose, Pose]], int]:
    """Return pairs of EE poses in the world, before the release and at it; and how many had no support."""
    if params.place_poses:
        rise = Pose.of((0.0, 0.0, params.pre_place_z_offset - params.place_z_offset))
        return [(rise @ pose, pose) for pose in params.place_poses], 0
    world_T_base, ee_T_object = context.world.world_T_base(), attachment.link_T_object
    world_T_ee = ee_pose(world, context.robot, context.arm_spec, world_T_base)
    setting = setting_of(params, world, Held(world_T_ee @ ee_T_object, ee_T_object), world_T_base)
    made, unsupported = releases(params, setting, context.rng, N_CANDIDATES), 0
    if params.finds_support:
        made, unsupported = lowered(made, params, setting, world, attachment.object)
    return [made.poses(i) for i in range(len(made.at))], unsupported


def _stages(
    pre: Pose,
    place: Pose,
    params: PlaceParams,
    gripper: GripperSpec,
    opened: OpenGripper,
    name: str,
    cost: float,
) -> tuple[Stage, ...]:
    """Return the stages of one release; the hand leaves the object, as it is where it was let go."""
    closed, released = (CloseGripper(),), seconds(params.gripper_change_steps)
    before, after = params.pre_place_hold_vec_weight or None, params.post_place_hold_vec_weight or None
    made = (
        Stage(
            "transit",
            pre,
            functions=closed,
            hold_vec_weight=before,
            speed=CARRY_SPEED,
            waypoint="pre-place",
            cost=cost,
        ),
        Stage(
            "descend",
            place,
            Motion.STRAIGHT,
            closed,
            hold_vec_weight=after,
            speed=0.5,
            dwell_s=seconds(params.hesitate_steps),
            waypoint="place",
        ),
        Stage("release", functions=(opened, DetachObject(name)), dwell_s=released),
    )
    if not params.retreats:
        return made
    away = backed_off(place, gripper, RETREAT_M)
    if params.post_place_vector:
        away = retreat_pose(place, np.array(params.post_place_vector))
    return (
        *made,
        Stage("retreat", away, Motion.STRAIGHT, (opened,), leaving=frozenset({name}), speed=0.5),
    )


def _release_width(world: World, gripper: GripperSpec) -> float:
    width = gripper_state.width_m(world, gripper)
    return (
        gripper.max_width_m if np.isnan(width) else float(min(gripper.max_width_m, width + RELEASE_OPENING_M))
    )
