"""Checks of Place's goal fields; the shared ones are in ``checks``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handiwork_core.outcome import OK, Code, Outcome
from handiwork_core.robot import ArmSpec
from handiwork_core.world import World

from . import checks
from .place_targets import PositionConstraint

if TYPE_CHECKING:
    from .skills.place import PlaceParams

SUCCESS_MODES = ("3diou", "xybbox", "height")


def check_goal(params: PlaceParams, arm: ArmSpec, world: World) -> Outcome:
    """Names and words."""
    found = checks.first_fault(
        (
            checks.with_gripper(arm),
            checks.known_object("container", params.container, world),
            checks.known_object("object", params.object, world) if params.object else OK,
        )
    )
    if not found.ok:
        return found
    if params.object == params.container:
        text = f"object and container are both {params.object!r}; name two different objects"
        return checks.fault(Code.CONTRADICTION, "container", text)
    if params.place_direction == "horizontal":
        text = "place_direction 'horizontal' is not offered; use 'vertical' or send place_poses"
        return checks.fault(Code.UNSUPPORTED, "place_direction", text)
    constraints = tuple(item.value for item in PositionConstraint)
    return checks.first_fault(
        (
            checks.choice("place_direction", params.place_direction, ("vertical",)),
            checks.choice("position_constraint", params.position_constraint, constraints),
            checks.choice("success_mode", params.success_mode, SUCCESS_MODES),
            checks.filters("orientation_filters", params.orientation_filters),
        )
    )


def check_numbers(params: PlaceParams) -> Outcome:
    """Numbers and what contradicts itself."""
    place, pre = params.place_z_offset, params.pre_place_z_offset
    most = 0.999 if params.success_mode == "3diou" else 1.0
    return checks.first_fault(
        (
            checks.ratio_range("x_ratio_range", params.x_ratio_range),
            checks.ratio_range("y_ratio_range", params.y_ratio_range),
            checks.number("place_z_offset", place, -1.0, 1.0, "m"),
            checks.number("pre_place_z_offset", pre, -1.0, 1.0, "m"),
            checks.ordered("place_z_offset", place, "pre_place_z_offset", pre),
            checks.number("success_th", params.success_th, 0.0, most, "(overlap, or m)"),
            *(
                checks.number(f"post_place_vector[{i}]", value, -1.0, 1.0, "m")
                for i, value in enumerate(params.post_place_vector)
            ),
            *_alignment(params),
            _explicit(params),
            *checks.execution(
                params.t_eps,
                params.o_eps,
                params.max_velocity_scaling_factor,
                params.max_acceleration_scaling_factor,
                params.allowed_planning_time,
            ),
        )
    )


def _alignment(params: PlaceParams) -> tuple[Outcome, ...]:
    tol = params.align_obj_tol_deg
    axes = {
        "align_pick_obj_axis": params.align_pick_obj_axis,
        "align_place_obj_axis": params.align_place_obj_axis,
    }
    found = [
        checks.number(f"{key}[{i}]", value, -1e6, 1e6, "")
        for key, axis in axes.items()
        for i, value in enumerate(axis)
    ]
    found.append(checks.number("align_obj_tol_deg", tol, 0.0, 180.0, "deg"))
    given = {key: any(axis) for key, axis in axes.items()} | {"align_obj_tol_deg": tol != 0.0}
    if any(given.values()) and not all(given.values()):
        missing = next(key for key, there in given.items() if not there)
        there = [key for key, value in given.items() if value]
        text = f"{missing} is zero while {there} is set; set all three or none"
        found.append(checks.fault(Code.CONTRADICTION, missing, text))
    return tuple(found)


def _explicit(params: PlaceParams) -> Outcome:
    if not params.place_poses:
        return OK
    clash = "orientation_filters" if params.orientation_filters else ""
    clash = clash or ("align_pick_obj_axis" if any(params.align_pick_obj_axis) else "")
    if not clash:
        return OK
    text = f"place_poses are taken as they are, so {clash} cannot apply; send only one of the two"
    return checks.fault(Code.CONTRADICTION, clash, text)
