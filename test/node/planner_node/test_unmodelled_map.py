"""A planner that runs, with its own engine, is sent maps of what nobody modelled."""

from __future__ import annotations

from typing import Any

import numpy as np
from geometry_msgs.msg import TransformStamped
from handiwork_msgs import srv
from handiwork_msgs.msg import VoxelMap as VoxelMapMsg
from handiwork_msgs.msg import WorldObjects
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState as JointStateMsg

from handiwork_core.model.outcome import Code
from handiwork_core.model.world import JointState
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.voxels.voxel_map import UNMODELLED, VoxelGrid, VoxelMap
from handiwork_planning.cpu_engine import CpuEngine
from handiwork_ros import conversions as to
from handiwork_ros.rclpy_support.qos import LATCHED, LATEST, TF_STATIC
from planner_node.node import PlannerNode
from support.nodes.ros_stage import Stage, stage, wait_for
from support.paths import ROBOTS
from tf2_msgs.msg import TFMessage

ROBOT = load_robot(ROBOTS / "fr3")
ARM = ROBOT.arm("")
HOME = dict(zip(ARM.joint_names, ARM.home_q.tolist(), strict=True))
HAND = link_poses(ROBOT, HOME)["fr3_hand"].translation_m
GRID = VoxelGrid.over((0.4, 0.0, 0.5), (1.0, 1.0, 1.0), 0.02)


class Cell:
    """A planner, and a node that says where the robot is and what nobody modelled."""

    def __init__(self, on: Stage) -> None:
        self.on, self.node = on, Node("cell", context=on.context)
        given = [Parameter("robot_dir", value=str(ROBOTS / "fr3"))]
        self.planner = PlannerNode(lambda: {"cpu": CpuEngine}, context=on.context, parameter_overrides=given)
        link = TransformStamped(child_frame_id=f"fr3/{ROBOT.root_link}")
        link.header.frame_id = "world"
        self.node.create_publisher(TFMessage, "tf_static", TF_STATIC).publish(TFMessage(transforms=[link]))
        self.node.create_publisher(WorldObjects, "world/objects", LATCHED).publish(
            to.world_objects_to_msg([], 1, 0.0)
        )
        states = to.object_states_to_msg({}, 1, 1.0)
        state_pub = self.node.create_publisher(type(states), "world/object_states", LATEST)
        joints = self.node.create_publisher(JointStateMsg, "joint_states", LATEST)

        def show() -> None:
            state_pub.publish(states)
            joints.publish(to.joint_state_to_msg(JointState(1.0, HOME)))

        self.node.create_timer(0.02, show)
        self.maps = self.node.create_publisher(VoxelMapMsg, "world/unmodelled", LATCHED)
        self._explain = self.node.create_client(srv.Explain, "planner/explain")
        on.add(self.node)
        on.add(self.planner)
        wait_for(lambda: self.planner.is_active and self._explain.service_is_ready())

    def send(self, version: int, *places: Any) -> VoxelMapMsg:
        message = to.voxel_map_to_msg(VoxelMap.of_points(GRID, np.reshape(places, (-1, 3)), version))
        self.maps.publish(message)
        return message

    def explained(self) -> Any:
        """Return what the planner says of the arm where it is, and the version of the world that it looked at."""
        answer = self._explain.call_async(srv.Explain.Request())
        wait_for(answer.done)
        return answer.result()

    def says(self, code: Code) -> bool:
        return bool(self.explained().outcome.code == code)

    def close(self) -> None:
        self.planner.begin_shutdown()
        wait_for(self.planner.is_idle)
        self.planner.end_shutdown()


def test_a_running_planner_keeps_clear_of_the_cells_it_is_sent() -> None:
    with stage() as on:
        cell = Cell(on)
        free = cell.explained()
        assert free.outcome.code == Code.OK, free.outcome.message
        cell.send(1, HAND)
        wait_for(lambda: cell.says(Code.START_IN_COLLISION))
        blocked = cell.explained()
        assert UNMODELLED in blocked.outcome.message
        assert blocked.world_version > free.world_version
        bad = to.voxel_map_to_msg(VoxelMap(GRID, np.zeros(GRID.shape, np.bool_), 2))
        bad.occupied = bad.occupied[:-1]
        cell.maps.publish(bad)
        far = (HAND[0], HAND[1] + 0.4, 0.9)
        cell.send(3, HAND, far)
        wait_for(lambda: cell.explained().world_version > blocked.world_version)
        still = cell.explained()
        assert still.outcome.code == Code.START_IN_COLLISION
        assert still.world_version == blocked.world_version + 1, "the bad map changed nothing"
        cell.send(4, far)
        wait_for(lambda: cell.says(Code.OK))
        cell.close()
