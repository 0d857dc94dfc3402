"""Grasps for two hands stay on the object, however the hand is tilted."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, Rotation, frozen
from handiwork_core.model.world import ObjectState, Shape, ShapeKind, World, WorldObject
from handiwork_core.robot_files.loader import load_robot
from skill_server.carrying.grasp_pairs import EDGE_M, hand_grasps
from skill_server.grasping.antipodal_grasps import grasps_for
from skill_server.state import gripper_reach
from support.paths import ROBOTS

EDGES_M = (0.04, 0.44, 0.04)


@pytest.mark.parametrize("name", ["lift2", "split_aloha"])
@pytest.mark.parametrize("yaw", [0.0, 0.6])
def test_a_tilted_hand_slides_along_the_bar_and_does_not_leave_it(name: str, yaw: float) -> None:
    robot = load_robot(ROBOTS / name)
    arm = robot.arms["left_arm"]
    assert arm.gripper is not None
    bar = WorldObject("bar", (Shape(ShapeKind.BOX, frozen(EDGES_M), Pose.identity()),), False, 0.3)
    pose = Pose.of((0.5, 0.0, 0.02), Rotation.from_rpy(0.0, 0.0, yaw))
    zero = np.zeros(3)
    world = World(0.0, 1, {"bar": bar}, {"bar": ObjectState(pose, zero, zero, 0.0)})
    found = hand_grasps(world, "bar", robot, arm)
    axes = np.array([one.object_T_ee.rotation.matrix()[:, arm.gripper.ee_axis] for one in found])
    tilted = np.abs(axes[:, 2]) < 0.99
    assert tilted.any()
    reach = gripper_reach.reach(robot, arm, arm.gripper)
    made = grasps_for(bar, pose, arm.gripper, reach, arm.gripper.max_width_m).grasps
    heights = [
        (pose.inverse() @ one.world_T_ee).apply(arm.gripper.tcp_offset_m * np.eye(3)[arm.gripper.ee_axis])[2]
        for one in made
    ]
    for one in found:
        assert np.abs(np.array(heights) - one.tcp_m[2]).min() < 1e-9
        axis = one.object_T_ee.rotation.matrix()[:, arm.gripper.ee_axis]
        tip = one.object_T_ee.translation_m + reach.tip_m * axis
        assert max(abs(one.tcp_m[1]), abs(tip[1])) <= 0.5 * EDGES_M[1] - EDGE_M + 1e-9
