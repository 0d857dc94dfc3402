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
    UpdatePoseCostMetric,
    UpdateSpecific,
)
from handiwork_core.contracts.planning import Attachment, Candidate, SceneQuery
from handiwork_core.contracts.skill import Context, Skill, StepFailed
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, GripperSpec, Robot
from skill_server.motions import arm_motions
from skill_server.motions.approach_planning import ApproachPlanning, backed_off
from skill_server.motions.candidate_selection import Choice, Ways, choose
from skill_server.params import checks
from skill_server.params.recovery import CandidateTest
from skill_server.params.simbox_time import seconds
from skill_server.placing.candidates import releases, setting_of
from skill_server.placing.checks import check_goal, check_numbers
from skill_server.placing.lowering import lowered
from skill_server.placing.params import PlaceParams
from skill_server.placing.release_points import Held, retreat_pose
from skill_server.placing.success import judge
from skill_server.state import gripper_state
from skill_server.state.scene_query import (
    gripper_joints,
    ignored_objects,
    measured_gripper_joints,
    touch_pairs,
)

from .pick import Pick, PickParams

__all__ = ["Place", "PlaceParams"]

N_CANDIDATES = 64
WAYPOINTS = ("pre-place", "place", "retreat")
"""The names of a candidate's waypoints in messages."""
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
        """Sample release poses in random order of place, the present heading first.

        The planner judges them in batches.
        """
        gripper = context.arm_spec.gripper
        assert gripper is not None
        world = context.world.snapshot()
        held = _held(params, context, world)
        poses, unsupported = _place_poses(params, context, world, held)
        candidates = [_waypoints(pre, place, params, gripper) for pre, place in poses]
        scores = [0.01 * i for i in range(len(candidates))]
        scenes = _scenes(params, context, world, held.object, gripper)
        way = ApproachPlanning(params, CARRY_SPEED, params.pre_place_hold_vec_weight or None)
        tested = way if params.test_mode == CandidateTest.FORWARD.value else None
        removed = {"without support": unsupported} if unsupported else {}
        ways = Ways(WAYPOINTS, removed)
        choice = choose(candidates, scores, scenes, params.allowed_planning_time, context, tested, ways)
        return _command_list(params, context, world, gripper, held.object, choice)

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


def _waypoints(pre: Pose, place: Pose, params: PlaceParams, gripper: GripperSpec) -> Candidate:
    if not params.retreats:
        return Candidate((pre, place))
    if not params.post_place_vector:
        return Candidate((pre, place, backed_off(place, gripper, RETREAT_M)))
    return Candidate((pre, place, retreat_pose(place, np.array(params.post_place_vector))))


def _release_width(world: World, gripper: GripperSpec) -> float:
    width = gripper_state.width_m(world, gripper)
    return (
        gripper.max_width_m if np.isnan(width) else float(min(gripper.max_width_m, width + RELEASE_OPENING_M))
    )


def _scenes(
    params: PlaceParams, context: Context, world: World, name: str, gripper: GripperSpec
) -> tuple[SceneQuery, ...]:
    """Return the scenes: the object in the hand on the way and at the release; then it is out of the open hand."""
    ignored = ignored_objects(params.ignore_substring, world)
    carried = SceneQuery(
        ignored,
        tuple(context.held.values()),
        touch_pairs(context.robot, context.arm_spec, context.held, frozenset()),
        measured_gripper_joints(world, context.robot, gripper),
    )
    if not params.retreats:
        return (carried, carried)
    opened = gripper_joints(context.robot, gripper, _release_width(world, gripper))
    return (carried, carried, SceneQuery(ignored | {name}, gripper_m=opened))


def _command_list(
    params: PlaceParams, context: Context, world: World, gripper: GripperSpec, name: str, choice: Choice
) -> tuple[Command, ...]:
    """Return the commands in the SimBox format's order.

    ``touching`` is set where the format ignores the object on the retreat.
    """
    poses, q = choice.candidate.world_T_ee, choice.q
    ignored = UpdateSpecific(ignored_objects(params.ignore_substring, world))
    opened = OpenGripper(_release_width(world, gripper))
    before = UpdatePoseCostMetric(params.pre_place_hold_vec_weight or None)
    after = UpdatePoseCostMetric(params.post_place_hold_vec_weight or None)
    wait = seconds(params.hesitate_steps)
    commands = [
        Command("transit", UpdatePoseCostMetric(None)),
        Command("transit", ignored),
        *([Command("transit", before)] if params.pre_place_hold_vec_weight else []),
        Command("transit", CloseGripper(), poses[0], q[0], speed=CARRY_SPEED, planned=choice.planned),
        *([Command("transit", after)] if before.hold_vec_weight or after.hold_vec_weight else []),
        Command("descend", CloseGripper(), poses[1], q[1], Motion.STRAIGHT, dwell_s=wait, speed=0.5),
        Command("release", opened, dwell_s=seconds(params.gripper_change_steps)),
        Command("release", DetachObject(name)),
        Command("release", ignored),
    ]
    if len(poses) > 2:
        commands.append(Command("release", UpdatePoseCostMetric(None)))
        touched = frozenset({name})
        commands.append(Command("retreat", opened, poses[2], q[2], Motion.STRAIGHT, touched, speed=0.5))
    return tuple(commands)
