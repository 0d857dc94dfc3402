"""Constraint sets become goals of the planner that satisfy them."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import Shape, ShapeKind
from moveit_facade.constraints.evaluation import euler_xyz, evaluate, rotation_vector, worst
from moveit_facade.constraints.goals import Situation, further_configurations, goals_of
from moveit_facade.constraints.held import hold_weights, path_fault
from moveit_facade.constraints.types import (
    ConstraintSet,
    JointConstraint,
    OrientationConstraint,
    PositionConstraint,
)
from moveit_facade.model.error_codes import ErrorCode, RequestError
from support.planning.moveit import at_home, q_of

DOWN = Rotation.from_rpy(np.pi, 0.0, 0.0)
TCP = "fr3_hand_tcp"


def ball(center: tuple[float, float, float], radius: float = 1e-3) -> Shape:
    return Shape(ShapeKind.SPHERE, np.array([radius]), Pose.of(center))


def box(center: tuple[float, float, float], *size: float) -> Shape:
    return Shape(ShapeKind.BOX, np.array(size), Pose.of(center))


def position(shape: Shape, link: str = TCP) -> PositionConstraint:
    return PositionConstraint(link, np.zeros(3), (shape,))


def orientation(*tolerance: float, link: str = TCP, vector: bool = True) -> OrientationConstraint:
    return OrientationConstraint(link, DOWN, np.array(tolerance), is_rotation_vector=vector)


def pose_set(shape: Shape, tolerance: float = 0.01) -> ConstraintSet:
    return ConstraintSet(positions=(position(shape),), orientations=(orientation(*[tolerance] * 3),))


def is_met(constraints: ConstraintSet, q: np.ndarray, situation: Situation) -> bool:
    joints = dict(zip(situation.arm.joint_names, q.tolist(), strict=True))
    return worst(evaluate(constraints, joints, situation.link_poses(constraints.links, q))) is None


def test_a_pose_of_the_tool_centre_point_becomes_one_exact_pose_of_the_ee_link() -> None:
    found = goals_of([pose_set(ball((0.5, 0.0, 0.4)))], at_home())
    assert found.is_exact and len(found.world_T_ee) == 1 and len(found.q) == 0
    assert np.allclose(found.world_T_ee[0].translation_m, (0.5, 0.0, 0.4 + 0.1034), atol=1e-6)


def test_a_target_point_offset_is_in_the_frame_of_the_link() -> None:
    place = PositionConstraint(TCP, np.array([0.0, 0.0, 0.05]), (ball((0.5, 0.0, 0.4)),))
    found = goals_of(
        [ConstraintSet(positions=(place,), orientations=(orientation(0.01, 0.01, 0.01),))], at_home()
    )
    assert np.allclose(found.world_T_ee[0].translation_m, (0.5, 0.0, 0.4 + 0.1034 + 0.05), atol=1e-6)


def test_wide_tolerances_give_further_poses_within_them() -> None:
    wanted, situation = pose_set(box((0.5, 0.0, 0.4), 0.1, 0.2, 0.02), 0.5), at_home()
    found = goals_of([wanted], situation)
    assert not found.is_exact and len(found.world_T_ee) > 10
    for pose in found.world_T_ee:
        world_T_tcp = pose @ Pose.of((0.0, 0.0, 0.1034))
        assert worst(evaluate(wanted, {}, {TCP: world_T_tcp})) is None


@pytest.mark.parametrize(
    "wanted",
    [
        ConstraintSet(positions=(position(ball((0.5, 0.1, 0.4))),)),
        ConstraintSet(positions=(position(ball((0.3, 0.2, 0.5), 0.02), "fr3_link6"),)),
        ConstraintSet(orientations=(orientation(0.05, 0.05, 3.2),)),
        ConstraintSet(orientations=(orientation(0.05, 0.05, 3.2, vector=False),)),
        ConstraintSet(
            joints=(JointConstraint("fr3_joint1", 0.5, 0.01, 0.01),),
            positions=(position(box((0.4, 0.2, 0.4), 0.3, 0.3, 0.01)),),
        ),
        ConstraintSet(joints=(JointConstraint("fr3_joint4", -1.0, 0.1, 0.1),)),
    ],
    ids=["position", "other link", "orientation", "euler angles", "joint and position", "one joint"],
)
def test_constraints_that_are_no_pose_become_configurations_that_satisfy_them(wanted: ConstraintSet) -> None:
    situation = at_home()
    found = goals_of([wanted], situation)
    assert not found.world_T_ee and len(found.q) >= 1
    assert all(is_met(wanted, q, situation) for q in found.q)


def test_all_joints_are_one_exact_configuration_in_the_order_of_the_arm() -> None:
    situation = at_home()
    wanted = dict(zip(situation.arm.joint_names, q_of(situation) + 0.01 * np.arange(7), strict=True))
    joints = tuple(JointConstraint(name, wanted[name], 0.01, 0.01) for name in reversed(wanted))
    found = goals_of([ConstraintSet(joints=joints)], situation)
    assert found.is_exact and np.allclose(found.q, [list(wanted.values())])


def test_several_sets_are_alternatives() -> None:
    joints = ConstraintSet(joints=(JointConstraint("fr3_joint1", 0.5, 0.01, 0.01),))
    found = goals_of([pose_set(ball((0.5, 0.0, 0.4))), joints, pose_set(ball((0.5, 0.1, 0.4)))], at_home())
    assert len(found.world_T_ee) == 2 and len(found.q) >= 1


@pytest.mark.parametrize(
    ("wanted", "value", "words"),
    [
        (ConstraintSet(), ErrorCode.INVALID_GOAL_CONSTRAINTS, "has no constraint"),
        (
            ConstraintSet(joints=(JointConstraint("fr3_finger_joint1", 0.0, 0.1, 0.1),)),
            ErrorCode.INVALID_GOAL_CONSTRAINTS,
            "not in group",
        ),
        (
            ConstraintSet(joints=(JointConstraint("fr3_joint1", 5.0, 0.1, 0.1),)),
            ErrorCode.GOAL_STATE_INVALID,
            "5.0000 leaves its limits -2",
        ),
        (
            ConstraintSet(positions=(position(ball((3.0, 0.0, 0.4))),)),
            ErrorCode.NO_IK_SOLUTION,
            "joint limits",
        ),
    ],
)
def test_what_cannot_be_reached_is_refused_with_the_reason(
    wanted: ConstraintSet, value: ErrorCode, words: str
) -> None:
    with pytest.raises(RequestError, match=words) as refused:
        goals_of([wanted], at_home())
    assert refused.value.value is value


def test_configurations_within_the_tolerances_of_a_pose_satisfy_it() -> None:
    wanted, situation = pose_set(box((0.5, 0.0, 0.4), 0.2, 0.2, 0.2), 0.3), at_home()
    rows = further_configurations([wanted], situation)
    assert len(rows) >= 3 and all(is_met(wanted, q, situation) for q in rows)


def test_angles_of_a_turn_about_one_axis_are_the_same_in_both_forms() -> None:
    turn = Rotation.from_axis_angle((0.0, 1.0, 0.0), 0.7)
    assert np.allclose(rotation_vector(turn), (0.0, 0.7, 0.0)) and np.allclose(
        euler_xyz(turn), (0.0, 0.7, 0.0)
    )


def test_an_upright_hand_holds_the_two_angles_that_are_not_free() -> None:
    wanted = ConstraintSet(orientations=(orientation(0.1, 0.1, 3.2),))
    assert hold_weights(wanted, at_home()) == (1.0, 1.0, 0.0, 0.0, 0.0, 0.0)


def test_a_free_axis_that_is_askew_holds_all_angles() -> None:
    askew = OrientationConstraint(TCP, Rotation.from_rpy(0.3, 0.4, 0.0), np.array([0.1, 0.1, 3.2]))
    assert hold_weights(ConstraintSet(orientations=(askew,)), at_home()) == (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)


def test_a_thin_box_holds_its_normal() -> None:
    wanted = ConstraintSet(positions=(position(box((0.4, 0.0, 0.4), 2.0, 2.0, 0.01)),))
    assert hold_weights(wanted, at_home()) == (0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def test_joints_alone_cannot_be_held() -> None:
    assert (
        hold_weights(ConstraintSet(joints=(JointConstraint("fr3_joint1", 0.0, 0.1, 0.1),)), at_home()) is None
    )


def test_the_first_row_that_violates_is_found() -> None:
    situation = at_home()
    wanted = ConstraintSet(joints=(JointConstraint("fr3_joint1", 0.0, 0.2, 0.2),))
    rows = [q_of(situation) + np.array([a, 0, 0, 0, 0, 0, 0]) for a in (0.0, 0.1, 0.25, 0.3)]
    found = path_fault(wanted, situation, rows)
    assert found is not None and found[0] == 2 and "fr3_joint1" in found[1].text
    assert path_fault(wanted, situation, rows[:2]) is None
