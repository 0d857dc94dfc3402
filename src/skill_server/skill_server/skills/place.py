"""Place: bring the held object over a container, lower it, let go, retreat.

Success is measured on the settled world.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.commands import (
    CloseGripper,
    Command,
    DetachObject,
    Motion,
    OpenGripper,
    UpdatePoseCostMetric,
    UpdateSpecific,
)
from handiwork_core.geometry import Pose, Rotation
from handiwork_core.outcome import Code, Outcome
from handiwork_core.planning import Attachment, Candidate, SceneQuery
from handiwork_core.robot import ArmSpec, GripperSpec, Robot
from handiwork_core.skill import Context, Skill, StepFailed
from handiwork_core.world import World
from skill_server import grip
from skill_server.choose import Choice, choose
from skill_server.orientation import Cone, OrientationFilter, cones_of
from skill_server.place_checks import check_goal, check_numbers
from skill_server.place_targets import (
    Heights,
    Held,
    PositionConstraint,
    alignment_cone,
    constrained_rotations,
    ee_at,
    retreat_pose,
    target_points,
    upright_rotations,
)
from skill_server.scene_query import gripper_joints, ignored_objects, measured_gripper_joints, touch_pairs
from skill_server.solids import object_box, world_aabb
from skill_server.success import inside_from_above, iou

N_CANDIDATES = 64
N_YAWS = 8
RELEASE_OPENING_M = 0.03
"""The fingers open by this much, so that they do not hit the walls of a narrow container."""
REST_MPS = 0.05
CARRY_SPEED = 0.6
"""Part of the allowed speed while carrying, so that grip and tracking have a reserve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceParams:
    """Fields, units and defaults of ``Place.action``; ``place_poses`` are EE poses in the world."""

    container: str
    arm: str = ""
    object: str = ""
    place_poses: tuple[Pose, ...] = ()
    place_direction: str = "vertical"
    position_constraint: str = "object"
    x_ratio_range: tuple[float, float] = (0.4, 0.6)
    y_ratio_range: tuple[float, float] = (0.4, 0.6)
    pre_place_z_offset: float = 0.15
    place_z_offset: float = 0.03
    orientation_filters: tuple[OrientationFilter, ...] = ()
    align_pick_obj_axis: tuple[float, float, float] = (0.0, 0.0, 0.0)
    align_place_obj_axis: tuple[float, float, float] = (0.0, 0.0, 0.0)
    align_obj_tol_deg: float = 0.0
    post_place_vector: tuple[float, float, float] = (0.0, 0.0, -0.1)
    success_mode: str = "xybbox"
    success_th: float = 0.0
    t_eps: float = 0.005
    o_eps: float = 0.05
    ignore_substring: tuple[str, ...] = ()
    max_velocity_scaling_factor: float = 1.0
    max_acceleration_scaling_factor: float = 1.0
    allowed_planning_time: float = 5.0
    seed: int = 0

    @property
    def targets(self) -> tuple[str, ...]:
        """Objects whose motion makes the chosen commands wrong."""
        return (self.container,)


