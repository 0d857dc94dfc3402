"""The scenes of a motion of two arms let the planner judge the load for both of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contracts import test_skills
from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import Shape, ShapeKind, World, WorldObject
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.testing.fakes import fakes
from handiwork_planning.dynamics.torque_limit import TorqueLimit
from skill_server.carrying.arm_chain import ArmChain
from skill_server.carrying.holds import Hold, scenes
from support.paths import ROBOTS


@pytest.mark.parametrize("lead", ["left_arm", "right_arm"])
def test_both_arms_have_a_share_of_what_they_carry(lead: str) -> None:
    robot, context = load_robot(ROBOTS / "lift2"), fakes(test_skills.cell()).context
    home = {n: v for arm in robot.arms.values() for n, v in zip(arm.joint_names, arm.home_q, strict=True)}
    poses = link_poses(robot, home)
    arms = sorted(robot.arms.values(), key=lambda arm: arm.name != lead)
    middle = Pose.of(0.5 * sum(poses[arm.ee_link].translation_m for arm in arms))
    holds, parts = list[Hold](), list[Trajectory]()
    for arm in arms:
        chain = ArmChain(robot, arm, poses[arm.base_link])
        one = replace(context, robot=robot, arm_spec=arm)
        holds.append(Hold(one, chain, arm.home_q, middle.inverse() @ poses[arm.ee_link], ()))
        q = np.tile(arm.home_q, (20, 1))
        parts.append(Trajectory(arm.joint_names, np.linspace(0.0, 2.0, 20), q, 0.0 * q, 0.0 * q))
    shape = Shape(ShapeKind.BOX, frozen((0.06, 0.06, 0.06)), Pose.identity())
    world = World(0.0, objects={"bar": WorldObject("bar", (shape,), mass_kg=40.0)})
    limit = TorqueLimit(robot, Pose.identity())
    for arm, part, scene in zip(
        arms, parts, scenes(holds, parts, "bar", frozenset(), frozenset()), strict=True
    ):
        refused = limit.judged(arm.name, part, scene, world)
        assert "'bar' (20 kg, its share)" in refused.message, arm.name
