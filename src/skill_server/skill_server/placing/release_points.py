"""Where and how to release an object at a container: points, orientations and EE positions of many candidates at once.

Points, axes and rotations are in the world unless a name says otherwise. Formulas: SimBox format.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation

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
    """Heights of the driven point over the top of the container [m]; placing horizontally, distances along the axis."""

    pre_place_m: float
    place_m: float


@dataclass(frozen=True, slots=True, eq=False)
class Insertion:
    """Placing horizontally: ``align`` and ``offset`` (3,), axes in the world, not normalised, and the ways along each.

    ``pre_place_m`` and ``place_m``: (align, offset) [m], of position constraint OBJECT.
    """

    align: Array
    offset: Array
    pre_place_m: tuple[float, float]
    place_m: tuple[float, float]


def points_above(low: Array, high: Array, ratios: Array, heights: Heights) -> tuple[Array, Array]:
    """Points (n, 3) before and at the release, over ratios (n, 3) of the container's world bounds; z is not used."""
    before, at = np.empty_like(ratios), np.empty_like(ratios)
    before[:, :2] = at[:, :2] = low[:2] + ratios[:, :2] * (high[:2] - low[:2])
    before[:, 2], at[:, 2] = high[2] + heights.pre_place_m, high[2] + heights.place_m
    return before, at


def points_beside(low: Array, high: Array, ratios: Array, insertion: Insertion) -> tuple[Array, Array]:
    """Points (n, 3) of the object's origin, off points inside of the bounds by ways along both axes."""
    inside = low + ratios * (high - low)
    before, at = (
        inside + a * insertion.align + o * insertion.offset
        for a, o in (insertion.pre_place_m, insertion.place_m)
    )
    return before, at


def points_before(
    low: Array, high: Array, ratios: Array, align: Array, heights: Heights, ee_to_object_m: float
) -> tuple[Array, Array]:
    """Points (n, 3) of the EE, back along the axis by the held object's distance and the offsets."""
    inside = low + ratios * (high - low)
    before, at = (inside - (h + ee_to_object_m) * align for h in (heights.pre_place_m, heights.place_m))
    return before, at


def ee_positions(
    points: Array, world_R_ee: Array, constraint: PositionConstraint, ee_T_object: Pose
) -> Array:
    """EE positions (n, 3) that bring the EE's origin, or the held object's, to ``points``; turns are (n, 3, 3)."""
    if constraint is PositionConstraint.GRIPPER:
        return points
    arms = world_R_ee.reshape(-1, 3) @ ee_T_object.translation_m
    return np.asarray(points - arms.reshape(-1, 3))


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
