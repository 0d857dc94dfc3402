"""move_group and a planner, in one process, with octomaps of clients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("moveit_msgs", reason="the interfaces of MoveIt are not built: run `make setup-moveit`")

from geometry_msgs.msg import TransformStamped
from handiwork_msgs.msg import ObjectStates, WorldObjects
from handiwork_msgs.msg import VoxelMap as VoxelMapMsg
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState as JointStateMsg
from std_srvs.srv import Empty

from handiwork_core.model.world import JointState
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.voxels.voxel_map import VoxelGrid, VoxelMap
from handiwork_planning.cpu_engine import CpuEngine
from handiwork_ros import conversions as to
from handiwork_ros.rclpy_support.qos import LATCHED, LATEST, TF_STATIC
from moveit_facade.node import MoveGroupNode
from moveit_facade.scene.octree import read_occupancy
from moveit_msgs.msg import PlanningScene, PlanningSceneComponents
from moveit_msgs.srv import ApplyPlanningScene, GetPlanningScene, GetStateValidity
from planner_node.node import PlannerNode
from support.nodes.ros_stage import Stage, stage, wait_for
from support.octrees import Cell, occupancy, tree, values
from support.paths import ROBOTS
from tf2_msgs.msg import TFMessage

ROBOT = load_robot(ROBOTS / "fr3")
ARM = ROBOT.arm("")
HOME = dict(zip(ARM.joint_names, ARM.home_q.tolist(), strict=True))
HAND = link_poses(ROBOT, HOME)["fr3_hand"].translation_m
CELL_M, OCTOMAP = 0.04, "<octomap>"
AWAY = (0, 0, 30)
"""A cell above the arm, from the hand."""
SERVICES: dict[str, Any] = {
    "apply_planning_scene": ApplyPlanningScene,
    "get_planning_scene": GetPlanningScene,
    "check_state_validity": GetStateValidity,
    "clear_octomap": Empty,
}


def scene(*cells: Cell, binary: bool = True) -> PlanningScene:
    """Return a change of the scene: an octomap whose origin is at the hand."""
    change = PlanningScene(is_diff=True)
    change.robot_state.is_diff = True
    octomap = change.world.octomap
    octomap.header.frame_id = "world"
    place = octomap.origin.position
    place.x, place.y, place.z = (float(number) for number in HAND)
    octomap.octomap.id, octomap.octomap.binary, octomap.octomap.resolution = "OcTree", binary, CELL_M
    data = (occupancy if binary else values)(tree(cells)) if cells else b""
    octomap.octomap.data = np.frombuffer(data, np.int8).tolist()
    return change


class Client:
    """The robot at rest, a planner, move_group, and a client of MoveIt."""

    def __init__(self, on: Stage) -> None:
        self.on, self.node = on, Node("client", context=on.context)
        given = {"parameter_overrides": [Parameter("robot_dir", value=str(ROBOTS / "fr3"))]}
        self.planner = PlannerNode(lambda: {"cpu": CpuEngine}, context=on.context, **given)
        self.move_group = MoveGroupNode(context=on.context, **given)
        link = TransformStamped(child_frame_id=f"fr3/{ROBOT.root_link}")
        link.header.frame_id = "world"
        self.node.create_publisher(TFMessage, "tf_static", TF_STATIC).publish(TFMessage(transforms=[link]))
        geometry = self.node.create_publisher(WorldObjects, "world/objects", LATCHED)
        geometry.publish(to.world_objects_to_msg([], 1, 0.0))
        state_pub = self.node.create_publisher(ObjectStates, "world/object_states", LATEST)
        joints = self.node.create_publisher(JointStateMsg, "joint_states", LATEST)

        def show() -> None:
            now_s = self.node.get_clock().now().nanoseconds * 1e-9
            state_pub.publish(to.object_states_to_msg({}, 1, now_s))
            joints.publish(to.joint_state_to_msg(JointState(now_s, HOME)))

        self.node.create_timer(0.02, show)
        self._clients = {name: self.node.create_client(kind, name) for name, kind in SERVICES.items()}
        for node in (self.node, self.planner, self.move_group, *self.move_group.extra_nodes):
            on.add(node)
        wait_for(lambda: self.planner.is_active and self.move_group.is_active, 180.0)
        wait_for(lambda: all(client.service_is_ready() for client in self._clients.values()))

    def call(self, name: str, request: Any = None) -> Any:
        answer = self._clients[name].call_async(request or SERVICES[name].Request())
        wait_for(answer.done)
        return answer.result()

    def apply(self, change: PlanningScene) -> bool:
        return bool(self.call("apply_planning_scene", ApplyPlanningScene.Request(scene=change)).success)

    def touches(self) -> set[str]:
        """Return what the robot touches where it is; nothing if the state is valid."""
        answers: list[Any] = []

        def is_answered() -> bool:
            """Without kernels of an earlier start, the planner's first answer in a map takes longer than the call."""
            answers[:] = [self.call("check_state_validity")]
            return bool(answers[0].valid or answers[0].contacts)

        wait_for(is_answered, 180.0)
        contacts = answers[0].contacts
        return {name for one in contacts for name in (one.contact_body_1, one.contact_body_2)}

    def shown(self) -> Any:
        """Return the octomap of ``get_planning_scene``."""
        request = GetPlanningScene.Request()
        request.components.components = PlanningSceneComponents.OCTOMAP
        return self.call("get_planning_scene", request).scene.world.octomap

    def close(self) -> None:
        for node in (self.move_group, self.planner):
            node.begin_shutdown()
            wait_for(node.is_idle)
            node.end_shutdown()


