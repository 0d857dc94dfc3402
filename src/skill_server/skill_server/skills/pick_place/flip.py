"""Flip: turn the held object over and put it down on the side that was not below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.params import checks
from skill_server.placing.checks import check_goal, check_numbers
from skill_server.placing.params import PlaceParams

from .place import Place

Vector = tuple[float, float, float]
IDLE = (
    *("place_poses", "place_direction", "align_pick_obj_axis", "align_place_obj_axis", "align_obj_tol_deg"),
    *("align_plane_x_axis", "align_plane_y_axis"),
)
UP_TOL_RAD = math.radians(20.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipParams(PlaceParams):
    """Parameters of ``flip``, beyond those of ``PlaceParams``; the container must stand level.

    Attributes:
        up_axis: Axis of the object, in its own frame, that is to point up when it lies on ``container``.
        flip_tol_deg: Largest angle between that axis and up at the release, deg.
        place_z_offset: As in ``PlaceParams``, but with room for a hand that comes from the side, m.
        x_ratio_range: As in ``PlaceParams``.
        y_ratio_range: As in ``PlaceParams``.
    """

    up_axis: Vector = (0.0, 1.0, 0.0)
    flip_tol_deg: float = 8.0
    place_z_offset: float = 0.04
    x_ratio_range: tuple[float, float] = (0.2, 0.6)
    y_ratio_range: tuple[float, float] = (0.3, 0.7)


class Flip(Skill[FlipParams]):
    """Place with another side up."""

    name = "flip"
    params_type = FlipParams
    object_fields = ("object", "container")

    def is_feasible(self, params: FlipParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        none, judged = "up_axis is all zero; name an axis of the object", params
        if any(params.up_axis):
            none, judged = "", _aligned(params)
        return checks.all_faults(
            (
                checks.fault(Code.BAD_NUMBER, "up_axis", none) if none else OK,
                checks.without_effect(
                    params, IDLE, "flip aligns by up_axis, from above; leave it out, or use place"
                ),
                checks.number("flip_tol_deg", params.flip_tol_deg, 0.1, 90.0, "deg"),
                check_goal(judged, arm, world),
                check_numbers(judged),
            )
        )

    def commands(self, params: FlipParams, context: Context) -> Sequence[Command]:
        """Make the commands of Place, aligned by ``up_axis``."""
        return Place().commands(_aligned(params), context)

    def is_success(self, params: FlipParams, before: World, after: World, context: Context) -> Outcome:
        """Judge as Place does, and check that the axis points up."""
        found = Place().is_success(_aligned(params), before, after, context)
        if not found.ok:
            return found
        name = params.object or context.released
        axis = np.array(params.up_axis) / np.linalg.norm(params.up_axis)
        up = float((after.states[name].world_T_object.rotation.matrix() @ axis)[2])
        off = math.acos(max(-1.0, min(1.0, up)))
        text = f"up_axis of {name!r} is {math.degrees(off):.0f} deg from up"
        return Outcome(Code.OK if off <= UP_TOL_RAD else Code.NOT_IN_PLACE, text, angle_error_rad=off)

    def recovery_skills(self, params: FlipParams, lost: str) -> Sequence[tuple[Skill[Any], Any]] | None:
        """Return the skills of Place."""
        return Place().recovery_skills(params, lost)


def _aligned(params: FlipParams) -> FlipParams:
    return replace(
        params,
        align_pick_obj_axis=params.up_axis,
        align_place_obj_axis=(0.0, 0.0, 1.0),
        align_obj_tol_deg=params.flip_tol_deg,
    )
