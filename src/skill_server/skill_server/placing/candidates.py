"""Release candidates of Place as arrays: positions and rotations of the EE before the release and at it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.world import Shape, World, WorldObject
from handiwork_core.scene.bounds import world_aabb
from skill_server.geometry.axis_alignment import axis_cone, plane_cone
from skill_server.geometry.held_orientation import held_rotations, holds_a_turn
from skill_server.geometry.orientation_cones import Cone, cones_of
from skill_server.geometry.rotation_sampler import sample_rotations

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
    """The data on which the candidates depend.

    Attributes:
        held: Held object.
        world_T_container: Pose of the container.
        low: Least coordinates of the container's world bounds, (3,), m.
        high: Greatest coordinates, (3,), m.
        world_T_base: Pose of the arm's base.
    """

    held: Held
    world_T_container: Pose
    low: Array
    high: Array
    world_T_base: Pose


@dataclass(frozen=True, slots=True, eq=False)
class Releases:
    """Candidates in the world.

    Attributes:
        turns: Rotations of the EE, (n, 3, 3).
        before: Positions of the EE before the release, (n, 3), m.
        at: Positions of the EE at the release, (n, 3), m.
    """

    turns: Array
    before: Array
    at: Array

    def poses(self, i: int) -> tuple[Pose, Pose]:
        """Return the poses of one candidate.

        Args:
            i: Index of the candidate.

        Returns:
            world_T_ee before the release and at it.
        """
        turn = Rotation.from_matrix(self.turns[i])
        return Pose.of(self.before[i], turn), Pose.of(self.at[i], turn)


def container_part(body: WorldObject, index: int) -> WorldObject:
    """Return a body, or one of its shapes alone.

    Args:
        body: Container.
        index: Index of the shape; below 0: the whole body.

    Returns:
        The body with the chosen shapes.
    """
    shapes: tuple[Shape, ...] = body.shapes if index < 0 else (body.shapes[index],)
    return WorldObject(body.name, shapes, body.is_static, body.mass_kg)


def setting_of(params: PlaceParams, world: World, held: Held, world_T_base: Pose) -> PlaceSetting:
    """Return the setting in a snapshot.

    Args:
        params: Parameters of Place.
        world: Snapshot of the world.
        held: Held object.
        world_T_base: Pose of the arm's base.

    Returns:
        The setting.
    """
    pose = world.states[params.container].world_T_object
    low, high = world_aabb(container_part(world.objects[params.container], params.place_part), pose)
    return PlaceSetting(held, pose, low, high, world_T_base)


def releases(params: PlaceParams, setting: PlaceSetting, rng: np.random.Generator, n: int) -> Releases:
    """Make candidates at points drawn over the container; fewer rotations than candidates are used in turn.

    Args:
        params: Parameters of Place.
        setting: Setting in the snapshot.
        rng: Source of the samples.
        n: Number of candidates.

    Returns:
        The candidates.

    Raises:
        StepFailed: NO_CANDIDATE, naming the constraints that contradict each other.
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
    """Return the points to which the gripper or the object is driven.

    Args:
        params: Parameters of Place.
        setting: Setting in the snapshot.
        ratios: Ratios of the container's world bounds, (n, 3).

    Returns:
        Points before the release and at it in the world, (n, 3) each, m.
    """
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
    """Return all constraints of the goal on the EE's orientation, except for held components of the present one.

    Args:
        params: Parameters of Place.
        setting: Setting in the snapshot.

    Returns:
        Constraints in the arm's base.
    """
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
    """Sample rotations of the EE that satisfy constraints and keep the components of ``pre_place_hold_vec_weight``.

    Args:
        cones: Constraints in the arm's base.
        params: Parameters of Place.
        setting: Setting in the snapshot.
        rng: Source of the samples.
        n: Number of rotations.

    Returns:
        Rotations in the world, (n, 3, 3).

    Raises:
        StepFailed: NO_CANDIDATE, naming the constraints that contradict each other.
    """
    base, weights = setting.world_T_base.rotation.matrix(), params.pre_place_hold_vec_weight
    if not holds_a_turn(weights):
        # Constraints turned into the world give turns in the world.
        return sample_rotations([replace(c, base_vector=base @ c.base_vector) for c in cones], rng, n)
    now = setting.held.world_T_object @ setting.held.ee_T_object.inverse()
    turns = np.asarray(base @ held_rotations(weights, base.T @ now.rotation.matrix(), cones, rng, n))
    return np.asarray(turns[np.arange(n) % len(turns)])
