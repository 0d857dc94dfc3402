"""Solutions of the MoveIt Task Constructor on the FR3, as ``Task::execute`` sends them."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from action_msgs.msg import GoalStatus

from handiwork_core.model.thresholds import JOINT_REST
from support.stack.moveit_client import MoveItClient, joint_goal, pose_goal
from support.stack.rig import Rig

from geometry_msgs.msg import Pose  # isort: skip
from moveit_msgs.msg import AttachedCollisionObject, CollisionObject, MoveItErrorCodes, PlanningScene  # isort: skip
from moveit_msgs.srv import ApplyPlanningScene, GetPlanningScene  # isort: skip
from moveit_task_constructor_msgs.action import ExecuteTaskSolution  # isort: skip
from moveit_task_constructor_msgs.msg import SubTrajectory  # isort: skip
from shape_msgs.msg import SolidPrimitive  # isort: skip
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # isort: skip

pytestmark = pytest.mark.processes
LAUNCH_ARGUMENTS = {"moveit": "true", "real_time_factor": "1"}
SUCCESS = MoveItErrorCodes.SUCCESS
SLOW = 0.05


def diff(**fields: Any) -> PlanningScene:
    scene = PlanningScene(is_diff=True, **fields)
    scene.robot_state.is_diff = True
    return scene


def added_box(name: str, *place: float) -> PlanningScene:
    item = CollisionObject(id=name, operation=CollisionObject.ADD)
    item.header.frame_id = "world"
    item.primitives = [SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[0.04] * 3)]
    item.primitive_poses = [Pose()]
    item.pose.position.x, item.pose.position.y, item.pose.position.z = place
    scene = diff()
    scene.world.collision_objects = [item]
    return scene


def plan(moveit: MoveItClient, goal: Any, start: Any = None, **fields: Any) -> Any:
    if start is not None:
        fields["start_state"] = start
    answer = moveit.plan(goal, **fields)
    assert answer.error_code.val == SUCCESS, answer.error_code
    return answer


def end_state(answer: Any) -> Any:
    """Return the robot at the end of a plan, as the next stage of a task starts there."""
    state = copy.deepcopy(answer.trajectory_start)
    path = answer.trajectory.joint_trajectory
    known = dict(zip(state.joint_state.name, state.joint_state.position, strict=True))
    known.update(zip(path.joint_names, path.points[-1].positions, strict=True))
    state.joint_state.name, state.joint_state.position = list(known), list(known.values())
    return state


def goal_of(*parts: SubTrajectory) -> ExecuteTaskSolution.Goal:
    goal = ExecuteTaskSolution.Goal()
    goal.solution.task_id, goal.solution.sub_trajectory = "test", list(parts)
    return goal


def part(trajectory: Any = None, effect: PlanningScene | None = None) -> SubTrajectory:
    found = SubTrajectory(scene_diff=effect or PlanningScene())
    if trajectory is not None:
        found.trajectory = trajectory
    return found


def ids(moveit: MoveItClient) -> tuple[set[str], set[str]]:
    """Return the names of the objects in the world, and of those that are attached."""
    scene = moveit.call("get_planning_scene", GetPlanningScene.Request()).scene
    attached = scene.robot_state.attached_collision_objects
    return {item.id for item in scene.world.collision_objects}, {item.object.id for item in attached}


@pytest.fixture(autouse=True)
def without_additions(rig: Rig, moveit: MoveItClient) -> None:
    assert moveit.call("apply_planning_scene", ApplyPlanningScene.Request(scene=PlanningScene())).success


def test_parts_move_in_order_and_the_scene_changes_after_each(rig: Rig, moveit: MoveItClient) -> None:
    """Arm, gripper, arm: a tool is added, attached with touch links, carried, and detached."""
    there = plan(moveit, pose_goal(0.45, 0.15, 0.4))
    closed = plan(moveit, joint_goal(fr3_finger_joint1=0.02), end_state(there), group="fr3_gripper")
    back = plan(moveit, pose_goal(0.45, -0.1, 0.45), end_state(closed))
    held = AttachedCollisionObject(link_name="fr3_hand", touch_links=["fr3_leftfinger", "fr3_rightfinger"])
    held.object.id, held.object.operation = "tool", CollisionObject.ADD
    attach, detach = diff(), diff()
    attach.robot_state.attached_collision_objects = [held]
    attach.robot_state.joint_state.name, attach.robot_state.joint_state.position = ["fr3_joint1"], [9.0]
    gone = AttachedCollisionObject()
    gone.object.id, gone.object.operation = "tool", CollisionObject.REMOVE
    detach.robot_state.attached_collision_objects = [gone]
    feedback: list[tuple[int, int]] = []
    handle = moveit.send(
        "execute_task_solution",
        goal_of(
            part(there.trajectory, added_box("tool", 0.45, 0.15, 0.3)),
            part(closed.trajectory, attach),
            part(back.trajectory),
            part(None, detach),
        ),
        lambda msg: feedback.append((msg.feedback.sub_id, msg.feedback.sub_no)),
    )
    done = moveit.result(handle)
    assert done.status == GoalStatus.STATUS_SUCCEEDED, done.result.error_code
    assert done.result.error_code.val == SUCCESS
    assert feedback == [(i, 4) for i in range(4)]
    world, attached = ids(moveit)
    assert "tool" in world and not attached
    scene = moveit.call("get_planning_scene", GetPlanningScene.Request()).scene
    (tool,) = [item for item in scene.world.collision_objects if item.id == "tool"]
    assert abs(tool.pose.position.y + 0.1) < 0.05, "it was carried by the hand"
    rig.joints.assert_rests()


def test_an_object_of_the_world_is_attached_by_its_name_and_its_shapes_stay_those_of_the_world(
    moveit: MoveItClient,
) -> None:
    """A task that grasps has the object's geometry in its diff, and after the release the object in the world."""
    cube = next(
        item
        for item in moveit.call(
            "get_planning_scene", GetPlanningScene.Request()
        ).scene.world.collision_objects
        if item.id == "cube"
    )
    held = AttachedCollisionObject(link_name="fr3_hand", object=copy.deepcopy(cube))
    attach, detach = diff(), diff()
    attach.robot_state.attached_collision_objects = [held]
    done = moveit.result(moveit.send("execute_task_solution", goal_of(part(None, attach))))
    assert done.result.error_code.val == SUCCESS, done.result.error_code
    assert ids(moveit)[1] == {"cube"}
    gone = AttachedCollisionObject()
    gone.object.id, gone.object.operation = "cube", CollisionObject.REMOVE
    detach.robot_state.attached_collision_objects, detach.world.collision_objects = [gone], [cube]
    done = moveit.result(moveit.send("execute_task_solution", goal_of(part(None, detach))))
    assert done.result.error_code.val == SUCCESS, done.result.error_code
    world, attached = ids(moveit)
    assert "cube" in world and not attached