def allow_the_octomap(change: PlanningScene) -> PlanningScene:
    change.allowed_collision_matrix.default_entry_names = [OCTOMAP]
    change.allowed_collision_matrix.default_entry_values = [True]
    return change


def of_type(name: str) -> PlanningScene:
    change = scene((0, 0, 0))
    change.world.octomap.octomap.id = name
    return change


def cut_off() -> PlanningScene:
    change = scene((0, 0, 0))
    change.world.octomap.octomap.data = change.world.octomap.octomap.data[:-1]
    return change


def changed(name: str, value: Any) -> Callable[[], PlanningScene]:
    def make() -> PlanningScene:
        change = scene((0, 0, 0))
        owner: Any = change.world.octomap
        *path, last = name.split(".")
        for part in path:
            owner = getattr(owner, part)
        setattr(owner, last, value)
        return change

    return make


BAD: dict[str, Callable[[], PlanningScene]] = {
    "of colours": lambda: of_type("ColorOcTree"),
    "of no type": lambda: of_type(""),
    "cut off": cut_off,
    "of another frame": changed("header.frame_id", "nowhere"),
    "without a resolution": changed("octomap.resolution", 0.0),
    "NaN in its origin": changed("origin.position.x", float("nan")),
}


def test_an_octomap_is_an_obstacle_until_it_is_allowed_or_cleared() -> None:
    with stage() as on:
        client = Client(on)
        assert client.apply(allow_the_octomap(PlanningScene(is_diff=True))), "allowed before there is one"
        assert not client.touches()
        assert client.apply(scene(AWAY))
        assert not client.touches()
        without = PlanningScene(is_diff=True)
        without.allowed_collision_matrix.default_entry_names = [OCTOMAP]
        without.allowed_collision_matrix.default_entry_values = [False]
        assert client.apply(without)
        for binary in (True, False):
            assert client.apply(scene((0, 0, 0), AWAY, binary=binary))
            assert OCTOMAP in client.touches()
        for name, make in BAD.items():
            assert not client.apply(make()), name
            assert OCTOMAP in client.touches(), f"{name}: the octomap before counts"
        shown = client.shown()
        assert shown.octomap.id == "OcTree"
        assert np.asarray(shown.octomap.data, np.int8).tobytes() == values(tree({(0, 0, 0), AWAY}))
        assert (shown.header.frame_id, shown.origin.position.x) == ("world", HAND[0])
        assert client.apply(allow_the_octomap(PlanningScene(is_diff=True)))
        assert not client.touches()
        assert client.apply(without)
        assert OCTOMAP in client.touches()
        assert client.apply(scene()), "an id without data removes it"
        assert not client.touches()
        assert client.apply(scene((0, 0, 0)))
        assert client.apply(PlanningScene(is_diff=True)), "a change without an octomap leaves it"
        assert OCTOMAP in client.touches()
        client.call("clear_octomap")
        assert not client.touches()
        assert not len(client.shown().octomap.data)
        assert client.apply(scene((0, 0, 0)))
        assert client.apply(PlanningScene()), "a whole scene without one removes it"
        assert not client.touches()
        client.close()


def test_an_octomap_is_refused_while_somebody_else_publishes_maps() -> None:
    with stage() as on:
        client = Client(on)
        eyes = Node("eyes", context=on.context)
        maps = eyes.create_publisher(VoxelMapMsg, "world/unmodelled", LATCHED)
        on.add(eyes)
        grid = VoxelGrid.over(tuple(HAND.tolist()), (0.2, 0.2, 0.2), CELL_M)
        maps.publish(to.voxel_map_to_msg(VoxelMap.of_points(grid, HAND[None])))
        wait_for(lambda: OCTOMAP in client.touches())
        shown = client.shown()
        place = to.pose_from_msg(shown.origin, "origin")
        (leaf,) = read_occupancy(np.asarray(shown.octomap.data, np.int8).tobytes()).low
        assert np.abs(place.apply((leaf + 0.5) * shown.octomap.resolution) - HAND).max() <= 0.5 * CELL_M
        back = PlanningScene(is_diff=True)
        back.world.octomap = shown
        assert client.apply(back), "a client may send back what it was shown"
        assert OCTOMAP in client.touches()
        assert not client.apply(scene(AWAY))
        assert OCTOMAP in client.touches(), "the map of the cameras stays"
        assert client.apply(allow_the_octomap(PlanningScene(is_diff=True))), "its name is the octomap's"
        assert not client.touches()
        client.close()
