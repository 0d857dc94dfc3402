"""Stages of arms with fewer than six joints: orientations that they can have, and ways that they can go straight."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.contracts.commands import CloseGripper, DetachObject, Motion, OpenGripper
from handiwork_core.contracts.skill import StepFailed
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.nearest_pose import nearest_poses
from handiwork_core.robot_files.loader import load_robot
from skill_server.stages.reduced_arms import within_freedom
from support.five_joint_arm import five_joint_arm
from support.paths import ROBOTS

BASE = Pose.of((0.4, -0.2, 0.1), Rotation.from_rpy(0.0, 0.0, 0.9))
DOWN = (0.3, 0.55, 1.05, np.pi - 0.55 - 1.05, -0.4)
"""A configuration with the hand straight down."""


def hand_at(q: tuple[float, ...]) -> Pose:
    robot = five_joint_arm()
    names = robot.arm("").joint_names
    return BASE @ link_poses(robot, dict(zip(names, q, strict=True)), ("hand",))["hand"]


def stages(at: Pose, rise_m: float, *, releases: bool = False) -> tuple[SkillStage, ...]:
    """Return the stages of a grasp or a release from above."""
    above = Pose.of((0.0, 0.0, rise_m)) @ at
    acts = (OpenGripper(0.05), DetachObject("cube")) if releases else (CloseGripper(),)
    return (
        SkillStage("approach", above),
        SkillStage("descend", at, Motion.STRAIGHT, cost=0.5),
        SkillStage("act", functions=acts),
        SkillStage("lift", above, Motion.STRAIGHT),
    )


def turned(pose: Pose, axis: tuple[float, float, float], degrees: float) -> Pose:
    return pose @ Pose.of((0.0, 0.0, 0.0), Rotation.from_axis_angle(axis, np.deg2rad(degrees)))


def errors(poses: list[Pose]) -> tuple[Array, Array]:
    robot = five_joint_arm()
    rows = np.array([(BASE.inverse() @ pose).matrix() for pose in poses])
    found = nearest_poses(robot, robot.arm(""), rows, np.zeros(3))
    return found.position_error_m, found.angle_rad


def posed(sequence: tuple[SkillStage, ...]) -> list[Pose]:
    return [stage.world_T_ee for stage in sequence if stage.world_T_ee is not None]


def test_an_orientation_that_is_nearly_possible_becomes_possible_on_the_whole_way() -> None:
    robot = five_joint_arm()
    wanted = turned(hand_at(DOWN), (1.0, 0.0, 0.0), 5.0)
    assert errors([wanted])[1][0] > 0.02
    (made,) = within_freedom([stages(wanted, 0.04)], robot, robot.arm(""), BASE)
    away_m, angles = errors(posed(tuple(made)))
    assert away_m.max() < 1e-4
    assert angles.max() < 1e-3
    assert made[1].world_T_ee is not None
    np.testing.assert_allclose(made[1].world_T_ee.translation_m, wanted.translation_m, atol=1e-4)
    assert made[1].cost > 0.5
    assert [stage.name for stage in made] == ["approach", "descend", "act", "lift"]


def test_a_way_is_as_long_as_the_arm_can_go_without_a_turn() -> None:
    robot = five_joint_arm()
    at = hand_at(DOWN)
    (made,) = within_freedom([stages(at, 0.15)], robot, robot.arm(""), BASE)
    rise = [pose.translation_m[2] - at.translation_m[2] for pose in posed(tuple(made))]
    assert 0.03 <= rise[0] < 0.1
    assert rise[0] == pytest.approx(rise[2])
    assert errors(posed(tuple(made)))[1].max() < 1e-3


def test_a_retreat_costs_what_is_missing_of_it_so_that_hands_that_get_farther_are_preferred() -> None:
    robot = five_joint_arm()
    at = hand_at(DOWN)
    given = [stages(at, 0.03, releases=True), stages(at, 0.15, releases=True), stages(at, 0.15)]
    whole, short, grasp = within_freedom(given, robot, robot.arm(""), BASE)
    lift = short[3].world_T_ee
    assert lift is not None
    missing = 1.0 - float(lift.translation_m[2] - at.translation_m[2]) / 0.15
    assert missing > 0.3
    assert short[3].cost == pytest.approx(missing, abs=0.01)
    # Where the hand comes from, and how far it lifts an object, matters less than how it holds that.
    assert [whole[3].cost, short[0].cost, grasp[0].cost, grasp[3].cost] == [0.0, 0.0, 0.0, 0.0]


def test_a_way_beside_the_plane_of_the_arm_ends_at_a_pose_that_the_arm_has_exactly() -> None:
    robot = five_joint_arm()
    wanted = hand_at((0.3, 0.55, 1.05, np.pi - 0.55 - 1.15, -0.4)) @ sideways(8.0)
    away = wanted @ Pose.of((0.0, 0.0, -0.03))  # against the wanted axis, which the arm cannot have
    given = (*stages(wanted, 0.03)[:3], SkillStage("lift", away, Motion.STRAIGHT))
    (made,) = within_freedom([given], robot, robot.arm(""), BASE)
    away_m, angles = errors(posed(tuple(made)))
    assert away_m.max() < 1e-5
    assert angles.max() < 1e-5
    lift = made[3].world_T_ee
    assert lift is not None
    np.testing.assert_allclose(lift.translation_m, away.translation_m, atol=6e-4)


def test_alternatives_that_would_turn_too_far_are_left_out() -> None:
    robot = five_joint_arm()
    good = stages(hand_at(DOWN), 0.04)
    bad = stages(turned(hand_at(DOWN), (0.0, 0.0, 1.0), 0.0) @ sideways(40.0), 0.04)
    kept = within_freedom([bad, good, bad], robot, robot.arm(""), BASE)
    assert len(kept) == 1
    with pytest.raises(StepFailed) as caught:
        within_freedom([bad, bad], robot, robot.arm(""), BASE)
    outcome = caught.value.outcome
    assert outcome.code is Code.NO_CANDIDATE
    assert "arm 'arm' has 5 joints and cannot turn its hand freely about the hand's" in outcome.message
    assert "none of 2 candidates suits it" in outcome.message


def sideways(degrees: float) -> Pose:
    """Return a turn out of the plane of the arm for a hand that is rolled as in ``DOWN``."""
    roll = Rotation.from_axis_angle((0.0, 0.0, 1.0), -DOWN[4])
    turn = Rotation.from_axis_angle((1.0, 0.0, 0.0), np.deg2rad(degrees))
    return Pose.of((0.0, 0.0, 0.0), roll @ turn @ roll.inverse())


def test_a_release_may_turn_less_than_a_grasp() -> None:
    robot = five_joint_arm()
    at = hand_at(DOWN) @ sideways(20.0)
    assert len(within_freedom([stages(at, 0.04)], robot, robot.arm(""), BASE)) == 1
    with pytest.raises(StepFailed):
        within_freedom([stages(at, 0.04, releases=True)], robot, robot.arm(""), BASE)


def test_places_out_of_reach_are_left_to_the_planner() -> None:
    robot = five_joint_arm()
    far = stages(Pose.of((3.0, 0.0, 0.0)), 0.05)
    (made,) = within_freedom([far], robot, robot.arm(""), BASE)
    assert made[1].world_T_ee is far[1].world_T_ee


def test_arms_with_six_joints_or_more_keep_their_stages() -> None:
    robot = load_robot(ROBOTS / "fr3")
    given = [stages(Pose.of((0.5, 0.0, 0.2)), 0.1)]
    assert within_freedom(given, robot, robot.arm(""), BASE) is given
