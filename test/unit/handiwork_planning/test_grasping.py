"""A grasp in one call, with the CPU engine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.contracts.planning import Attachment, Engine, SceneQuery
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.robot.kinematics import forward
from handiwork_core.robot.robot import Robot
from handiwork_planning.grasp_planning import GraspRequest, plan_grasp
from support.planning.demo_world import box, demo_items, hand_down, world_of

CUBE = Pose.of((0.5, 0.0, 0.025))


def never() -> bool:
    return False


@pytest.fixture
def asked(robot: Robot) -> GraspRequest:
    arm = robot.arm("")
    assert arm.gripper is not None
    grasps = tuple(hand_down(robot, 0.5, 0.0, 0.025, yaw) for yaw in np.linspace(-1.5, 1.5, 30))
    far = (Pose.of((2.0, 0.0, 0.5)),)
    closed = ((arm.gripper.joint, 0.025),)
    return GraspRequest("", np.array(arm.home_q), "cube", CUBE, (*far, *grasps), arm.ee_link, closed_m=closed)


def test_three_motions_join_and_the_lift_carries_the_object(
    engine: Engine, robot: Robot, asked: GraspRequest
) -> None:
    plan = plan_grasp(engine, asked, never)
    assert plan.code is Code.OK and len(plan.parts) == 3, plan.message
    free, to, up = plan.parts
    np.testing.assert_array_equal(free.q[0], asked.start_q)
    np.testing.assert_allclose(to.q[0], free.q[-1], atol=1e-9)
    np.testing.assert_allclose(up.q[0], to.q[-1], atol=1e-9)
    grasp = asked.world_T_ee[plan.grasp_index]
    assert forward(robot, "", to.q[-1]).almost_equal(grasp, within_m=1e-3, within_rad=1e-3)
    before = grasp @ Pose.of(asked.ee_approach_m)
    assert forward(robot, "", free.q[-1]).almost_equal(before, within_m=1e-3, within_rad=1e-3)
    for q in to.q:
        aside = (forward(robot, "", q).translation_m - grasp.translation_m)[:2]
        assert np.linalg.norm(aside) < 0.0021
    assert forward(robot, "", up.q[-1]).translation_m[2] - grasp.translation_m[2] == pytest.approx(
        0.1, abs=2e-3
    )
    held = Attachment("cube", asked.ee_link, grasp.inverse() @ CUBE)
    carrying = SceneQuery(attached=(held,), gripper_m=asked.closed_m)
    assert engine.validate("", free, SceneQuery(), asked.start_q).code is Code.OK
    assert engine.validate("", up, carrying, up.q[0]).code is Code.OK


def test_a_lift_into_a_lid_is_no_grasp_and_a_short_one_is(
    engine: Engine, robot: Robot, asked: GraspRequest
) -> None:
    lid = ("lid", (box((0.2, 0.2, 0.01)),), Pose.of((0.5, 0.0, 0.4)))
    engine.update_world(world_of(*demo_items(), lid))
    low = plan_grasp(engine, replace(asked, world_lift_m=(0.0, 0.0, 0.5)), never)
    assert low.code is Code.NO_CANDIDATE and "'cube'" in low.message and "times" in low.message
    short = replace(asked, ee_approach_m=(0.0, 0.0, -0.05), world_lift_m=(0.0, 0.0, 0.05))
    plan = plan_grasp(engine, short, never)
    assert plan.code is Code.OK, plan.message


def test_stop_budget_and_no_grasps_have_their_codes(engine: Engine, asked: GraspRequest) -> None:
    assert plan_grasp(engine, asked, lambda: True).code is Code.CANCELED
    assert plan_grasp(engine, replace(asked, budget_s=0.0), never).code is Code.PLAN_BUDGET
    assert plan_grasp(engine, replace(asked, world_T_ee=()), never).code is Code.BAD_GOAL
    far = replace(asked, world_T_ee=asked.world_T_ee[:1])
    assert plan_grasp(engine, far, never).code is Code.NO_CANDIDATE