class Place(Skill[PlaceParams]):
    """Put the held object on or into another."""

    name = "place"
    params_type = PlaceParams

    def is_feasible(self, params: PlaceParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        found = check_goal(params, arm, world)
        return found if not found.ok else check_numbers(params)

    def commands(self, params: PlaceParams, context: Context) -> Sequence[Command]:
        """Sampled release poses in random order of place, present heading first.

        Judged in batches by the planner.
        """
        gripper = context.arm_spec.gripper
        assert gripper is not None
        world = context.world.snapshot()
        held = _held(params, context, world)
        poses = _place_poses(params, context, world, held)
        candidates = [_waypoints(pre, place, params) for pre, place in poses]
        scores = [0.01 * i for i in range(len(candidates))]
        scenes = _scenes(params, context, world, held.object, gripper)
        choice = choose(candidates, scores, scenes, params.allowed_planning_time, context)
        return _command_list(params, context, world, gripper, held.object, choice)

    def is_success(self, params: PlaceParams, before: World, after: World, context: Context) -> Outcome:
        """The object was released, is at rest, and where ``success_mode`` wants it."""
        gripper = context.arm_spec.gripper
        assert gripper is not None
        name = params.object or context.released
        fingers = grip.touching_fingers(after, context.robot, gripper, name)
        if fingers:
            text = f"{sorted(fingers)[0]} still touches {name!r}; choose a longer post_place_vector"
            return Outcome(Code.NOT_IN_PLACE, text)
        speed = float(np.linalg.norm(after.states[name].world_v_object))
        if speed > REST_MPS:
            return Outcome(Code.NOT_IN_PLACE, f"{name!r} still moves at {speed:.2f} m/s")
        return _judge(params, name, after, context)


def _held(params: PlaceParams, context: Context, world: World) -> Attachment:
    """What is to be placed: as recorded when it was grasped, else as the contacts tell."""
    name = next(iter(context.held), "") or grip.held_by_measurement(world, context.robot, context.arm_spec)
    if not name or name not in world.states:
        text = "the gripper holds nothing; pick an object first"
        raise StepFailed(Outcome(Code.CONTRADICTION, text, "select", "object"))
    if params.object and params.object != name:
        text = f"the gripper holds {name!r}, not {params.object!r}; leave object empty or name {name!r}"
        raise StepFailed(Outcome(Code.CONTRADICTION, text, "select", "object"))
    if name == params.container:
        text = f"{name!r} cannot be placed into itself; name another container"
        raise StepFailed(Outcome(Code.CONTRADICTION, text, "select", "container"))
    if name not in context.held:
        base = context.world.world_T_base()
        context.held[name] = grip.attachment(world, context.robot, context.arm_spec, base, name)
    return context.held[name]


def _place_poses(
    params: PlaceParams, context: Context, world: World, attachment: Attachment
) -> list[tuple[Pose, Pose]]:
    """Pairs of EE poses in the world: before the release and at it."""
    if params.place_poses:
        rise = Pose.of((0.0, 0.0, params.pre_place_z_offset - params.place_z_offset))
        return [(rise @ pose, pose) for pose in params.place_poses]
    body, pose = world.objects[params.container], world.states[params.container].world_T_object
    low, high = world_aabb(body, pose)
    heights = Heights(params.pre_place_z_offset, params.place_z_offset)
    constraint = PositionConstraint(params.position_constraint)
    ee_T_object = attachment.link_T_object
    turns = _rotations(params, context, world, attachment)
    found = []
    for i in range(N_CANDIDATES):
        ratios = context.rng.uniform(
            (params.x_ratio_range[0], params.y_ratio_range[0]),
            (params.x_ratio_range[1], params.y_ratio_range[1]),
        )
        pre, place = target_points(low, high, ratios, heights)
        turn = turns[i % len(turns)]
        found.append((ee_at(pre, turn, constraint, ee_T_object), ee_at(place, turn, constraint, ee_T_object)))
    return found


def _rotations(
    params: PlaceParams, context: Context, world: World, attachment: Attachment
) -> tuple[Rotation, ...]:
    world_T_base = context.world.world_T_base()
    cones: list[Cone] = list(cones_of(params.orientation_filters))
    if any(params.align_pick_obj_axis):
        container = world.states[params.container].world_T_object.rotation
        cones.append(
            alignment_cone(
                np.array(params.align_pick_obj_axis),
                np.array(params.align_place_obj_axis),
                params.align_obj_tol_deg,
                attachment.link_T_object,
                world_T_base.rotation.inverse() @ container,
            )
        )
    if cones:
        return constrained_rotations(cones, world_T_base.rotation, context.rng, N_CANDIDATES)
    world_T_ee = grip.ee_pose(world, context.robot, context.arm_spec, world_T_base)
    now = Held(world_T_ee @ attachment.link_T_object, attachment.link_T_object)
    return upright_rotations(now, N_YAWS)


def _waypoints(pre: Pose, place: Pose, params: PlaceParams) -> Candidate:
    if not any(params.post_place_vector):
        return Candidate((pre, place))
    return Candidate((pre, place, retreat_pose(place, np.array(params.post_place_vector))))


def _release_width(world: World, gripper: GripperSpec) -> float:
    width = grip.width_m(world, gripper)
    return (
        gripper.max_width_m if np.isnan(width) else float(min(gripper.max_width_m, width + RELEASE_OPENING_M))
    )


def _scenes(
    params: PlaceParams, context: Context, world: World, name: str, gripper: GripperSpec
) -> tuple[SceneQuery, ...]:
    """The object in the hand on the way and at the release; then it is out of the open hand."""
    ignored = ignored_objects(params.ignore_substring, world)
    carried = SceneQuery(
        ignored,
        tuple(context.held.values()),
        touch_pairs(context.robot, context.arm_spec, context.held, frozenset()),
        measured_gripper_joints(world, context.robot, gripper),
    )
    if not any(params.post_place_vector):
        return (carried, carried)
    opened = gripper_joints(context.robot, gripper, _release_width(world, gripper))
    return (carried, carried, SceneQuery(ignored | {name}, gripper_m=opened))


def _command_list(
    params: PlaceParams, context: Context, world: World, gripper: GripperSpec, name: str, choice: Choice
) -> tuple[Command, ...]:
    poses, q = choice.candidate.world_T_ee, choice.q
    opened = OpenGripper(_release_width(world, gripper))
    commands = [
        Command("transit", UpdatePoseCostMetric(None)),
        Command("transit", UpdateSpecific(ignored_objects(params.ignore_substring, world))),
        Command("transit", CloseGripper(), poses[0], q[0], speed=CARRY_SPEED),
        Command("descend", CloseGripper(), poses[1], q[1], Motion.STRAIGHT, speed=0.5),
        Command("release", opened, dwell_s=0.3),
        Command("release", DetachObject(name)),
    ]
    if len(poses) > 2:
        touched = frozenset({name})
        commands.append(Command("retreat", opened, poses[2], q[2], Motion.STRAIGHT, touched, speed=0.5))
    return tuple(commands)


def _judge(params: PlaceParams, name: str, after: World, context: Context) -> Outcome:
    pose, container_pose = after.states[name].world_T_object, after.states[params.container].world_T_object
    container = after.objects[params.container]
    low, high = world_aabb(container, container_pose)
    bottom = float(world_aabb(after.objects[name], pose)[0][2])
    p = pose.translation_m
    if params.success_mode == "3diou":
        overlap = iou(
            object_box(after.objects[name]).moved(pose), object_box(container).moved(container_pose)
        )
        good, measured = (
            overlap > params.success_th,
            f"overlap {overlap:.4f}, success_th {params.success_th:g}",
        )
    elif params.success_mode == "height":
        release = context.release_height_m - params.success_th
        good, measured = bool(p[2] < release), f"height {p[2]:.3f} m, wanted below {release:.3f} m"
    else:
        inside = inside_from_above(p, object_box(container).moved(container_pose), params.success_th)
        good = inside and bottom > float(low[2]) - 0.005
        sides = f"container ({low[0]:.3f}, {low[1]:.3f}) to ({high[0]:.3f}, {high[1]:.3f}) m"
        measured = f"position ({p[0]:.3f}, {p[1]:.3f}) m, bottom {bottom:.3f} m, {sides}"
    if good:
        return Outcome(Code.OK, f"placed {name!r} into {params.container!r}: {measured}")
    return Outcome(
        Code.NOT_IN_PLACE, f"{name!r} is not in {params.container!r} by {params.success_mode}: {measured}"
    )
