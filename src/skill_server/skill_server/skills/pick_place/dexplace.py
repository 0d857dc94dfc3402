"""Dexterous place: put the held object into a container on the straight line along which the hand approaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from handiwork_core.contracts.arrival import ee_pose
from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.geometry.orientation_cones import Cone
from skill_server.motions import arm_motions
from skill_server.params import checks
from skill_server.placing.candidates import (
    PlaceSetting,
    constraints,
    setting_of,
    turns_within,
)
from skill_server.placing.checks import check_goal, check_numbers
from skill_server.placing.params import PlaceParams
from skill_server.placing.release_points import Held, PositionConstraint, ee_positions

from .place import Place

N_CANDIDATES = 48
IDLE = ("place_poses", "place_direction", "z_ratio_range")


@dataclass(frozen=True, slots=True, kw_only=True)
class DexPlaceParams(PlaceParams):
    """Parameters of ``dexplace``, beyond those of ``PlaceParams``.

    The fingers point along the line from the hand's position at home to the release. Only the difference of the two
    offsets ``pre_place_z_offset`` and ``place_z_offset`` counts: it is the distance of the descent.

    Attributes:
        height: Height of the object's origin, or the hand's, over the bottom of the container at the release, m.
        approach_tol_deg: Largest angle between the fingers and the line, deg.
    """

    height: float = 0.15
    approach_tol_deg: float = 15.0


class DexPlace(Skill[DexPlaceParams]):
    """Place along the line from the hand's home to the container."""

    name = "dexplace"
    params_type = DexPlaceParams
    object_fields = ("object", "container")

    def is_feasible(self, params: DexPlaceParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        return checks.all_faults(
            (
                check_goal(params, arm, world),
                check_numbers(params),
                checks.without_effect(
                    params, IDLE, "dexplace comes along its own line; leave it out, or use place"
                ),
                checks.number("height", params.height, 0.0, 1.0, "m"),
                checks.number("approach_tol_deg", params.approach_tol_deg, 0.1, 180.0, "deg"),
            )
        )

    def commands(self, params: DexPlaceParams, context: Context) -> Sequence[Command]:
        """Make the commands of Place for poses sampled around the line, within filters and alignment."""
        gripper = context.arm_spec.gripper
        assert gripper is not None
        world, base = context.world.snapshot(), context.world.world_T_base()
        ee_T_object = arm_motions.held(context, world, params.object).link_T_object
        now = Held(ee_pose(world, context.robot, context.arm_spec, base) @ ee_T_object, ee_T_object)
        setting = setting_of(params, world, now, base)
        points = _points(params, setting, context.rng)
        home = arm_motions.hand_at(context, context.arm_spec.home_q).translation_m
        line = base.rotation.inverse().matrix() @ (points.mean(axis=0) - home)
        label = f"fingers within {params.approach_tol_deg:g} deg of the line from home"
        cone = Cone(np.eye(3)[gripper.ee_axis], line, 0.0, params.approach_tol_deg, label, "approach_tol_deg")
        cones = [cone, *constraints(params, setting)]
        turns = turns_within(cones, params, setting, context.rng, N_CANDIDATES)
        at = ee_positions(points, turns, PositionConstraint(params.position_constraint), ee_T_object)
        poses = tuple(Pose.of(p, Rotation.from_matrix(turn)) for turn, p in zip(turns, at, strict=True))
        return Place().commands(replace(params, place_poses=poses), context)

    def is_success(self, params: DexPlaceParams, before: World, after: World, context: Context) -> Outcome:
        """Judge as Place does."""
        return Place().is_success(params, before, after, context)

    def recovery_skills(self, params: DexPlaceParams, lost: str) -> Sequence[tuple[Skill[Any], Any]] | None:
        """Return the skills of Place."""
        return Place().recovery_skills(params, lost)


def _points(params: DexPlaceParams, setting: PlaceSetting, rng: np.random.Generator) -> Array:
    """Return points (n, 3) in the world for the driven origin at the release."""
    low, high = setting.low, setting.high
    ratios = np.array([params.x_ratio_range, params.y_ratio_range])
    drawn = ratios[:, 0] + rng.random((N_CANDIDATES, 2)) * (ratios[:, 1] - ratios[:, 0])
    flat = low[:2] + drawn * (high - low)[:2]
    return np.column_stack([flat, np.full(N_CANDIDATES, low[2] + params.height)])
