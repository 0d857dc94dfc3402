"""Where and how to release an object over a container: points, orientations and the EE poses of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from handiwork_core.geometry import Array, Pose, Rotation

from .orientation import Cone
from .rotation_sampler import sample_rotations

UPRIGHT_RAD = np.deg2rad(20.0)
"""An object tilted by less than this is set upright for the release."""


class PositionConstraint(Enum):
    """What is driven to the sampled point."""

    GRIPPER = "gripper"
    OBJECT = "object"


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """The object in the hand: ``world_T_object`` now, ``ee_T_object`` as it is held."""

    world_T_object: Pose
    ee_T_object: Pose


@dataclass(frozen=True, slots=True, eq=False)
class Heights:
    """Heights of the driven point over the top of the container [m]."""

    pre_place_m: float
    place_m: float


def target_points(low: Array, high: Array, ratios_xy: Array, heights: Heights) -> tuple[Array, Array]:
    """Points (3,) in the world before and at the release, for ratios (2,) over the container's world bounds.

    Source: seed format, vertical placing.
    """
    xy = low[:2] + ratios_xy * (high[:2] - low[:2])
    return np.append(xy, high[2] + heights.pre_place_m), np.append(xy, high[2] + heights.place_m)


def ee_at(point: Array, world_R_ee: Rotation, constraint: PositionConstraint, ee_T_object: Pose) -> Pose:
    """EE pose of orientation ``world_R_ee`` that brings the EE origin, or the held object's origin.

    To ``point`` (3,).
    """
    if constraint is PositionConstraint.GRIPPER:
        return Pose.of(point, world_R_ee)
    return Pose.of(point, world_R_ee @ ee_T_object.rotation) @ ee_T_object.inverse()


def retreat_pose(place: Pose, post_place_vector: Array) -> Pose:
    """The EE moved by a vector (3,) [m] in its own frame, orientation kept."""
    return place @ Pose.of(post_place_vector)


def upright_rotations(held: Held, n_yaws: int) -> tuple[Rotation, ...]:
    """World orientations of the EE that keep the object standing as it does now, turned about the vertical.

    A tilt of less than ``UPRIGHT_RAD``, as grasping leaves it, is taken out. The first keeps the present heading.
    """
    object_turn = held.world_T_object.rotation
    columns = object_turn.matrix()
    axis = int(np.argmax(np.abs(columns[2])))
    up = columns[:, axis] * np.sign(columns[2, axis])
    angle = float(np.arccos(np.clip(up[2], -1.0, 1.0)))
    if 1e-6 < angle < UPRIGHT_RAD:
        object_turn = Rotation.from_axis_angle(np.cross(up, (0.0, 0.0, 1.0)), angle) @ object_turn
    ee = object_turn @ held.ee_T_object.rotation.inverse()
    steps = [k * 2.0 * np.pi / n_yaws for k in range(n_yaws)]
    steps.sort(key=lambda a: min(a, 2.0 * np.pi - a))
    return tuple(Rotation.from_axis_angle((0.0, 0.0, 1.0), a) @ ee for a in steps)


def constrained_rotations(
    cones: Sequence[Cone], world_R_base: Rotation, rng: np.random.Generator, n: int
) -> tuple[Rotation, ...]:
    """World orientations of the EE that satisfy all cones, which are given in the arm's base.

    Raises:
        StepFailed: none does, naming the constraints.
    """
    return tuple(world_R_base @ Rotation.from_matrix(turn) for turn in sample_rotations(cones, rng, n))


def alignment_cone(
    pick_axis: Array, place_axis: Array, tol_deg: float, ee_T_object: Pose, base_R_container: Rotation
) -> Cone:
    """The held object's ``pick_axis`` (3,) within ``tol_deg`` of the container's ``place_axis`` (3,).

    Each in its own frame.
    """
    label = f"align_obj_tol_deg {tol_deg:g}"
    in_ee = ee_T_object.rotation.matrix() @ pick_axis
    return Cone(in_ee, base_R_container.matrix() @ place_axis, 0.0, tol_deg, label)
