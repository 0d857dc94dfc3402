"""move_group on the FR3: goals, reasons, cancel and preemption, and the conversation of MoveGroupInterface."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from rcl_interfaces.srv import GetParameters
from rclpy.action import ActionClient
from std_msgs.msg import String

from control_msgs.action import GripperCommand
from handiwork_core.model.thresholds import JOINT_REST
from support.stack.moveit_client import (
    DOWN,
    MoveItClient,
    joint_goal,
    motion_request,
    pose_goal,
    upright,
)
from support.stack.rig import Rig, wait_for

from geometry_msgs.msg import Pose  # isort: skip
from moveit_msgs.action import ExecuteTrajectory, MoveGroup  # isort: skip
from moveit_msgs.msg import Constraints, MoveItErrorCodes, PlanningOptions, VisibilityConstraint  # isort: skip
from moveit_msgs.srv import GetCartesianPath, GetPositionFK, GetPositionIK, GetStateValidity  # isort: skip
from shape_msgs.msg import SolidPrimitive  # isort: skip

pytestmark = pytest.mark.processes
LAUNCH_ARGUMENTS = {"moveit": "true", "real_time_factor": "1"}
SUCCESS = MoveItErrorCodes.SUCCESS
ARM = [f"fr3_joint{i}" for i in range(1, 8)]


def end_of(response: Any) -> dict[str, float]:
    path = response.trajectory.joint_trajectory
    return dict(zip(path.joint_names, path.points[-1].positions, strict=True))


def test_the_conversation_of_a_move_group_interface(rig: Rig, moveit: MoveItClient) -> None:
    """Its constructor, setPoseTarget, plan, execute, and computeCartesianPath, in the order of its sources."""
    parameters = rig.stack.call(
        GetParameters,
        "move_group/get_parameters",
        GetParameters.Request(names=["robot_description", "robot_description_semantic"]),
    )
    assert [value.string_value.lstrip().startswith("<") for value in parameters.values] == [True, True]
    assert all(action.server_is_ready() for action in moveit.actions.values())
    assert moveit.call("query_planner_interface").planner_interfaces[0].planner_ids
    moveit.call("get_planner_params")
    goal = MoveGroup.Goal(request=motion_request(pose_goal(0.5, 0.1, 0.4), allowed_planning_time=5.0))
    goal.request.num_planning_attempts, goal.request.max_velocity_scaling_factor = 1, 0.5
    goal.request.start_state.is_diff = True
    goal.planning_options.plan_only = True
    goal.planning_options.planning_scene_diff.is_diff = True
    goal.planning_options.planning_scene_diff.robot_state.is_diff = True
    planned = moveit.result(moveit.send("move_action", goal))
    assert planned.status == GoalStatus.STATUS_SUCCEEDED and planned.result.error_code.val == SUCCESS
    assert rig.joints.newest.speed < JOINT_REST
    follow = ExecuteTrajectory.Goal(trajectory=planned.result.planned_trajectory)
    done = moveit.result(moveit.send("execute_trajectory", follow))
    assert done.status == GoalStatus.STATUS_SUCCEEDED, done.result.error_code
    request = GetCartesianPath.Request(group_name="fr3_arm", link_name="fr3_hand_tcp", max_step=0.01)
    request.header.frame_id, request.avoid_collisions = "fr3_hand_tcp", True
    request.waypoints = [Pose()]
    request.waypoints[0].position.z = 0.08
    path = moveit.call("compute_cartesian_path", request)
    assert path.fraction == 1.0 and path.error_code.val == SUCCESS
    done = moveit.result(moveit.send("execute_trajectory", ExecuteTrajectory.Goal(trajectory=path.solution)))
    assert done.result.error_code.val == SUCCESS, done.result.error_code
    fk = GetPositionFK.Request(fk_link_names=["fr3_hand_tcp"])
    fk.header.frame_id = "fr3_link0"
    place = moveit.call("compute_fk", fk).pose_stamped[0].pose.position
    assert np.allclose((place.x, place.y, place.z), (0.5, 0.1, 0.32), atol=3e-3)


REACHABLE = {
    "pose": [pose_goal(0.5, 0.0, 0.4)],
    "position alone": [pose_goal(0.5, 0.0, 0.4, xyzw=None)],
    "orientation alone": [
        Constraints(orientation_constraints=[upright("fr3_hand_tcp", "world", DOWN, 0.05, 3.2)])
    ],
    "another link": [pose_goal(0.3, 0.2, 0.5, link="fr3_link6", xyzw=None)],
    "box": [
        pose_goal(0.5, 0.0, 0.4, tolerance=0.5, region=SolidPrimitive(type=1, dimensions=[0.1, 0.1, 0.1]))
    ],
    "cylinder": [
        pose_goal(0.5, 0.0, 0.4, tolerance=0.3, region=SolidPrimitive(type=3, dimensions=[0.1, 0.02]))
    ],
    "frame of an object": [pose_goal(0.0, 0.0, 0.15, frame="cube")],
    "one joint": [joint_goal(fr3_joint1=0.5)],
    "alternatives": [pose_goal(2.0, 0.0, 0.4), pose_goal(0.5, 0.1, 0.4)],
    "pose or joints": [pose_goal(2.0, 0.0, 0.4), joint_goal(**dict.fromkeys(ARM[:1], 0.4))],
}


@pytest.mark.parametrize("goals", REACHABLE.values(), ids=REACHABLE.keys())
def test_a_goal_is_reached(moveit: MoveItClient, goals: list[Constraints]) -> None:
    answer = moveit.plan(*goals)
    assert answer.error_code.val == SUCCESS, answer.error_code
    assert answer.error_code.source == "move_group"


def test_a_path_constraint_holds_on_the_whole_path(moveit: MoveItClient) -> None:
    """The hand turns about the vertical axis and nothing else."""
    turned = (np.cos(0.6), np.sin(0.6), 0.0, 0.0)
    held = Constraints(orientation_constraints=[upright("fr3_hand_tcp", "world", DOWN, 0.1, 3.2)])
    answer = moveit.plan(pose_goal(0.35, 0.4, 0.4, xyzw=turned), path_constraints=held)
    assert answer.error_code.val == SUCCESS, answer.error_code
    for point in answer.trajectory.joint_trajectory.points[::5]:
        request = GetPositionFK.Request(fk_link_names=["fr3_hand_tcp"])
        request.robot_state.joint_state.name = list(answer.trajectory.joint_trajectory.joint_names)
        request.robot_state.joint_state.position = list(point.positions)
        turn = moveit.call("compute_fk", request).pose_stamped[0].pose.orientation
        tilt = 2.0 * np.arcsin(min(1.0, np.hypot(turn.w, turn.z)))
        assert tilt <= 0.1 * np.sqrt(2.0) + 1e-3


MISSED = {
    "far": ([pose_goal(0.9, 0.0, 0.9)], MoveItErrorCodes.NO_IK_SOLUTION, "mm"),
    "in the table": ([pose_goal(0.5, 0.0, -0.3)], MoveItErrorCodes.GOAL_IN_COLLISION, "table"),
    "limit": ([joint_goal(fr3_joint1=5.0)], MoveItErrorCodes.GOAL_STATE_INVALID, "fr3_joint1"),
    "visibility": (
        [Constraints(visibility_constraints=[VisibilityConstraint()])],
        MoveItErrorCodes.INVALID_GOAL_CONSTRAINTS,
        "sensor",
    ),
    "frame": (
        [pose_goal(0.5, 0.0, 0.4, frame="nowhere")],
        MoveItErrorCodes.FRAME_TRANSFORM_FAILURE,
        "nowhere",
    ),
    "link": ([pose_goal(0.5, 0.0, 0.4, link="panda_hand")], MoveItErrorCodes.INVALID_LINK_NAME, "panda_hand"),
    "nothing": ([], MoveItErrorCodes.INVALID_GOAL_CONSTRAINTS, "goal_constraints"),
}


@pytest.mark.parametrize(("goals", "value", "words"), MISSED.values(), ids=MISSED.keys())
def test_a_goal_that_fails_says_why(
    moveit: MoveItClient, goals: list[Constraints], value: int, words: str
) -> None:
    error = moveit.plan(*goals).error_code
    assert error.val == value and words in error.message and error.source


def test_a_start_in_collision_names_the_bodies_and_the_depth(moveit: MoveItClient) -> None:
    request = GetStateValidity.Request(group_name="fr3_arm")
    request.robot_state.joint_state.name = ARM
    request.robot_state.joint_state.position = [0.0, 1.2, 0.0, -1.0, 0.0, 2.0, 0.0]
    answer = moveit.call("check_state_validity", request)
    assert not answer.valid and answer.contacts[0].depth > 0.0
    assert {answer.contacts[0].contact_body_1, answer.contacts[0].contact_body_2} & {"table"}
    error = moveit.plan(pose_goal(0.5, 0.0, 0.4), start_state=request.robot_state).error_code
    assert error.val == MoveItErrorCodes.START_STATE_IN_COLLISION and "table" in error.message


def test_ik_solves_for_links_of_the_hand_and_of_the_arm(moveit: MoveItClient) -> None:
    for link in ("fr3_hand_tcp", "fr3_hand", "fr3_link6"):
        fk = GetPositionFK.Request(fk_link_names=[link])
        request = GetPositionIK.Request()
        request.ik_request.group_name, request.ik_request.ik_link_name = "fr3_arm", link
        request.ik_request.pose_stamped = moveit.call("compute_fk", fk).pose_stamped[0]
        request.ik_request.pose_stamped.pose.position.y += 0.05
        request.ik_request.avoid_collisions = True
        answer = moveit.call("compute_ik", request)
        assert answer.error_code.val == SUCCESS, answer.error_code
        fk.robot_state = answer.solution
        found = moveit.call("compute_fk", fk).pose_stamped[0].pose.position
        wanted = request.ik_request.pose_stamped.pose.position
        assert np.allclose((found.x, found.y, found.z), (wanted.x, wanted.y, wanted.z), atol=1e-3)


def test_a_cartesian_path_ends_where_it_is_blocked_and_says_by_what(moveit: MoveItClient) -> None:
    request = GetCartesianPath.Request(group_name="fr3_arm", max_step=0.01, avoid_collisions=True)
    request.header.frame_id = "fr3_hand_tcp"
    request.waypoints = [Pose()]
    request.waypoints[0].position.z = 0.8
    answer = moveit.call("compute_cartesian_path", request)
    assert 0.0 < answer.fraction < 1.0 and answer.error_code.val == SUCCESS
    assert "the path ends after" in answer.error_code.message and answer.solution.joint_trajectory.points


SLOW = 0.05


def test_a_cancel_ends_at_rest(rig: Rig, moveit: MoveItClient) -> None:
    goal = MoveGroup.Goal(request=motion_request(pose_goal(0.4, -0.3, 0.5), max_velocity_scaling_factor=SLOW))
    handle = moveit.send("move_action", goal)
    rig.joints.wait_moving(2 * JOINT_REST)
    moveit.cancel(handle)
    ended = moveit.result(handle)
    assert ended.status == GoalStatus.STATUS_CANCELED
    assert (
        ended.result.error_code.val == MoveItErrorCodes.PREEMPTED
        and "rest" in ended.result.error_code.message
    )
    rig.joints.assert_rests()


def test_a_newer_goal_of_a_second_client_preempts_the_first(rig: Rig, moveit: MoveItClient) -> None:
    first = moveit.send(
        "move_action",
        MoveGroup.Goal(request=motion_request(pose_goal(0.4, -0.3, 0.5), max_velocity_scaling_factor=SLOW)),
    )
    rig.joints.wait_moving(2 * JOINT_REST)
    second = MoveItClient(rig).move(joint_goal(fr3_joint1=0.1), max_velocity_scaling_factor=0.5)
    ended = moveit.result(first)
    assert ended.status == GoalStatus.STATUS_ABORTED
    assert (
        ended.result.error_code.val == MoveItErrorCodes.PREEMPTED
        and "newer" in ended.result.error_code.message
    )
    assert second.result.error_code.val == SUCCESS, second.result.error_code
    rig.joints.assert_rests()


def test_the_event_stop_ends_a_motion(rig: Rig, moveit: MoveItClient) -> None:
    publisher = moveit.node.create_publisher(String, "trajectory_execution_event", 1)
    wait_for("a subscriber", lambda: publisher.get_subscription_count() > 0)
    handle = moveit.send(
        "move_action",
        MoveGroup.Goal(request=motion_request(pose_goal(0.4, 0.3, 0.5), max_velocity_scaling_factor=SLOW)),
    )
    rig.joints.wait_moving(2 * JOINT_REST)
    publisher.publish(String(data="stop"))
    ended = moveit.result(handle)
    assert ended.result.error_code.val == MoveItErrorCodes.PREEMPTED
    rig.joints.assert_rests()


def test_two_clients_plan_at_once(rig: Rig, moveit: MoveItClient) -> None:
    other, found = MoveItClient(rig), []
    thread = threading.Thread(
        target=lambda: found.extend(other.plan(pose_goal(0.5, -0.1, 0.4)).error_code.val for _ in range(10))
    )
    thread.start()
    mine = [moveit.plan(pose_goal(0.5, 0.1, 0.4)).error_code.val for _ in range(10)]
    thread.join()
    assert mine == found == [SUCCESS] * 10


def test_look_around_is_refused_and_plan_only_moves_nothing(rig: Rig, moveit: MoveItClient) -> None:
    refused = moveit.move(pose_goal(0.5, 0.0, 0.4), options=PlanningOptions(look_around=True))
    assert refused.result.error_code.val == MoveItErrorCodes.UNRECOGNIZED_GOAL_TYPE
    planned = moveit.move(pose_goal(0.5, 0.0, 0.4), options=PlanningOptions(plan_only=True))
    assert planned.result.error_code.val == SUCCESS
    assert rig.joints.greatest_change() < 1e-3


def test_a_trajectory_that_starts_elsewhere_is_refused(rig: Rig, moveit: MoveItClient) -> None:
    start = moveit.plan(pose_goal(0.5, 0.0, 0.4)).trajectory_start
    start.joint_state.position[0] += 0.5
    plan = moveit.plan(pose_goal(0.5, 0.0, 0.4), start_state=start)
    done = moveit.result(
        moveit.send("execute_trajectory", ExecuteTrajectory.Goal(trajectory=plan.trajectory))
    )
    error = done.result.error_code
    assert error.val == MoveItErrorCodes.START_STATE_INVALID and "fr3_joint1" in error.message
    for point in plan.trajectory.joint_trajectory.points:
        point.time_from_start.sec += 5
    later = moveit.result(
        moveit.send("execute_trajectory", ExecuteTrajectory.Goal(trajectory=plan.trajectory))
    )
    assert later.result.error_code.val == MoveItErrorCodes.START_STATE_INVALID
    assert rig.joints.greatest_change() < 1e-3


def test_the_gripper_moves_by_its_action_and_by_its_group(rig: Rig, moveit: MoveItClient) -> None:
    client = ActionClient(moveit.node, GripperCommand, "gripper_action_controller/gripper_cmd")
    wait_for("the action of the gripper", client.server_is_ready)
    moveit.actions["gripper"] = client
    goal = GripperCommand.Goal()
    goal.command.position = 0.01
    done = moveit.result(moveit.send("gripper", goal))
    assert done.result.reached_goal and abs(done.result.position - 0.01) < 2e-3
    opened = moveit.move(joint_goal(fr3_finger_joint1=0.035), group="fr3_gripper")
    assert opened.result.error_code.val == SUCCESS, opened.result.error_code
    now = moveit.plan(pose_goal(0.5, 0.0, 0.4)).trajectory_start.joint_state
    assert abs(dict(zip(now.name, now.position, strict=True))["fr3_finger_joint1"] - 0.035) < 2e-3


def test_a_plan_takes_seconds_at_most_and_ends_at_its_goal(moveit: MoveItClient) -> None:
    begun_s = time.monotonic()
    end = end_of(moveit.plan(joint_goal(**dict.fromkeys(ARM[:1], 0.4))))
    assert abs(end["fr3_joint1"] - 0.4) < 2e-3 and time.monotonic() - begun_s < 60.0
