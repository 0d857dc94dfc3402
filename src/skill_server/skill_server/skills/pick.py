"""Pick: choose a grasp, go there, close, lift; success is that the object rose with the hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.commands import (
    AttachObject,
    CloseGripper,
    Command,
    Motion,
    OpenGripper,
    UpdatePoseCostMetric,
    UpdateSpecific,
)
from handiwork_core.geometry import Pose
from handiwork_core.outcome import OK, Code, Outcome
from handiwork_core.planning import Candidate, SceneQuery
from handiwork_core.robot import ArmSpec, GripperSpec, Robot
from handiwork_core.skill import Context, Skill, StepFailed
from handiwork_core.world import World
from skill_server import checks, grip
from skill_server.choose import Choice, choose
from skill_server.grasps import Grasp, grasps_for
from skill_server.orientation import Mask, OrientationFilter, cones_of, surviving
from skill_server.scene_query import gripper_joints, ignored_objects, supports, touch_pairs

SIDES = ("", "left", "right")
SLIP_M = 0.03
"""How far the object may have moved in the hand between the grasp and the end of the lift."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PickParams:
    """Fields, units and defaults of ``Pick.action``; ``grasp_poses`` are EE poses in the world."""

    object: str
    arm: str = ""
    grasp_poses: tuple[Pose, ...] = ()
    orientation_filters: tuple[OrientationFilter, ...] = ()
    direction_to_obj: str = ""
    pre_grasp_offset: float = 0.1
    post_grasp_offset_min: float = 0.1
    post_grasp_offset_max: float = 0.1
    gripper_width: float = 0.0
    lift_th: float = 0.02
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
        return (self.object,)


