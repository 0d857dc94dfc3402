"""Requests that move_group refuses in words, those that it takes with another meaning, and changes while it serves."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from handiwork_core.model.thresholds import JOINT_REST
from support.stack.moveit_client import MoveItClient, joint_goal, motion_request, pose_goal
from support.stack.rig import Rig, wait_for

from geometry_msgs.msg import Pose  # isort: skip
from moveit_msgs.action import MoveGroup  # isort: skip
from moveit_msgs.msg import (  # isort: skip
    CollisionObject,
    GenericTrajectory,
    LinkPadding,
    LinkScale,
    MoveItErrorCodes,
    PlanningScene,
    TrajectoryConstraints,
)
from moveit_msgs.srv import ApplyPlanningScene, GetPlanningScene  # isort: skip
from shape_msgs.msg import SolidPrimitive  # isort: skip

pytestmark = pytest.mark.processes
LAUNCH_ARGUMENTS = {"moveit": "true", "real_time_factor": "0.5"}
SUCCESS = MoveItErrorCodes.SUCCESS
SLOW = 0.05


def box(name: str, *place: float, edge: float = 0.3) -> ApplyPlanningScene.Request:
    item = CollisionObject(id=name, operation=CollisionObject.ADD)
    item.header.frame_id = "world"
    item.primitives = [SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[edge] * 3)]
    item.primitive_poses = [Pose()]
    item.pose.position.x, item.pose.position.y, item.pose.position.z = place
    scene = PlanningScene(is_diff=True)
    scene.robot_state.is_diff = True
    scene.world.collision_objects = [item]
    return ApplyPlanningScene.Request(scene=scene)


def ids(moveit: MoveItClient) -> set[str]:
    scene = moveit.call("get_planning_scene", GetPlanningScene.Request()).scene
    return {item.id for item in scene.world.collision_objects}


@pytest.fixture(autouse=True)
def without_additions(rig: Rig, moveit: MoveItClient) -> None:
    assert moveit.call("apply_planning_scene", ApplyPlanningScene.Request(scene=PlanningScene())).success


REQUESTS = {
    "trajectory constraints": (
        {"trajectory_constraints": TrajectoryConstraints(constraints=[joint_goal(fr3_joint1=0.1)])},
        "trajectory_constraints",
    ),
    "reference trajectories": ({"reference_trajectories": [GenericTrajectory()]}, "reference_trajectories"),
    "speed of a link": ({"max_cartesian_speed": 0.1}, "max_cartesian_speed"),
}


@pytest.mark.parametrize(("fields", "words"), REQUESTS.values(), ids=REQUESTS.keys())
def test_a_request_is_refused_in_words(moveit: MoveItClient, fields: dict[str, Any], words: str) -> None:
    error = moveit.plan(pose_goal(0.5, 0.0, 0.4), **fields).error_code
    assert error.val == MoveItErrorCodes.UNRECOGNIZED_GOAL_TYPE and words in error.message


SCENES: dict[str, Callable[[PlanningScene], None]] = {
    "padding": lambda scene: scene.link_padding.append(LinkPadding(link_name="fr3_link3", padding=0.01)),
    "scale": lambda scene: scene.link_scale.append(LinkScale(link_name="fr3_link3", scale=1.1)),
    "octomap": lambda scene: scene.world.octomap.octomap.data.append(1),
    "another robot": lambda scene: setattr(scene, "robot_model_name", "panda"),
}


@pytest.mark.parametrize("change", SCENES.values(), ids=SCENES.keys())
def test_a_scene_is_refused_and_stays_as_it_is(
    moveit: MoveItClient, change: Callable[[PlanningScene], None]
) -> None:
    request = box("mine", 0.5, 0.5, 0.8, edge=0.05)
    change(request.scene)
    assert not moveit.call("apply_planning_scene", request).success
    assert "mine" not in ids(moveit)


def test_a_scaling_factor_of_0_is_the_default_and_more_than_1_is_1(moveit: MoveItClient) -> None:
    times = {}
    for factor in (0.0, 0.5, 1.0, 2.0):
        answer = moveit.plan(
            joint_goal(fr3_joint1=0.6),
            max_velocity_scaling_factor=factor,
            max_acceleration_scaling_factor=factor,
        )
        assert answer.error_code.val == SUCCESS, answer.error_code
        end = answer.trajectory.joint_trajectory.points[-1].time_from_start
        times[factor] = end.sec + 1e-9 * end.nanosec
    assert np.allclose((times[0.0], times[2.0]), times[1.0], rtol=0.05) and times[0.5] > 1.2 * times[1.0]


def test_names_of_planners_have_no_effect(moveit: MoveItClient) -> None:
    answer = moveit.plan(
        pose_goal(0.5, 0.0, 0.4),
        planner_id="RRTConnectkConfigDefault",
        pipeline_id="ompl",
        num_planning_attempts=10,
    )
    assert answer.error_code.val == SUCCESS


def test_an_object_in_the_way_of_a_motion_stops_the_arm(rig: Rig, moveit: MoveItClient) -> None:
    start = moveit.move(joint_goal(fr3_joint1=-0.7), max_velocity_scaling_factor=0.5)
    assert start.result.error_code.val == SUCCESS, start.result.error_code
    rig.joints.clear()
    goal = MoveGroup.Goal(
        request=motion_request(joint_goal(fr3_joint1=1.2), max_velocity_scaling_factor=SLOW)
    )
    handle = moveit.send("move_action", goal)
    rig.joints.wait_moving(2 * JOINT_REST)
    assert moveit.call("apply_planning_scene", box("wall", 0.25, 0.45, 0.5)).success
    error = moveit.result(handle).result.error_code
    assert error.val == MoveItErrorCodes.MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE, error
    assert "wall" in error.message
    rig.joints.assert_rests()


def test_a_planner_that_was_started_again_gets_the_objects_of_clients(rig: Rig, moveit: MoveItClient) -> None:
    assert moveit.call("apply_planning_scene", box("kept", 0.5, 0.0, 0.4, edge=0.1)).success
    old = rig.pids()["planner_node"]
    assert old is not None
    os.kill(old, signal.SIGKILL)
    wait_for(
        "a plan that knows the object",
        lambda: "kept" in moveit.plan(pose_goal(0.5, 0.0, 0.4)).error_code.message,
        240.0,
    )
