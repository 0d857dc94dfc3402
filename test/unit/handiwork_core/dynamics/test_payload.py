"""What an arm carries at its flange, from the URDF of its robot and from objects."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.dynamics.payload import object_mass, tool_mass
from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.robot.prefixed import prefixed
from handiwork_core.robot_files.loader import load_robot
from support.paths import ROBOTS


def test_the_tool_is_all_beyond_the_flange() -> None:
    robot = load_robot(ROBOTS / "fr3")
    arm = robot.arm("")
    assert (arm.flange, arm.rated_payload_kg) == ("fr3_link8", 3.0)
    assert arm.tool_mass_kg == pytest.approx(0.6544 + 2 * 0.0291)
    tool = tool_mass(robot, arm)
    assert 0.02 < tool.centre[2] < 0.1, "the hand is in front of the flange"
    assert tool.centre[1] == pytest.approx(0.0, abs=0.01)
    closed = tool_mass(robot, arm, {"fr3_finger_joint1": 0.0})
    assert closed.moments.max() < tool.moments.max(), "fingers that are closed are nearer to the middle"


def test_an_arm_without_a_flange_ends_at_its_ee_link() -> None:
    robot = load_robot(ROBOTS / "ur10_suction")
    assert robot.arm("").flange == "tool0"
    assert robot.arm("").tool_mass_kg == pytest.approx(0.5)
    lift2 = load_robot(ROBOTS / "lift2").arm("left_arm")
    assert (lift2.flange, lift2.rated_payload_kg, lift2.tool_mass_kg) == ("fl_link6", 0.0, 0.0)


def test_a_prefix_keeps_the_flange() -> None:
    robot = prefixed(load_robot(ROBOTS / "fr3"), "left_")
    assert robot.arm("").flange == "left_fr3_link8"
    assert tool_mass(robot, robot.arm("")).mass_kg == pytest.approx(robot.arm("").tool_mass_kg)


def test_an_object_without_a_volume_is_a_point() -> None:
    pose = Pose.of((0.1, 0.2, 0.3))
    flat = Shape(ShapeKind.BOX, frozen((0.1, 0.1, 0.0)), Pose.identity())
    for shapes in ((), (flat,)):
        found = object_mass(WorldObject("sheet", shapes, mass_kg=0.4), pose)
        assert found.mass_kg == 0.4 and not found.moments.any()
        np.testing.assert_allclose(found.centre, pose.translation_m)
