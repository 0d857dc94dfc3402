"""Where two arms may meet: samples are true, grasps come from all sides, meetings are within reach of both."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.robot.kinematics import forward
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from skill_server.handing.arm_samples import arm_samples
from skill_server.handing.meetings import NEAR_M, meetings
from skill_server.handing.taking_grasps import taking_grasps
from support.paths import ROBOTS

BASE = Pose.of((0.1, -0.2, 0.3), Rotation.from_rpy(0.0, 0.2, 0.5))


@pytest.fixture(scope="module")
def lift2() -> Robot:
    return load_robot(ROBOTS / "lift2")


def box(*size: float) -> WorldObject:
    return WorldObject("box", (Shape(ShapeKind.BOX, np.array(size), Pose.identity()),))


@pytest.mark.parametrize("name", ["lift2", "split_aloha", "genie1"])
def test_samples_are_where_the_arm_s_kinematics_says(name: str) -> None:
    robot = load_robot(ROBOTS / name)
    arm = robot.arms["right_arm"]
    made = arm_samples(robot, arm, BASE, 5, np.random.default_rng(1))
    assert arm.gripper is not None
    for q, pose, tcp in zip(made.q, made.world_T_ee, made.tcp, strict=True):
        expected = BASE @ forward(robot, "right_arm", q)
        assert pose == pytest.approx(expected.matrix(), abs=1e-9)
        along = np.zeros(3)
        along[arm.gripper.ee_axis] = arm.gripper.tcp_offset_m
        assert tcp == pytest.approx(expected.apply(along), abs=1e-9)


def test_a_held_cube_is_grasped_from_all_sides_and_a_long_bar_also_beside_its_middle(lift2: Robot) -> None:
    arm = lift2.arms["left_arm"]
    assert arm.gripper is not None
    cube = taking_grasps(box(0.045, 0.045, 0.045), lift2, arm)
    approach = np.array([grasp.rotation.matrix()[:, arm.gripper.ee_axis] for grasp in cube])
    for side in np.vstack([np.eye(3), -np.eye(3)]):
        assert (approach @ side).max() > 0.99, side
    keys = {tuple(np.round(grasp.matrix().ravel(), 2)) for grasp in cube}
    assert len(keys) == len(cube)
    bar = taking_grasps(box(0.03, 0.03, 0.2), lift2, arm)
    across = [g for g in bar if abs(g.rotation.matrix()[2, arm.gripper.ee_axis]) < 0.1]
    along_m = {round(float(g.translation_m[2]), 2) for g in across}
    assert {-0.08, 0.0, 0.08} <= along_m


def test_meetings_are_near_to_poses_that_both_arms_reach_and_the_best_come_first(lift2: Robot) -> None:
    rng, left, right = np.random.default_rng(0), lift2.arms["left_arm"], lift2.arms["right_arm"]
    assert right.gripper is not None
    samples = [arm_samples(lift2, arm, base, 1500, rng) for arm, base in _bases(lift2)]
    held = Pose.of((0.125, 0.0, 0.0))
    grasps = taking_grasps(box(0.045, 0.045, 0.045), lift2, right)
    found = meetings(samples[0], samples[1], left.home_q, held, grasps, right.gripper)
    assert found
    assert [one.cost for one in found] == sorted(one.cost for one in found)
    for one in found:
        near = np.linalg.norm(samples[1].tcp - one.world_T_object.translation_m, axis=1).min()
        assert near < NEAR_M
        assert one.world_T_object.almost_equal(one.world_T_giver @ held, within_m=1e-6, within_rad=1e-6)
        assert one.grasps
    assert meetings(samples[0], samples[1], left.home_q, held, (), right.gripper) == ()


def _bases(robot: Robot):  # type: ignore[no-untyped-def]
    from handiwork_core.robot.kinematics import link_poses

    for name in ("left_arm", "right_arm"):
        arm = robot.arms[name]
        yield arm, link_poses(robot, {}, (arm.base_link,))[arm.base_link]
