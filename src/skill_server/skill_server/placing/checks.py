"""Checks of Place's goal fields; the shared ones are in ``checks`` and ``simbox_checks``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec
from skill_server.params import checks, simbox_checks

from .params import PlaceParams
from .release_points import HeightsFrom, PositionConstraint
from .success_modes import MODES

FARTHEST_M = 2.0
LONGEST_AXIS = 1e6


def check_goal(params: PlaceParams, arm: ArmSpec, world: World) -> Outcome:
    """Check the names and words of a goal of Place.

    Args:
        params: Parameters of Place.
        arm: Arm of the goal.
        world: World at the time of the goal.

    Returns:
        OK, or the faults.
    """
    known, same = checks.known_object("container", params.container, world), OK
    if params.container and params.object == params.container:
        text = f"object and container are both {params.object!r}; name two different objects"
        same = checks.fault(Code.CONTRADICTION, "container", text)
    constraints = tuple(item.value for item in PositionConstraint)
    return checks.all_faults(
        (
            checks.with_gripper(arm),
            known,
            checks.known_object("object", params.object, world) if params.object else OK,
            same,
            checks.choice("place_direction", params.place_direction, ("vertical", "horizontal")),
            checks.choice("position_constraint", params.position_constraint, constraints),
            checks.choice("heights_from", params.heights_from, tuple(item.value for item in HeightsFrom)),
            checks.choice("success_mode", params.success_mode, MODES),
            _part(params, world) if known.ok else OK,
            checks.filters("orientation_filters", params.orientation_filters, container=True),
            *simbox_checks.policy(params.test_mode, params.recovery, params.max_attempts),
            *simbox_checks.following(params.follow_tolerance, params.follow_speed),
        )
    )


def _part(params: PlaceParams, world: World) -> Outcome:
    shapes = len(world.objects[params.container].shapes)
    return simbox_checks.whole("place_part", params.place_part, -1, shapes - 1, f"of {params.container!r}")


def check_numbers(params: PlaceParams) -> Outcome:
    """Check the numbers of a goal of Place, and contradictions between fields.

    Args:
        params: Parameters of Place.

    Returns:
        OK, or the faults.
    """
    return checks.all_faults(
        (
            checks.ratio_range("x_ratio_range", params.x_ratio_range),
            checks.ratio_range("y_ratio_range", params.y_ratio_range),
            checks.ratio_range("z_ratio_range", params.z_ratio_range),
            *_ways(params),
            *_success_constants(params),
            _retreat(params.post_place_vector),
            simbox_checks.steps("hesitate_steps", params.hesitate_steps),
            simbox_checks.steps("gripper_change_steps", params.gripper_change_steps),
            *_alignment(params),
            *_holds(params),
            *_explicit(params),
            *checks.execution(
                params.t_eps,
                params.o_eps,
                params.max_velocity_scaling_factor,
                params.max_acceleration_scaling_factor,
                params.allowed_planning_time,
            ),
        )
    )


def _retreat(vector: Sequence[float]) -> Outcome:
    if len(vector) not in (0, 3):
        text = f"post_place_vector has {len(vector)} numbers; give 3 (x, y, z of the EE), or none for the default"
        return checks.fault(Code.BAD_NUMBER, "post_place_vector", text)
    return simbox_checks.vector("post_place_vector", vector, 1.0, "m")


def _ways(params: PlaceParams) -> tuple[Outcome, ...]:
    place, pre = params.place_z_offset, params.pre_place_z_offset
    offsets = {
        "place_z_offset": place,
        "pre_place_z_offset": pre,
        "pre_place_align": params.pre_place_align,
        "pre_place_offset": params.pre_place_offset,
        "place_align": params.place_align,
        "place_offset": params.place_offset,
    }
    found = [checks.number(key, value, -FARTHEST_M, FARTHEST_M, "m") for key, value in offsets.items()]
    found.append(simbox_checks.axis("offset_place_obj_axis", params.offset_place_obj_axis, LONGEST_AXIS))
    if params.is_horizontal:
        why = "placing horizontally moves along it"
        found.append(simbox_checks.not_zero("align_place_obj_axis", params.align_place_obj_axis, why))
    else:
        found.append(checks.ordered("place_z_offset", place, "pre_place_z_offset", pre))
    return tuple(found)


def _success_constants(params: PlaceParams) -> tuple[Outcome, ...]:
    found = [
        checks.number("success_th", params.success_th, 0.0, 0.999, "overlap"),
        checks.number("xybbox_margin", params.xybbox_margin, -1.0, 1.0, "m"),
        checks.number("height_drop", params.height_drop, 0.0, 10.0, "m"),
        checks.number("threshold", params.threshold, -1.0, 10.0, "m"),
        checks.number("cup_rise", params.cup_rise, -1.0, 10.0, "m"),
        checks.number("below_tolerance", params.below_tolerance, 0.0, 10.0, "m"),
        simbox_checks.axis("right_axis", params.right_axis, LONGEST_AXIS),
    ]
    if params.success_mode in ("left", "right"):
        why = f"success_mode {params.success_mode!r} is measured along it"
        found.append(simbox_checks.not_zero("right_axis", params.right_axis, why))
    return tuple(found)


def _alignment(params: PlaceParams) -> tuple[Outcome, ...]:
    axes = {
        "align_pick_obj_axis": params.align_pick_obj_axis,
        "align_place_obj_axis": params.align_place_obj_axis,
        "align_plane_x_axis": params.align_plane_x_axis,
        "align_plane_y_axis": params.align_plane_y_axis,
    }
    found = [simbox_checks.axis(key, axis, LONGEST_AXIS) for key, axis in axes.items()]
    tol = params.align_obj_tol_deg
    found.append(checks.number("align_obj_tol_deg", tol, 0.0, 180.0, "deg"))
    given = {key: any(axis) for key, axis in axes.items()} | {"align_obj_tol_deg": tol != 0.0}
    with_plane = given["align_plane_x_axis"] or given["align_plane_y_axis"]
    plane = ("align_plane_x_axis", "align_plane_y_axis") if with_plane else ("align_place_obj_axis",)
    needed = ("align_pick_obj_axis", *plane, "align_obj_tol_deg")
    # Placing horizontally, the container's axis has a meaning of its own.
    asking = [needed[0], needed[-1]] if params.is_horizontal and not with_plane else needed
    if any(given[key] for key in asking) and not all(given[key] for key in needed):
        missing = next(key for key in needed if not given[key])
        there = [key for key in needed if given[key]]
        text = f"{missing} is zero while {there} is set; set all of {list(needed)} or none"
        found.append(checks.fault(Code.CONTRADICTION, missing, text))
    elif with_plane and not np.cross(params.align_plane_x_axis, params.align_plane_y_axis).any():
        text = "align_plane_x_axis and align_plane_y_axis are parallel and span no plane; turn one of them"
        found.append(checks.fault(Code.CONTRADICTION, "align_plane_y_axis", text))
    return tuple(found)


def _holds(params: PlaceParams) -> tuple[Outcome, ...]:
    after = params.post_place_hold_vec_weight
    found = [
        simbox_checks.hold_weights("pre_place_hold_vec_weight", params.pre_place_hold_vec_weight),
        simbox_checks.hold_weights("post_place_hold_vec_weight", after),
    ]
    if len(after) == 6 and after[5] > 0.0 and not params.is_horizontal:
        text = "post_place_hold_vec_weight[5] holds z while the object is lowered along it; set it to 0"
        found.append(checks.fault(Code.CONTRADICTION, "post_place_hold_vec_weight[5]", text))
    return tuple(found)


def _explicit(params: PlaceParams) -> tuple[Outcome, ...]:
    selecting = {"orientation_filters": params.orientation_filters, "align_pick_obj_axis": params.is_aligned}
    clashes = [key for key, value in selecting.items() if value and params.place_poses]
    why = "place_poses are taken as they are, so {} cannot apply; send only one of the two"
    return tuple(checks.fault(Code.CONTRADICTION, clash, why.format(clash)) for clash in clashes)
