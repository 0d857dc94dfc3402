"""Grasps of an object that another hand holds: from all sides, since it rests on nothing."""

from __future__ import annotations

import math

import numpy as np

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import ShapeKind, WorldObject
from handiwork_core.robot.robot import ArmSpec, GripperSpec, Robot
from handiwork_core.scene.bounds import support
from skill_server.grasping.antipodal_grasps import grasps_for
from skill_server.state import gripper_reach

SIDES = (
    Rotation.from_rpy(0.0, 0.0, 0.0),
    Rotation.from_rpy(math.pi, 0.0, 0.0),
    Rotation.from_rpy(math.pi / 2, 0.0, 0.0),
    Rotation.from_rpy(-math.pi / 2, 0.0, 0.0),
    Rotation.from_rpy(0.0, math.pi / 2, 0.0),
    Rotation.from_rpy(0.0, -math.pi / 2, 0.0),
)
"""Turns that bring each side of an object up: grasps are made from above, and their tips stay within the object."""
SAME_M, SAME_TURN = 0.003, 0.05
"""Grasps that differ by less are one."""
EDGE_M = 0.02
"""Fingers beside the middle of a long object keep this distance from its ends, m."""


def taking_grasps(body: WorldObject, robot: Robot, arm: ArmSpec) -> tuple[Pose, ...]:
    """Return the grasps of an object from all sides.

    Args:
        body: The object.
        robot: The robot.
        arm: The arm that is to grasp, with a parallel gripper.

    Returns:
        object_T_ee of each grasp.
    """
    gripper = arm.gripper
    assert gripper is not None
    reach, found = gripper_reach.reach(robot, arm, gripper), dict[tuple[int, ...], Pose]()
    for turn in SIDES:
        placed = Pose.of((0.0, 0.0, 0.0), turn)
        for grasp in grasps_for(body, placed, gripper, reach, gripper.max_width_m).grasps:
            for pose in _along(body, placed.inverse() @ grasp.world_T_ee, gripper):
                values = (pose.translation_m / SAME_M, pose.rotation.matrix().ravel() / SAME_TURN)
                found.setdefault(tuple(int(v) for v in np.round(np.concatenate(values))), pose)
    return tuple(found.values())


def _along(body: WorldObject, object_T_ee: Pose, gripper: GripperSpec) -> list[Pose]:
    """Return a grasp, and for a single box the same one nearer to both of its ends."""
    if len(body.shapes) != 1 or body.shapes[0].kind is not ShapeKind.BOX:
        return [object_T_ee]
    shape = body.shapes[0]
    third = 3 - gripper.ee_axis - gripper.closing_axis
    side = object_T_ee.rotation.matrix()[:, third]
    shift = support(shape, shape.object_T_shape.rotation.matrix().T @ side) - EDGE_M
    shifts = (0.0, shift, -shift) if shift > EDGE_M else (0.0,)
    return [Pose.of(object_T_ee.translation_m + by * side, object_T_ee.rotation) for by in shifts]
