"""Check whether open fingers and the palm are clear of the object that they are to grasp."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import ShapeKind, WorldObject
from handiwork_core.robot.robot import GripperSpec
from skill_server.geometry.orientation_cones import Mask
from skill_server.geometry.solids import contains
from skill_server.state.gripper_reach import GripperReach

FINGER_THICKNESS_M = 0.015
SPHERES_OUT_M = 0.005
"""The distance by which the palm's spheres may stick out of it."""


def fingers_blocked(
    world_T_ee: Sequence[Pose],
    body: WorldObject,
    world_T_object: Pose,
    gripper: GripperSpec,
    reach: GripperReach,
    opening_m: float,
) -> Mask:
    """Check for each pose of the EE whether an open finger is inside of a shape, at points of both fingers.

    Args:
        world_T_ee: Poses of the EE.
        body: Object to grasp.
        world_T_object: Pose of the object.
        gripper: Parallel gripper.
        reach: Lengths of palm and fingers.
        opening_m: Opening of the fingers, m.

    Returns:
        True for each blocked pose, (n,).
    """
    in_hand = _finger_points(gripper, reach, opening_m)
    if not world_T_ee:
        return np.zeros(0, dtype=np.bool_)
    world = np.concatenate([pose.apply(in_hand) for pose in world_T_ee])
    inside = np.zeros(len(world), dtype=np.bool_)
    for shape in body.shapes:
        inside |= contains(shape, (world_T_object @ shape.object_T_shape).inverse().apply(world))
    return np.asarray(inside.reshape(len(world_T_ee), -1).any(axis=1))


def palm_blocked(
    world_T_ee: Sequence[Pose], body: WorldObject, world_T_object: Pose, reach: GripperReach
) -> Mask:
    """Check for each pose of the EE whether the palm is inside of a shape, such as the rim of a cup.

    Meshes are left out: for these the palm is judged along the approach alone.

    Args:
        world_T_ee: Poses of the EE.
        body: Object to grasp.
        world_T_object: Pose of the object.
        reach: The palm's spheres.

    Returns:
        True for each blocked pose, (n,).
    """
    blocked = np.zeros(len(world_T_ee), dtype=np.bool_)
    shapes = [shape for shape in body.shapes if shape.kind is not ShapeKind.MESH]
    if not len(world_T_ee) or not len(reach.palm) or not shapes:
        return blocked
    centers = np.concatenate([pose.apply(reach.palm[:, :3]) for pose in world_T_ee])
    margins = np.tile(SPHERES_OUT_M - reach.palm[:, 3], len(world_T_ee))
    for shape in shapes:
        local = (world_T_object @ shape.object_T_shape).inverse().apply(centers)
        blocked |= contains(shape, local, margins).reshape(len(blocked), -1).any(axis=1)
    return blocked


def _finger_points(gripper: GripperSpec, reach: GripperReach, opening_m: float) -> Array:
    """Return points (n, 3) of both open fingers in the EE frame, m."""
    third = 3 - gripper.ee_axis - gripper.closing_axis
    points = []
    for along in np.linspace(reach.tip_m - 0.045, reach.tip_m, 6):
        for across in (0.5 * opening_m + 0.001, 0.5 * opening_m + FINGER_THICKNESS_M):
            for sign in (1.0, -1.0):
                for breadth in (-0.008, 0.0, 0.008):
                    point = np.zeros(3)
                    point[gripper.ee_axis], point[gripper.closing_axis] = along, sign * across
                    point[third] = breadth
                    points.append(point)
    return np.array(points)
