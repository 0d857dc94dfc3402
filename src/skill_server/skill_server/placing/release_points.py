"""Points, orientations and EE positions for the release of an object at a container, for many candidates at once.

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
    """The origin that is driven to the sampled point."""

    GRIPPER = "gripper"
    OBJECT = "object"


class HeightsFrom(Enum):
    """What the heights of a release from above are counted from.

    SUPPORT counts the object's underside over what lies below it; CONTAINER_TOP the driven origin over the container.
    """

    SUPPORT = "support"
    CONTAINER_TOP = "container_top"


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """The object in the hand.

    Attributes:
        world_T_object: Present pose.
        ee_T_object: Pose in the EE frame.
    """

    world_T_object: Pose
    ee_T_object: Pose


@dataclass(frozen=True, slots=True, eq=False)
class Heights:
    """Heights of the driven point over the top of the container; for horizontal placing, distances along the axis.

    Attributes:
        pre_place_m: Height before the release, m.
        place_m: Height at the release, m.
    """

    pre_place_m: float
    place_m: float


@dataclass(frozen=True, slots=True, eq=False)
class Insertion:
    """Horizontal placing with position constraint OBJECT.

    Attributes:
        align: First axis in the world, (3,), not normalised.
        offset: Second axis in the world, (3,), not normalised.
        pre_place_m: Distances along both axes before the release, m.
        place_m: Distances along both axes at the release, m.
    """

    align: Array
    offset: Array
    pre_place_m: tuple[float, float]
    place_m: tuple[float, float]


def points_above(low: Array, high: Array, ratios: Array, heights: Heights) -> tuple[Array, Array]:
    """Return points over the container.

    Args:
        low: Least coordinates of the container's world bounds, (3,), m.
        high: Greatest coordinates, (3,), m.
        ratios: Ratios of the bounds, (n, 3); z is not used.
        heights: Heights over the top.

    Returns:
        Points before the release and at it, (n, 3) each, m.
    """
    before, at = np.empty_like(ratios), np.empty_like(ratios)
    before[:, :2] = at[:, :2] = low[:2] + ratios[:, :2] * (high[:2] - low[:2])
    before[:, 2], at[:, 2] = high[2] + heights.pre_place_m, high[2] + heights.place_m
    return before, at


def points_beside(low: Array, high: Array, ratios: Array, insertion: Insertion) -> tuple[Array, Array]:
    """Return points of the object's origin, shifted from points inside of the bounds along both axes.

    Args:
        low: Least coordinates of the container's world bounds, (3,), m.
        high: Greatest coordinates, (3,), m.
        ratios: Ratios of the bounds, (n, 3).
        insertion: Axes and distances.

    Returns:
        Points before the release and at it, (n, 3) each, m.
    """
    inside = low + ratios * (high - low)
    before, at = (
        inside + a * insertion.align + o * insertion.offset
        for a, o in (insertion.pre_place_m, insertion.place_m)
    )
    return before, at


def points_before(
    low: Array, high: Array, ratios: Array, align: Array, heights: Heights, ee_to_object_m: float
) -> tuple[Array, Array]:
    """Return points of the EE, back along the axis by the held object's distance and the offsets.

    Args:
        low: Least coordinates of the container's world bounds, (3,), m.
        high: Greatest coordinates, (3,), m.
        ratios: Ratios of the bounds, (n, 3).
        align: Axis in the world, (3,), not normalised.
        heights: Distances along the axis.
        ee_to_object_m: Distance between the origins of EE and object, m.

    Returns:
        Points before the release and at it, (n, 3) each, m.
    """
    inside = low + ratios * (high - low)
    before, at = (inside - (h + ee_to_object_m) * align for h in (heights.pre_place_m, heights.place_m))
    return before, at


def ee_positions(
    points: Array, world_R_ee: Array, constraint: PositionConstraint, ee_T_object: Pose
) -> Array:
    """Return EE positions that bring the EE's origin, or the held object's, to points.

    Args:
        points: Points in the world, (n, 3), m.
        world_R_ee: Rotations of the EE, (n, 3, 3).
        constraint: Origin that is driven to the points.
        ee_T_object: Pose of the held object in the EE frame.

    Returns:
        Positions in the world, (n, 3), m.
    """
    if constraint is PositionConstraint.GRIPPER:
        return points
    arms = world_R_ee.reshape(-1, 3) @ ee_T_object.translation_m
    return np.asarray(points - arms.reshape(-1, 3))


def retreat_pose(place: Pose, post_place_vector: Array) -> Pose:
    """Return the EE pose moved in its own frame, with the same orientation.

    Args:
        place: world_T_ee at the release.
        post_place_vector: Shift in the EE frame, (3,), m.

    Returns:
        world_T_ee.
    """
    return place @ Pose.of(post_place_vector)


def upright_rotations(held: Held, n_yaws: int) -> tuple[Rotation, ...]:
    """Return orientations of the EE that keep the object upright as it is now, turned about the vertical.

    A tilt of less than ``UPRIGHT_RAD``, as grasping leaves it, is removed. The first one keeps the present heading.

    Args:
        held: Held object.
        n_yaws: Number of orientations.

    Returns:
        Rotations of the EE in the world, smaller turns first.
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