class Pick(Skill[PickParams]):
    """Grasp an object from where it stands and lift it."""

    name = "pick"
    params_type = PickParams

    def is_feasible(self, params: PickParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        found = checks.first_fault(
            (checks.with_gripper(arm), checks.known_object("object", params.object, world))
        )
        if not found.ok or arm.gripper is None:
            return found
        return checks.first_fault((*_object_checks(params, world), *_number_checks(params, arm.gripper)))

    def commands(self, params: PickParams, context: Context) -> Sequence[Command]:
        """Grasps by score, judged in batches by the planner, the best of the first batch that has any."""
        gripper = context.arm_spec.gripper
        assert gripper is not None
        world = context.world.snapshot()
        _refuse_when_holding(context, world)
        grasps = _wanted_grasps(params, context, world, gripper)
        lift = float(context.rng.uniform(params.post_grasp_offset_min, params.post_grasp_offset_max))
        candidates = [_waypoints(grasp, params, gripper, lift) for grasp in grasps]
        scenes = _scenes(params, context, world, gripper)
        choice = choose(candidates, [g.score for g in grasps], scenes, params.allowed_planning_time, context)
        return _command_list(params, context, world, gripper, choice)

    def is_success(self, params: PickParams, before: World, after: World, context: Context) -> Outcome:
        """The object is in the gripper, rose by more than ``lift_th``, and moved with the hand."""
        gripper = context.arm_spec.gripper
        assert gripper is not None
        grasped = grip.holds(after, context.robot, gripper, params.object)
        if not grasped.ok:
            return grasped
        rise = float(_height(after, params.object) - _height(before, params.object))
        if rise <= params.lift_th:
            text = f"{params.object!r} rose by {rise * 1e3:.0f} mm, lift_th is {params.lift_th * 1e3:.0f} mm"
            return Outcome(Code.NOTHING_GRASPED, text)
        held = context.held.get(params.object)
        if held is not None:
            here = grip.attachment(
                after, context.robot, context.arm_spec, context.world.world_T_base(), params.object
            )
            slip_m, slip_rad = held.link_T_object.distance_to(here.link_T_object)
            if slip_m > SLIP_M:
                text = (
                    f"{params.object!r} slipped by {slip_m * 1e3:.0f} mm in the hand; it is not held firmly"
                )
                return Outcome(Code.OBJECT_DROPPED, text, position_error_m=slip_m, angle_error_rad=slip_rad)
        return Outcome(Code.OK, f"picked {params.object!r}: it rose by {rise * 1e3:.0f} mm")


def _object_checks(params: PickParams, world: World) -> tuple[Outcome, ...]:
    fixed = OK
    if world.objects[params.object].is_static:
        movable = sorted(name for name, body in world.objects.items() if not body.is_static)
        fixed = checks.fault(Code.BAD_GOAL, "object", f"{params.object!r} is a fixture; use one of {movable}")
    both = OK
    if params.grasp_poses and (params.orientation_filters or params.direction_to_obj):
        field_name = "orientation_filters" if params.orientation_filters else "direction_to_obj"
        text = f"grasp_poses are taken as they are, so {field_name} cannot apply; send only one of the two"
        both = checks.fault(Code.CONTRADICTION, field_name, text)
    return (
        fixed,
        both,
        checks.choice("direction_to_obj", params.direction_to_obj, SIDES),
        checks.filters("orientation_filters", params.orientation_filters),
    )


def _number_checks(params: PickParams, gripper: GripperSpec) -> tuple[Outcome, ...]:
    low, high = params.post_grasp_offset_min, params.post_grasp_offset_max
    width = OK
    if params.gripper_width != 0.0:
        width = checks.number(
            "gripper_width", params.gripper_width, gripper.min_width_m, gripper.max_width_m, "m"
        )
    lift = OK
    if low <= params.lift_th:
        text = (
            f"lift_th {params.lift_th:g} m cannot be passed by a lift of {low:g} m; lower it or lift higher"
        )
        lift = checks.fault(Code.CONTRADICTION, "lift_th", text)
    return (
        width,
        checks.number("pre_grasp_offset", params.pre_grasp_offset, 0.0, 1.0, "m"),
        checks.number("post_grasp_offset_min", low, 0.0, 1.0, "m"),
        checks.number("post_grasp_offset_max", high, 0.0, 1.0, "m"),
        checks.ordered("post_grasp_offset_min", low, "post_grasp_offset_max", high),
        checks.number("lift_th", params.lift_th, 0.0, 1.0, "m"),
        lift,
        *checks.execution(
            params.t_eps,
            params.o_eps,
            params.max_velocity_scaling_factor,
            params.max_acceleration_scaling_factor,
            params.allowed_planning_time,
        ),
    )


def _refuse_when_holding(context: Context, world: World) -> None:
    holding = next(iter(context.held), "") or grip.held_by_measurement(world, context.robot, context.arm_spec)
    if holding:
        text = f"the gripper already holds {holding!r}; place it first"
        raise StepFailed(Outcome(Code.CONTRADICTION, text, "select", "object"))


def _opening(params: PickParams, gripper: GripperSpec) -> float:
    return params.gripper_width or gripper.max_width_m


def _wanted_grasps(
    params: PickParams, context: Context, world: World, gripper: GripperSpec
) -> tuple[Grasp, ...]:
    if params.grasp_poses:
        return tuple(Grasp(pose, 0.0, 0.01 * i) for i, pose in enumerate(params.grasp_poses))
    reach = grip.reach(context.robot, context.arm_spec, gripper)
    pose = world.states[params.object].world_T_object
    made = grasps_for(world.objects[params.object], pose, gripper, reach, _opening(params, gripper))
    base_T_world = context.world.world_T_base().inverse()
    in_base = [base_T_world @ grasp.world_T_ee for grasp in made.grasps]
    turns = np.array([pose.rotation.matrix() for pose in in_base]).reshape(-1, 3, 3)
    keep: Mask
    keep, words = surviving(turns, cones_of(params.orientation_filters))
    object_y = float((base_T_world @ pose).translation_m[1])
    if params.direction_to_obj:
        left = np.array([pose.translation_m[1] > object_y for pose in in_base], dtype=np.bool_)
        side = left if params.direction_to_obj == "left" else ~left
        words = f"{words}, direction_to_obj {params.direction_to_obj!r} removed {int((keep & ~side).sum())}"
        keep = np.asarray(keep & side)
    if keep.any():
        return tuple(grasp for grasp, kept in zip(made.grasps, keep, strict=True) if kept)
    field_name = "orientation_filters" if made.grasps else "object"
    text = f"no grasp of {params.object!r}: {len(made.grasps)} were made ({made.removed})"
    raise StepFailed(Outcome(Code.NO_CANDIDATE, f"{text}; {words}" if words else text, "select", field_name))


def _waypoints(grasp: Grasp, params: PickParams, gripper: GripperSpec, lift_m: float) -> Candidate:
    back = np.zeros(3)
    back[gripper.ee_axis] = -params.pre_grasp_offset
    up = Pose.of((0.0, 0.0, lift_m))
    return Candidate((grasp.world_T_ee @ Pose.of(back), grasp.world_T_ee, up @ grasp.world_T_ee))


def _scenes(
    params: PickParams, context: Context, world: World, gripper: GripperSpec
) -> tuple[SceneQuery, ...]:
    """Open and clear of the object; fingers may touch it; then it is in the hand and no obstacle."""
    ignored = ignored_objects(params.ignore_substring, world)
    opened = gripper_joints(context.robot, gripper, _opening(params, gripper))
    pairs = touch_pairs(context.robot, context.arm_spec, context.held, frozenset({params.object}))
    return (
        SceneQuery(ignored, gripper_m=opened),
        SceneQuery(ignored, allowed=pairs, gripper_m=opened),
        SceneQuery(ignored | {params.object}, gripper_m=opened),
    )


def _command_list(
    params: PickParams, context: Context, world: World, gripper: GripperSpec, choice: Choice
) -> tuple[Command, ...]:
    pre, grasp, lifted = choice.candidate.world_T_ee
    opened = OpenGripper(_opening(params, gripper))
    target = frozenset({params.object})
    return (
        Command("open", UpdatePoseCostMetric(None)),
        Command("open", UpdateSpecific(ignored_objects(params.ignore_substring, world))),
        Command("open", opened),
        Command("approach", opened, pre, choice.q[0], speed=0.8),
        Command("descend", opened, grasp, choice.q[1], Motion.STRAIGHT, target, speed=0.5),
        Command("grasp", CloseGripper(), dwell_s=0.2),
        Command("grasp", AttachObject(params.object)),
        Command(
            "lift",
            CloseGripper(),
            lifted,
            choice.q[2],
            Motion.STRAIGHT,
            supports(world, params.object),
            speed=0.5,
        ),
    )


def _height(world: World, name: str) -> float:
    return float(world.states[name].world_T_object.translation_m[2])
