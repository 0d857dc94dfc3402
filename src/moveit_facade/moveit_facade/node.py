"""The node ``move_group``: it serves clients of MoveIt by the planner and the controllers of Handiwork."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from std_msgs.msg import String

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import Report
from handiwork_core.model.outcome import Code
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros.liveness.heartbeat import Heartbeats
from handiwork_ros.node.diagnostics import IntakeDiagnoses
from handiwork_ros.node.main import run
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.node.robot_folder import RobotFolder
from handiwork_ros.node.start_wait import StartWait
from handiwork_ros.node.supervision_parameters import supervision_settings
from handiwork_ros.node.wall_time_node import action_host_node
from handiwork_ros.ports.planner import PLANNER, PlannerClient
from handiwork_ros.ports.world import RosWorldSource
from handiwork_ros.ports.world_topics import Subscriptions
from handiwork_ros.rclpy_support.latched_publisher import LatchedPublisher
from handiwork_ros.rclpy_support.service_executor import ServiceExecutor
from handiwork_ros.safety.heartbeat import HeartbeatPublisher
from handiwork_ros.safety.watch import SafetyWatch

from .robot.srdf import srdf_of
from .ros.actions.controlled_motion import ControlledMotion
from .ros.actions.goal_frame import GoalFrame
from .ros.actions.gripper_actions import GripperActions
from .ros.actions.motion_actions import MotionActions
from .ros.actions.task_solution import TaskSolutions
from .ros.execution import Execution
from .ros.octomap_teller import OctomapTeller
from .ros.planner_calls import PlannerCalls
from .ros.planner_services import PlannerServices
from .ros.planning import MotionPlanning
from .ros.robot_reading import RobotReader
from .ros.scene_keeper import SceneKeeper
from .ros.scene_services import SceneServices
from .ros.unmodelled_map import UnmodelledMap


class MoveGroupNode(ManagedNode):
    """Offers the interface of MoveIt's move_group.

    Args:
        options: Options of the node; see ``ManagedNode``.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__("move_group", **options)
        robot_dir = RobotFolder(self).path
        robot = self._robot = load_robot(Path(robot_dir))
        self.parameter("robot_description", robot.urdf, "the robot as URDF")
        self._srdf = self.parameter(
            "robot_description_semantic", srdf_of(robot), "groups, end effectors and named states as SRDF"
        )
        scaling = self._default_scaling()
        self._world = RosWorldSource(
            self, robot, Subscriptions(planner=True, moving_frames=True, on_demand=True)
        )
        self.diagnostics.add("intake", IntakeDiagnoses(self._world.statistics))
        self._signs, self._wait = Heartbeats(self), StartWait(self)
        self._calls = PlannerCalls(self, self._signs)
        reader = RobotReader(self, robot, self._world)
        maps = self._maps = OctomapTeller(self, self._world, self._calls)
        unmodelled = UnmodelledMap(self)
        self._keeper = SceneKeeper(self, robot, reader, self._calls, maps, unmodelled)
        settings = supervision_settings(self)
        planner = PlannerClient(self, robot, self._signs)
        self._execution = Execution(self, robot, self._world, planner, settings)
        self._safety = SafetyWatch(self, lambda why: self._execution.stop_all(why.code, why.message))
        self._heartbeat = HeartbeatPublisher(self, self._execution.supervised)
        self._semantic = LatchedPublisher(self, String, "robot_description_semantic")
        self._goals = GoalFrame(self, action_host_node(self))
        motion = ControlledMotion(self._execution, self._safety)
        planning = MotionPlanning(robot, reader, self._keeper, self._calls, scaling)
        self._scene_services = SceneServices(self, robot, reader, self._keeper, unmodelled)
        self._motions = MotionActions(self, self._goals, planning, motion, settings.replans)
        self._grippers = GripperActions(self._goals, planning, motion)
        self._solutions = TaskSolutions(self._goals, planning, motion)
        self._planner_services = PlannerServices(self, planning, self._motions.show)
        self._signs.on_loss(PLANNER, lambda _name: self._await_planner())

    def on_prepare(self, report: Report) -> None:
        """Wait for the robot, the world and the planner; see the base."""
        self._wait.until_none(self._missing, report)

    def on_start(self) -> None:
        """Publish the SRDF."""
        self._semantic.publish(String(data=self._srdf))

    def on_stop(self) -> None:
        """End the running goals; later goals are refused."""
        text = "move_group stops serving; send the goal again once it is active"
        self._goals.stop_all(Code.SHUTDOWN, text)
        self._semantic.forget()
        self._maps.stop()

    def is_idle(self) -> bool:
        """True when no goal runs."""
        return not (self._goals.is_busy or self._execution.is_busy)

    def _default_scaling(self) -> float:
        text = "share of the velocity and acceleration limits for requests with a scaling factor of 0"
        value = self.parameter("default_scaling_factor", 1.0, text)
        if not 0.0 < value <= 1.0:
            fault = f"parameter default_scaling_factor: is {value}; give a number above 0 and at most 1"
            raise ConfigError("node move_group", [fault])
        return value

    def _missing(self) -> list[str]:
        seen = {
            "joint_states": bool(self._world.snapshot().joints.position),
            "world/objects": self._world.has_geometry(),
            "/tf_static": f"{self._robot.name}/{self._robot.root_link}" in self._world.frames.known(),
            PLANNER: self._signs.is_active(PLANNER),
        }
        return [*(name for name, is_seen in seen.items() if not is_seen), *self._calls.missing()]

    def _await_planner(self) -> None:
        """Send the scene again once a lost planner is back: a new process knows nothing of it."""
        if self.executor is not None and not self.closing.is_set():
            self.executor.create_task(self._restore)

    async def _restore(self) -> None:
        while not self._signs.is_active(PLANNER) or self._calls.missing():
            if self.closing.is_set():
                return
            await self._calls.pause(0.5)
        await self._keeper.restore()


def main() -> None:
    """Run the node."""
    sys.exit(run(MoveGroupNode, make_executor=ServiceExecutor))
