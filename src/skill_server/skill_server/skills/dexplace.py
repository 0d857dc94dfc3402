"""Dexterous place: put the held object into a container on the straight line that the hand comes along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from handiwork_core.commands import Command
from handiwork_core.geometry import Array, Pose
from handiwork_core.outcome import Outcome
from handiwork_core.robot import ArmSpec, Robot
from handiwork_core.skill import Context, Skill
from handiwork_core.world import World
from skill_server import arm_moves, checks
from skill_server.orientation import Cone
from skill_server.place_checks import check_goal, check_numbers
from skill_server.place_params import PlaceParams
from skill_server.rotation_sampler import sample_rotations
from skill_server.solids import world_aabb

from .place import Place

N_CANDIDATES = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class DexPlaceParams(PlaceParams):
    """The object's origin comes to ratios over the container, ``height`` [m] over its bottom.

    The fingers point from where the hand is at home to there, within ``approach_tol_deg``.
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
                checks.number("height", params.height, 0.0, 1.0, "m"),
                checks.number("approach_tol_deg", params.approach_tol_deg, 0.1, 180.0, "deg"),
            )
        )

    def commands(self, params: DexPlaceParams, context: Context) -> Sequence[Command]:
        """Those of Place, for poses sampled around the line."""
        gripper = context.arm_spec.gripper
        assert gripper is not None
        world, base = context.world.snapshot(), context.world.world_T_base()
        held = arm_moves.held(context, world, params.object)
        points = _points(params, context, world)
        home = arm_moves.hand_at(context, context.arm_spec.home_q).translation_m
        line = base.rotation.inverse().matrix() @ (points.mean(axis=0) - home)
        label = f"fingers within {params.approach_tol_deg:g} deg of the line from home"
        cone = Cone(np.eye(3)[gripper.ee_axis], line, 0.0, params.approach_tol_deg, label, "approach_tol_deg")
        turns = base.rotation.matrix() @ sample_rotations([cone], context.rng, N_CANDIDATES)
        grip = held.link_T_object.translation_m
        poses = tuple(
            Pose.from_matrix(_matrix(turn, point - turn @ grip))
            for turn, point in zip(turns, points, strict=True)
        )
        return Place().commands(replace(params, place_poses=poses), context)

    def is_success(self, params: DexPlaceParams, before: World, after: World, context: Context) -> Outcome:
        """As Place."""
        return Place().is_success(params, before, after, context)

    def before_another_try(
        self, params: DexPlaceParams, lost: str
    ) -> Sequence[tuple[Skill[Any], Any]] | None:
        """As Place."""
        return Place().before_another_try(params, lost)


def _points(params: DexPlaceParams, context: Context, world: World) -> Array:
    """Where the object's origin may be let go (n, 3)."""
    low, high = world_aabb(world.objects[params.container], world.states[params.container].world_T_object)
    ratios = np.array([params.x_ratio_range, params.y_ratio_range])
    drawn = ratios[:, 0] + context.rng.random((N_CANDIDATES, 2)) * (ratios[:, 1] - ratios[:, 0])
    flat = low[:2] + drawn * (high - low)[:2]
    return np.column_stack([flat, np.full(N_CANDIDATES, low[2] + params.height)])


def _matrix(turn: Array, point: Array) -> Array:
    made = np.eye(4)
    made[:3, :3], made[:3, 3] = turn, point
    return made