def test_a_cancel_ends_at_rest_and_later_parts_change_nothing(rig: Rig, moveit: MoveItClient) -> None:
    slow = plan(moveit, pose_goal(0.4, 0.3, 0.5), max_velocity_scaling_factor=SLOW)
    goal = goal_of(
        part(None, added_box("early", 0.6, 0.4, 0.6)), part(slow.trajectory, added_box("late", 0.6, 0.4, 0.7))
    )
    handle = moveit.send("execute_task_solution", goal)
    rig.joints.wait_moving(2 * JOINT_REST)
    moveit.cancel(handle)
    ended = moveit.result(handle)
    error = ended.result.error_code
    assert ended.status == GoalStatus.STATUS_CANCELED and error.val == MoveItErrorCodes.PREEMPTED
    assert "sub_trajectory 2 of 2" in error.message and "rest" in error.message
    rig.joints.assert_rests()
    world, _attached = ids(moveit)
    assert "early" in world and "late" not in world


def test_a_newer_goal_preempts_a_task(rig: Rig, moveit: MoveItClient) -> None:
    slow = plan(moveit, pose_goal(0.4, 0.3, 0.5), max_velocity_scaling_factor=SLOW)
    handle = moveit.send("execute_task_solution", goal_of(part(slow.trajectory)))
    rig.joints.wait_moving(2 * JOINT_REST)
    newer = MoveItClient(rig).move(joint_goal(fr3_joint1=0.1), max_velocity_scaling_factor=0.5)
    ended = moveit.result(handle)
    assert ended.status == GoalStatus.STATUS_ABORTED
    assert ended.result.error_code.val == MoveItErrorCodes.PREEMPTED
    assert newer.result.error_code.val == SUCCESS, newer.result.error_code


def octomap() -> PlanningScene:
    scene = diff()
    scene.world.octomap.octomap.data = [1, 2, 3]
    return scene


def of_no_group() -> Any:
    found = SubTrajectory()
    found.trajectory.joint_trajectory = JointTrajectory(
        joint_names=["fr3_joint1"], points=[JointTrajectoryPoint(positions=[0.0])] * 2
    )
    return found


def elsewhere() -> Any:
    found = of_no_group()
    found.trajectory.joint_trajectory.points = [JointTrajectoryPoint(positions=[2.0])]
    return found


REFUSED = {
    "octomap": (lambda: part(None, octomap()), MoveItErrorCodes.UNRECOGNIZED_GOAL_TYPE, "octomap"),
    "group": (of_no_group, MoveItErrorCodes.INVALID_MOTION_PLAN, "fr3_joint1"),
    "start": (elsewhere, MoveItErrorCodes.START_STATE_INVALID, "fr3_joint1"),
}


@pytest.mark.parametrize(("faulty", "value", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_a_faulty_part_is_named_before_anything_moves_or_changes(
    rig: Rig, moveit: MoveItClient, faulty: Any, value: int, words: str
) -> None:
    first = plan(moveit, pose_goal(0.45, 0.15, 0.4))
    goal = goal_of(part(first.trajectory, added_box("early", 0.6, 0.4, 0.6)), faulty())
    done = moveit.result(moveit.send("execute_task_solution", goal))
    error = done.result.error_code
    assert done.status == GoalStatus.STATUS_ABORTED and error.val == value, error
    assert "sub_trajectory 2 of 2" in error.message and words in error.message
    assert "early" not in ids(moveit)[0] and rig.joints.greatest_change() < 1e-3
