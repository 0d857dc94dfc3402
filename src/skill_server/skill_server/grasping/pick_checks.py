"""Checks of Pick's goal fields; the shared ones are in ``checks`` and ``simbox_checks``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, GripperSpec
from skill_server.params import checks, simbox_checks
from skill_server.placing.checks import check_goal, check_numbers
from skill_server.placing.params import PlaceParams

from .graspnet_rows import GraspFileError, read_rows
from .pick_params import PickParams

SIDES = ("", "left", "right")
AXES = ("", "x", "y", "z")
SELECTING = ("orientation_filters", "direction_to_obj", "npy_name", "constraint_axis", "fixed_orientation")
"""The fields that choose among grasps."""


def check_pick(params: PickParams, arm: ArmSpec, world: World) -> Outcome:
    """Check a goal of Pick by its arguments alone.

    Args:
        params: Parameters of Pick.
        arm: Arm of the goal.
        world: World at the time of the goal.

    Returns:
        OK, or the faults.
    """
    known = checks.known_object("object", params.object, world)
    return checks.all_faults(
        (
            checks.with_gripper(arm),
            _movable(params, world) if known.ok else known,
            checks.payload("object", params.object, world, arm) if params.is_closing else OK,
            *_words(params),
            _width(params, arm.gripper) if arm.gripper else OK,
            checks.grip_force(params.grip_force, arm, is_closing=params.is_closing),
            *_numbers(params),
            _annotation(params),
            *_without_effect(params),
            *_next_place(params, arm, world),
        )
    )


def _next_place(params: PickParams, arm: ArmSpec, world: World) -> tuple[Outcome, ...]:
    """Check the place that follows, as Place checks it, and that it can follow this pick."""
    if params.next_place is None:
        return ()
    inner = list(check_next_place(params.next_place, params.object, arm, world))
    if not params.is_closing:
        text = (
            "the open hand takes nothing to a place; leave next_place out, or set final_gripper_state to -1"
        )
        inner.append(checks.fault(Code.CONTRADICTION, "next_place", text))
    if not params.look_ahead:
        text = "look_ahead is false where next_place is given; send only one of the two"
        inner.append(checks.fault(Code.CONTRADICTION, "look_ahead", text))
    return tuple(inner)


def check_next_place(place: PlaceParams, object_name: str, arm: ArmSpec, world: World) -> tuple[Outcome, ...]:
    """Check a place that follows a grasp, as Place checks it.

    Args:
        place: Its parameters.
        object_name: The object that is grasped; empty where it is not known yet.
        arm: Arm that places it.
        world: World at the time of the goal.

    Returns:
        The faults, with fields of ``next_place``.
    """
    found = [*check_goal(place, arm, world).all, *check_numbers(place).all]
    inner = [
        replace(one, field_name=f"next_place.{one.field_name}", message=f"in next_place, {one.message}")
        for one in found
        if not one.ok
    ]
    if place.object not in ("", object_name):
        text = f"object of next_place is {place.object!r} where {object_name!r} is grasped; leave it out"
        inner.append(checks.fault(Code.CONTRADICTION, "next_place.object", text))
    if object_name and place.container == object_name:
        text = f"{object_name!r} cannot be placed into itself; name another container"
        inner.append(checks.fault(Code.CONTRADICTION, "next_place.container", text))
    return tuple(inner)


def _movable(params: PickParams, world: World) -> Outcome:
    joint = world.objects[params.object].articulation
    if joint is not None:
        text = (
            f"{params.object!r} is a part of {joint.body!r} and cannot be lifted; use open, close or rotate"
        )
        return checks.fault(Code.BAD_GOAL, "object", text)
    if world.objects[params.object].is_static:
        movable = sorted(n for n, body in world.objects.items() if not (body.is_static or body.articulation))
        return checks.fault(Code.BAD_GOAL, "object", f"{params.object!r} is a fixture; use one of {movable}")
    return OK


def _words(params: PickParams) -> tuple[Outcome, ...]:
    state = OK
    if params.final_gripper_state not in (-1, 1):
        text = f"final_gripper_state is {params.final_gripper_state!s:.20}; use -1 (close) or 1 (open)"
        state = checks.fault(Code.BAD_GOAL, "final_gripper_state", text)
    return (
        *_explicit(params),
        checks.choice("direction_to_obj", params.direction_to_obj, SIDES),
        checks.choice("constraint_axis", params.constraint_axis, AXES),
        checks.filters("orientation_filters", params.orientation_filters),
        state,
        *simbox_checks.policy(params.test_mode, params.recovery, params.max_attempts),
        *simbox_checks.following(params.follow_tolerance, params.follow_speed),
    )


def _explicit(params: PickParams) -> tuple[Outcome, ...]:
    """Check that nothing selects among grasp poses, which are taken as they are."""
    found = []
    for field_name in (key for key in SELECTING if getattr(params, key) and params.grasp_poses):
        text = f"grasp_poses are taken as they are, so {field_name} cannot apply; send only one of the two"
        found.append(checks.fault(Code.CONTRADICTION, field_name, text))
    if len(params.fixed_orientation) > 1:
        text = f"fixed_orientation has {len(params.fixed_orientation)} quaternions; send one or none"
        found.append(checks.fault(Code.BAD_GOAL, "fixed_orientation", text))
    return tuple(found)


def _without_effect(params: PickParams) -> tuple[Outcome, ...]:
    found = []
    if not params.npy_name:
        why = "it belongs to an annotation; set npy_name or leave it out"
        found.append(checks.without_effect(params, ("grasp_scale", "tcp_offset"), why))
    if not params.constraint_axis:
        why = "it belongs to an axis; set constraint_axis or leave it out"
        found.append(checks.without_effect(params, ("constraint_ratio_range",), why))
    return tuple(found)


def _width(params: PickParams, gripper: GripperSpec) -> Outcome:
    if params.gripper_width == 0.0:
        return OK
    return checks.number("gripper_width", params.gripper_width, gripper.min_width_m, gripper.max_width_m, "m")


def _numbers(params: PickParams) -> tuple[Outcome, ...]:
    return (
        checks.number("pre_grasp_offset", params.pre_grasp_offset, 0.0, 1.0, "m"),
        *_lift(params),
        checks.number("grasp_scale", params.grasp_scale, 1e-3, 1e3, ""),
        checks.number("tcp_offset", params.tcp_offset, 0.0, 1.0, "m"),
        checks.ratio_range("constraint_ratio_range", params.constraint_ratio_range),
        simbox_checks.hold_weights("pre_grasp_hold_vec_weight", params.pre_grasp_hold_vec_weight),
        simbox_checks.steps("gripper_change_steps", params.gripper_change_steps),
        *checks.execution(
            params.t_eps,
            params.o_eps,
            params.max_velocity_scaling_factor,
            params.max_acceleration_scaling_factor,
            params.allowed_planning_time,
        ),
    )


def _lift(params: PickParams) -> tuple[Outcome, ...]:
    low, high = params.post_grasp_offset_min, params.post_grasp_offset_max
    lift = OK
    if params.is_closing and 0.0 < params.lift_th >= low:
        text = (
            f"lift_th {params.lift_th:g} m cannot be passed by a lift of post_grasp_offset_min {low:g} m; "
            "lower it or lift higher"
        )
        lift = checks.fault(Code.CONTRADICTION, "lift_th", text)
    return (
        checks.number("post_grasp_offset_min", low, 0.0, 1.0, "m"),
        checks.number("post_grasp_offset_max", high, 0.0, 1.0, "m"),
        checks.ordered("post_grasp_offset_min", low, "post_grasp_offset_max", high),
        checks.number("lift_th", params.lift_th, 0.0, 1.0, "m"),
        lift,
    )


def _annotation(params: PickParams) -> Outcome:
    if not params.npy_name:
        return OK
    try:
        read_rows(Path(params.npy_name))
    except GraspFileError as error:
        return checks.fault(Code.BAD_GOAL, "npy_name", str(error))
    return OK
