"""The planning scene of move_group on the FR3: objects, attachments, the matrix of allowed collisions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from handiwork_core.voxels.voxel_map import UNMODELLED
from support.octrees import occupancy, tree
from support.stack.moveit_client import MoveItClient, pose_goal
from support.stack.rig import Rig, wait_for

from geometry_msgs.msg import Point, Pose  # isort: skip
from moveit_msgs.msg import (  # isort: skip
    AllowedCollisionEntry,
    AttachedCollisionObject,
    CollisionObject,
    MoveItErrorCodes,
    PlanningOptions,
    PlanningScene,
)
from moveit_msgs.srv import ApplyPlanningScene, GetPlanningScene  # isort: skip
from shape_msgs.msg import Mesh, MeshTriangle, Plane, SolidPrimitive  # isort: skip

pytestmark = pytest.mark.processes
LAUNCH_ARGUMENTS = {"moveit": "true"}
SUCCESS = MoveItErrorCodes.SUCCESS


def box(name: str, *place: float, edge: float = 0.1) -> CollisionObject:
    item = CollisionObject(id=name, operation=CollisionObject.ADD)
    item.header.frame_id = "fr3_link0"
    item.primitives = [SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[edge] * 3)]
    item.primitive_poses = [Pose()]
    item.pose.position.x, item.pose.position.y, item.pose.position.z = place
    return item


def removal(name: str) -> CollisionObject:
    return CollisionObject(id=name, operation=CollisionObject.REMOVE)


def diff(*objects: CollisionObject, attached: tuple[AttachedCollisionObject, ...] = (), **fields: Any) -> Any:
    scene = PlanningScene(is_diff=True, **fields)
    scene.robot_state.is_diff = True
    scene.world.collision_objects = list(objects)
    scene.robot_state.attached_collision_objects = list(attached)
    return ApplyPlanningScene.Request(scene=scene)


def scene_of(moveit: MoveItClient) -> PlanningScene:
    return moveit.call("get_planning_scene", GetPlanningScene.Request()).scene


def ids(moveit: MoveItClient) -> set[str]:
    return {item.id for item in scene_of(moveit).world.collision_objects}


@pytest.fixture(autouse=True)
def without_additions(rig: Rig, moveit: MoveItClient) -> None:
    assert moveit.call("apply_planning_scene", ApplyPlanningScene.Request(scene=PlanningScene())).success


def test_objects_of_clients_live_beside_those_of_the_world_and_are_told_apart(moveit: MoveItClient) -> None:
    assert moveit.call("apply_planning_scene", diff(box("mine", 0.5, 0.3, 0.6))).success
    found = {item.id: item.type.db for item in scene_of(moveit).world.collision_objects}
    assert found["mine"] == "" and found["table"] == found["cube"] == "handiwork/world"
    assert moveit.call("apply_planning_scene", diff(removal("mine"))).success
    assert "mine" not in ids(moveit)


def test_an_object_is_an_obstacle_until_it_is_allowed_to_touch(moveit: MoveItClient) -> None:
    moveit.call("apply_planning_scene", diff(box("wall", 0.5, 0.0, 0.4)))
    error = moveit.plan(pose_goal(0.5, 0.0, 0.4)).error_code
    assert error.val == MoveItErrorCodes.GOAL_IN_COLLISION and "wall" in error.message
    matrix = scene_of(moveit).allowed_collision_matrix
    for row in matrix.entry_values:
        row.enabled.append(True)
    matrix.entry_names.append("wall")
    matrix.entry_values.append(AllowedCollisionEntry(enabled=[True] * len(matrix.entry_names)))
    assert moveit.call("apply_planning_scene", diff(allowed_collision_matrix=matrix)).success
    assert moveit.plan(pose_goal(0.5, 0.0, 0.4)).error_code.val == SUCCESS


def test_topics_add_move_and_remove(moveit: MoveItClient) -> None:
    publisher = moveit.node.create_publisher(CollisionObject, "collision_object", 10)
    wait_for("a subscriber", lambda: publisher.get_subscription_count() > 0)
    publisher.publish(box("crate", 0.5, 0.3, 0.6))
    wait_for("the object", lambda: "crate" in ids(moveit))
    moved = box("crate", 0.4, 0.3, 0.7)
    moved.operation, moved.primitives, moved.primitive_poses = CollisionObject.MOVE, [], []
    publisher.publish(moved)

    def height() -> float:
        (item,) = [one for one in scene_of(moveit).world.collision_objects if one.id == "crate"]
        return item.pose.position.z

    before = height()
    wait_for("the move", lambda: abs(height() - before) > 0.05)
    publisher.publish(removal("crate"))
    wait_for("the removal", lambda: "crate" not in ids(moveit))


def test_an_attached_object_moves_with_the_hand_and_is_an_obstacle_to_the_rest(moveit: MoveItClient) -> None:
    held = AttachedCollisionObject(link_name="fr3_hand", object=box("tool", 0.0, 0.0, 0.16, edge=0.04))
    held.object.header.frame_id = "fr3_hand"
    held.touch_links = ["fr3_hand", "fr3_leftfinger", "fr3_rightfinger"]
    assert moveit.call("apply_planning_scene", diff(attached=(held,))).success
    scene = scene_of(moveit)
    assert [one.object.id for one in scene.robot_state.attached_collision_objects] == ["tool"]
    assert "tool" not in {item.id for item in scene.world.collision_objects}
    moved = moveit.move(pose_goal(0.45, 0.2, 0.45))
    assert moved.result.error_code.val == SUCCESS, moved.result.error_code
    away = AttachedCollisionObject(link_name="fr3_hand", object=removal("tool"))
    assert moveit.call("apply_planning_scene", diff(attached=(away,))).success
    (item,) = [one for one in scene_of(moveit).world.collision_objects if one.id == "tool"]
    assert abs(item.pose.position.y - 0.2) < 0.05


def test_a_diff_of_one_request_is_gone_after_it(moveit: MoveItClient) -> None:
    options = PlanningOptions(plan_only=True)
    options.planning_scene_diff = diff(box("once", 0.5, 0.0, 0.4)).scene
    refused = moveit.move(pose_goal(0.5, 0.0, 0.4), options=options).result.error_code
    assert refused.val == MoveItErrorCodes.GOAL_IN_COLLISION and "once" in refused.message
    assert "once" not in ids(moveit)
    assert moveit.plan(pose_goal(0.5, 0.0, 0.4)).error_code.val == SUCCESS


def test_an_octomap_is_in_the_way_of_plans_and_that_of_one_request_of_its_plan_alone(
    moveit: MoveItClient,
) -> None:
    scene = diff().scene
    octomap = scene.world.octomap
    octomap.header.frame_id = "fr3_link0"
    octomap.octomap.id, octomap.octomap.binary, octomap.octomap.resolution = "OcTree", True, 0.05
    cells = occupancy(tree((x, y, z) for x in (9, 10) for y in (-1, 0) for z in (7, 8)))
    octomap.octomap.data = np.frombuffer(cells, np.int8).tolist()
    options = PlanningOptions(plan_only=True, planning_scene_diff=scene)
    refused = moveit.move(pose_goal(0.5, 0.0, 0.4), options=options).result.error_code
    assert refused.val == MoveItErrorCodes.GOAL_IN_COLLISION and UNMODELLED in refused.message
    assert moveit.plan(pose_goal(0.5, 0.0, 0.4)).error_code.val == SUCCESS
    assert moveit.call("apply_planning_scene", ApplyPlanningScene.Request(scene=scene)).success
    assert moveit.plan(pose_goal(0.5, 0.0, 0.4)).error_code.val == MoveItErrorCodes.GOAL_IN_COLLISION
    gone = PlanningOptions(plan_only=True, planning_scene_diff=diff().scene)
    gone.planning_scene_diff.world.octomap.octomap.id = "OcTree"
    assert moveit.move(pose_goal(0.5, 0.0, 0.4), options=gone).result.error_code.val == SUCCESS
    assert moveit.plan(pose_goal(0.5, 0.0, 0.4)).error_code.val == MoveItErrorCodes.GOAL_IN_COLLISION
    moveit.call("clear_octomap")
    assert moveit.plan(pose_goal(0.5, 0.0, 0.4)).error_code.val == SUCCESS


def test_an_object_attached_in_the_start_state_counts_for_that_plan_alone(moveit: MoveItClient) -> None:
    held = AttachedCollisionObject(link_name="fr3_hand", object=box("beam", 0.0, 0.0, 0.3, edge=0.2))
    held.object.header.frame_id = "fr3_hand"
    held.touch_links = ["fr3_leftfinger", "fr3_rightfinger"]
    start = scene_of(moveit).robot_state
    start.is_diff, start.attached_collision_objects = True, [held]
    assert moveit.plan(pose_goal(0.5, 0.0, 0.2)).error_code.val == SUCCESS
    error = moveit.plan(pose_goal(0.5, 0.0, 0.2), start_state=start).error_code
    assert error.val == MoveItErrorCodes.GOAL_IN_COLLISION and "beam" in error.message
    assert not scene_of(moveit).robot_state.attached_collision_objects


def test_a_plane_and_a_subframe(moveit: MoveItClient) -> None:
    item = box("jig", 0.5, 0.3, 0.6)
    item.subframe_names, item.subframe_poses = ["tip"], [Pose()]
    item.subframe_poses[0].position.y = -0.3
    wall = CollisionObject(
        id="plane", operation=CollisionObject.ADD, planes=[Plane(coef=[0.0, 1.0, 0.0, 0.8])]
    )
    wall.header.frame_id, wall.plane_poses = "world", [Pose()]
    assert moveit.call("apply_planning_scene", diff(item, wall)).success
    assert moveit.plan(pose_goal(0.0, 0.0, -0.2, frame="jig/tip")).error_code.val == SUCCESS
    error = moveit.plan(pose_goal(0.1, -0.85, 0.4, frame="world")).error_code
    assert error.val != SUCCESS and error.message


def test_a_mesh_is_an_obstacle(moveit: MoveItClient) -> None:
    """A tetrahedron around the goal, as a client reads it from a file."""
    item = CollisionObject(id="tetrahedron", operation=CollisionObject.ADD)
    item.header.frame_id = "fr3_link0"
    corners = [(0.3, -0.2, 0.25), (0.7, -0.2, 0.25), (0.5, 0.3, 0.25), (0.5, 0.0, 0.65)]
    faces = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]
    item.meshes = [
        Mesh(
            triangles=[MeshTriangle(vertex_indices=face) for face in faces],
            vertices=[Point(x=x, y=y, z=z) for x, y, z in corners],
        )
    ]
    item.mesh_poses = [Pose()]
    assert moveit.call("apply_planning_scene", diff(item)).success
    error = moveit.plan(pose_goal(0.5, 0.0, 0.4)).error_code
    assert error.val == MoveItErrorCodes.GOAL_IN_COLLISION and "tetrahedron" in error.message
    (shown,) = [one for one in scene_of(moveit).world.collision_objects if one.id == "tetrahedron"]
    assert len(shown.meshes[0].triangles) == 4


def test_what_is_not_served_is_refused_and_changes_nothing(moveit: MoveItClient) -> None:
    octomap = diff(box("with_octomap", 0.5, 0.3, 0.6))
    octomap.scene.world.octomap.octomap.data = [1, 2, 3]
    assert not moveit.call("apply_planning_scene", octomap).success
    assert not moveit.call("apply_planning_scene", diff(box("table", 0.5, 0.3, 0.6))).success
    assert not moveit.call("apply_planning_scene", diff(box("good", 0.5, 0.3, 0.6), removal("ghost"))).success
    assert not ids(moveit) & {"with_octomap", "good"}
