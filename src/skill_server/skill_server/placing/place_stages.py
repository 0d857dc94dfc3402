"""The stages of Place: the releases of a held object, sampled as the goal asks, each with its way there and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.arrival import ee_pose
from handiwork_core.contracts.commands import CloseGripper, DetachObject, Motion, OpenGripper
from handiwork_core.contracts.planning import Attachment
from handiwork_core.contracts.skill import Context
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import World
from handiwork_core.robot.followers import has_fixed_jaw
from handiwork_core.robot.robot import GripperSpec, Robot
from skill_server.motions.approach_planning import backed_off
from skill_server.params.simbox_time import seconds
from skill_server.state import gripper_state

from .candidates import releases, setting_of
from .lowering import lowered
from .params import PlaceParams
from .release_points import Held, retreat_pose

N_CANDIDATES = 64
RETREAT_M = 0.1
"""The default retreat after the release, back along the axis by which the gripper approaches."""
RELEASE_OPENING_M = 0.03
"""Two fingers open by this much, one against a fixed jaw by half, so that they do not hit the walls of a container."""
CARRY_SPEED = 0.6
"""The part of the allowed speed while carrying, so that grip and tracking have a reserve."""


@dataclass(frozen=True, slots=True, eq=False)
class PlaceStages:
    """The alternative releases of one goal.

    Attributes:
        sequences: Their stages, in the order in which they are preferred; at least one.
        removed: Number of releases that were removed before, by cause.
    """

    sequences: tuple[tuple[SkillStage, ...], ...]
    removed: Mapping[str, int]


def place_stages(
    params: PlaceParams, context: Context, held: Attachment, n: int = N_CANDIDATES
) -> PlaceStages:
    """Sample release poses in random order of place, the present heading first, and make the stages of each.

    Args:
        params: Parameters of Place.
        context: Context of the run; its world shows the arm that holds the object.
        held: The object, and how the hand holds it.
        n: Number of releases to sample; a goal with ``place_poses`` gives its own.

    Returns:
        The releases.

    Raises:
        StepFailed: NO_CANDIDATE, naming the constraints that contradict each other, or that nothing carries the object.
    """
    gripper, world = context.arm_spec.gripper, context.world.snapshot()
    assert gripper is not None
    poses, unsupported = _place_poses(params, context, world, held, n)
    opened = OpenGripper(_release_width(world, context.robot, gripper))
    sequences = [
        _stages(pre, place, params, gripper, opened, held.object, 0.01 * i)
        for i, (pre, place) in enumerate(poses)
    ]
    return PlaceStages(tuple(sequences), {"without support": unsupported} if unsupported else {})


def _place_poses(
    params: PlaceParams, context: Context, world: World, attachment: Attachment, n: int
) -> tuple[list[tuple[Pose, Pose]], int]:
    """Return pairs of EE poses in the world, before the release and at it; and how many had no support."""
    world_T_base, ee_T_object = context.world.world_T_base(), attachment.link_T_object
    if given := params.ee_poses(ee_T_object):
        rise = Pose.of((0.0, 0.0, params.pre_place_z_offset - params.place_z_offset))
        return [(rise @ pose, pose) for pose in given], 0
    world_T_ee = ee_pose(world, context.robot, context.arm_spec, world_T_base)
    setting = setting_of(params, world, Held(world_T_ee @ ee_T_object, ee_T_object), world_T_base)
    made, unsupported = releases(params, setting, context.rng, n), 0
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
) -> tuple[SkillStage, ...]:
    """Return the stages of one release; the hand leaves the object, as it is where it was let go."""
    closed, released = (CloseGripper(),), seconds(params.gripper_change_steps)
    before, after = params.pre_place_hold_vec_weight or None, params.post_place_hold_vec_weight or None
    made = (
        SkillStage(
            "transit",
            pre,
            functions=closed,
            hold_vec_weight=before,
            speed=CARRY_SPEED,
            waypoint="pre-place",
            cost=cost,
        ),
        SkillStage(
            "descend",
            place,
            Motion.STRAIGHT,
            closed,
            hold_vec_weight=after,
            speed=0.5,
            dwell_s=seconds(params.hesitate_steps),
            waypoint="place",
        ),
        SkillStage("release", functions=(opened, DetachObject(name)), dwell_s=released),
    )
    if not params.retreats:
        return made
    away = backed_off(place, gripper, RETREAT_M)
    if params.post_place_vector:
        away = retreat_pose(place, np.array(params.post_place_vector))
    return (
        *made,
        SkillStage("retreat", away, Motion.STRAIGHT, (opened,), leaving=frozenset({name}), speed=0.5),
    )


def _release_width(world: World, robot: Robot, gripper: GripperSpec) -> float:
    width = gripper_state.width_m(world, gripper)
    more_m = 0.5 * RELEASE_OPENING_M if has_fixed_jaw(robot.joints, gripper) else RELEASE_OPENING_M
    return gripper.max_width_m if np.isnan(width) else float(min(gripper.max_width_m, width + more_m))
