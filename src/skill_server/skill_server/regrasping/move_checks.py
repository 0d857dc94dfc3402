"""Checks of the goal fields of ``move_object``; those of its pick and place are theirs."""

from __future__ import annotations

from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec
from skill_server.grasping.pick_checks import check_pick
from skill_server.params import checks, simbox_checks
from skill_server.placing.checks import LONGEST_AXIS, check_goal, check_numbers

from .params import MoveObjectParams
from .planning import pick_params

MOST_REGRASPS = 4
ALIGNING = (
    "align_pick_obj_axis",
    "align_place_obj_axis",
    "align_obj_tol_deg",
    "align_plane_x_axis",
    "align_plane_y_axis",
)
SAMPLING = (
    *("orientation_filters", "up_axis", "align_pick_obj_axis", "align_place_obj_axis", "position_constraint"),
    *("x_ratio_range", "y_ratio_range", "z_ratio_range", "heights_from", "offset_place_obj_axis"),
    *("pre_place_align", "pre_place_offset", "place_align", "place_offset"),
)
OF_REGRASPS = ("max_regrasps", "regrasp_on")


def check_move(params: MoveObjectParams, arm: ArmSpec, world: World) -> Outcome:
    """Check a goal of ``move_object`` by its arguments alone.

    Args:
        params: Parameters of ``move_object``.
        arm: Arm of the goal.
        world: World at the time of the goal.

    Returns:
        OK, or the faults.
    """
    known = checks.known_object("object", params.object, world)
    picked = check_pick(pick_params(params), arm, world) if known.ok else known
    of_object = tuple(one for one in picked.all if not one.ok and one.field_name == "object")
    turned = checks.all_faults(_orientation(params))
    has_container = turned.ok and checks.known_object("container", params.container, world).ok
    place = params.placed(world) if has_container else params
    return checks.all_faults(
        (
            *of_object,
            turned,
            check_goal(place, arm, world),
            check_numbers(place),
            *_regrasps(params, world),
        )
    )


def _orientation(params: MoveObjectParams) -> tuple[Outcome, ...]:
    why = "the grasp is chosen here; give poses of the object as object_poses"
    found = [checks.without_effect(params, ("place_poses",), why)]
    found.append(simbox_checks.axis("up_axis", params.up_axis, LONGEST_AXIS))
    found.append(checks.number("up_tol_deg", params.up_tol_deg, 0.1, 90.0, "deg"))
    if any(params.up_axis):
        found.append(
            checks.without_effect(params, ALIGNING, "up_axis aligns the object; keep one of the two")
        )
        if params.is_horizontal:
            text = "place_direction 'horizontal' moves along align_place_obj_axis, which up_axis sets; use one of them"
            found.append(checks.fault(Code.CONTRADICTION, "place_direction", text))
    else:
        found.append(
            checks.without_effect(params, ("up_tol_deg",), "it belongs to up_axis; set that or leave it out")
        )
    if params.object_poses:
        why = "object_poses are taken as they are; send only one of the two"
        found.append(checks.without_effect(params, SAMPLING, why))
        if params.is_horizontal:
            text = "object_poses are reached from above, where place_direction is 'horizontal'; leave it out"
            found.append(checks.fault(Code.CONTRADICTION, "place_direction", text))
    return tuple(found)


def _regrasps(params: MoveObjectParams, world: World) -> tuple[Outcome, ...]:
    time = checks.number("search_time", params.search_time, 0.1, 600.0, "s")
    if not params.regrasp:
        return (
            time,
            checks.without_effect(params, OF_REGRASPS, "regrasp is false; set it or leave this out"),
        )
    return (
        simbox_checks.whole("max_regrasps", params.max_regrasps, 0, MOST_REGRASPS, "regrasps"),
        time,
        _support(params, world) if params.regrasp_on else OK,
    )


def _support(params: MoveObjectParams, world: World) -> Outcome:
    known = checks.known_object("regrasp_on", params.regrasp_on, world)
    if known.ok and not world.objects[params.regrasp_on].is_static:
        fixed = sorted(name for name, body in world.objects.items() if body.is_static)
        text = f"{params.regrasp_on!r} can move, so nothing is put down on it; use one of {fixed}"
        return checks.fault(Code.BAD_GOAL, "regrasp_on", text)
    return known
