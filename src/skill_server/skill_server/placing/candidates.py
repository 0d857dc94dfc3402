"""Release candidates of Place, as arrays: where the EE is before the release and at it, and how it is turned."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.world import Shape, World, WorldObject
from skill_server.geometry.axis_alignment import axis_cone, plane_cone
from skill_server.geometry.held_orientation import held_rotations, holds_a_turn
from skill_server.geometry.orientation_cones import Cone, cones_of
from skill_server.geometry.rotation_sampler import sample_rotations
from skill_server.geometry.solids import world_aabb

from .params import PlaceParams
from .release_points import (
    Heights,
    Held,
    Insertion,
    PositionConstraint,
    ee_positions,
    points_above,
    points_before,
    points_beside,
    upright_rotations,
)

N_YAWS = 8


@dataclass(frozen=True, slots=True, eq=False)
class PlaceSetting:
    """What the candidates depend on: the held object, the container in the world, and the base."""

    held: Held
    world_T_container: Pose
    low: Array
    high: Array
    world_T_base: Pose


@dataclass(frozen=True, slots=True, eq=False)
class Releases:
    """EE turns (n, 3, 3) and positions (n, 3) before the release and at it, in the world."""

    turns: Array
    before: Array
    at: Array

    def poses(self, i: int) -> tuple[Pose, Pose]:
        """Those of one candidate."""
        turn = Rotation.from_matrix(self.turns[i])
        return Pose.of(self.before[i], turn), Pose.of(self.at[i], turn)


def container_part(body: WorldObject, index: int) -> WorldObject:
    """The body, or that one of its shapes alone."""
    shapes: tuple[Shape, ...] = body.shapes if index < 0 else (body.shapes[index],)
    return WorldObject(body.name, shapes, body.is_static, body.mass_kg)


def setting_of(params: PlaceParams, world: World, held: Held, world_T_base: Pose) -> PlaceSetting:
    """The setting in this snapshot."""
    pose = world.states[params.container].world_T_object
    low, high = world_aabb(container_part(world.objects[params.container], params.place_part), pose)
    return PlaceSetting(held, pose, low, high, world_T_base)


def releases(params: PlaceParams, setting: PlaceSetting, rng: np.random.Generator, n: int) -> Releases:
    """``n`` candidates at points drawn over the container; turns that are few are used by turns.

    Raises:
        StepFailed: NO_CANDIDATE, naming the constraints that contradict.
    """
    turns = _turns(params, setting, rng, n)
    if len(turns) < n:
        turns = turns[np.arange(n) % len(turns)]
    ranges = np.array([params.x_ratio_range, params.y_ratio_range, params.z_ratio_range])
    ratios = ranges[:, 0] + rng.random((n, 3)) * (ranges[:, 1] - ranges[:, 0])
    before, at = target_points(params, setting, ratios)
    constraint, grip = PositionConstraint(params.position_constraint), setting.held.ee_T_object
    return Releases(
        turns, ee_positions(before, turns, constraint, grip), ee_positions(at, turns, constraint, grip)
    )


def target_points(params: PlaceParams, setting: PlaceSetting, ratios: Array) -> tuple[Array, Array]:
    """Points (n, 3) that the gripper or the object is driven to before the release and at it, for ratios (n, 3)."""
    low, high = setting.low, setting.high
    heights = Heights(params.pre_place_z_offset, params.place_z_offset)
    if not params.is_horizontal:
        return points_above(low, high, ratios, heights)
    turn = setting.world_T_container.rotation.matrix()
    align = turn @ np.array(params.align_place_obj_axis)
    if params.position_constraint == PositionConstraint.GRIPPER.value:
        distance = float(np.linalg.norm(setting.held.ee_T_object.inverse().translation_m))
        return points_before(low, high, ratios, align, heights, distance)
    offset = turn @ np.array(params.offset_place_obj_axis)
    pre, place = (params.pre_place_align, params.pre_place_offset), (params.place_align, params.place_offset)
    return points_beside(low, high, ratios, Insertion(align, offset, pre, place))


def constraints(params: PlaceParams, setting: PlaceSetting) -> list[Cone]:
    """Everything that the goal asks of the EE's orientation in the base, but for what is held of the present one."""
    cones = list(cones_of(params.orientation_filters, setting.world_T_base, setting.world_T_container))
    if not params.is_aligned:
        return cones
    container = setting.world_T_base.rotation.inverse() @ setting.world_T_container.rotation
    axis, tol, grip = np.array(params.align_pick_obj_axis), params.align_obj_tol_deg, setting.held.ee_T_object
    if any(params.align_plane_x_axis):
        plane = np.array(params.align_plane_x_axis), np.array(params.align_plane_y_axis)
        cones.append(plane_cone(axis, *plane, tol, grip, container))
    else:
        cones.append(axis_cone(axis, np.array(params.align_place_obj_axis), tol, grip, container))
    return cones


def _turns(params: PlaceParams, setting: PlaceSetting, rng: np.random.Generator, n: int) -> Array:
    cones = constraints(params, setting)
    if cones or holds_a_turn(params.pre_place_hold_vec_weight):
        return turns_within(cones, params, setting, rng, n)
    return np.array([turn.matrix() for turn in upright_rotations(setting.held, N_YAWS)])


def turns_within(
    cones: list[Cone], params: PlaceParams, setting: PlaceSetting, rng: np.random.Generator, n: int
) -> Array:
    """Turns of the EE in the world (n, 3, 3) within cones of the base, as ``pre_place_hold_vec_weight`` lets it turn.

    Raises:
        StepFailed: NO_CANDIDATE, naming the constraints that contradict.
    """
    base, weights = setting.world_T_base.rotation.matrix(), params.pre_place_hold_vec_weight
    if not holds_a_turn(weights):
        # Constraints turned into the world give turns in the world.
        return sample_rotations([replace(c, base_vector=base @ c.base_vector) for c in cones], rng, n)
    now = setting.held.world_T_object @ setting.held.ee_T_object.inverse()
    turns = np.asarray(base @ held_rotations(weights, base.T @ now.rotation.matrix(), cones, rng, n))
    return np.asarray(turns[np.arange(n) % len(turns)])
