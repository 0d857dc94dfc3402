"""The adapter as a ROS node: Isaac Sim's bridge behind the robot-and-world contract. Isaac Sim runs elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from rclpy.clock import Clock, ClockType

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import Report
from handiwork_core.control.gripper_controller import GripperGoal, GripperResult
from handiwork_core.control.trajectory_controller import TrajectoryResult
from handiwork_core.control.trajectory_goal import TrajectoryGoal
from handiwork_core.isaac_wire import JOINT_STATES
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.safety.config import SafetyConfig, load_safety
from handiwork_core.scene.loader import Scene, load_scene
from handiwork_ros.controllers.point_stream_server import PointStreamServer
from handiwork_ros.controllers.slot_server import SlotServer, arm_server, gripper_server
from handiwork_ros.node.main import run
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.node.robot_folder import RobotFolder
from handiwork_ros.rclpy_support.polling_executor import make_busy_executor
from handiwork_ros.rclpy_support.safe_callbacks import guard
from handiwork_ros.safety.server import SafetyServer
from isaac_bridge.adapter.ros.cups import CupInterface
from isaac_bridge.adapter.ros.joints import WATCH_S, JointInterface
from isaac_bridge.adapter.ros.run_services import IsaacRunServices
from isaac_bridge.adapter.ros.services import SimulatorServices
from isaac_bridge.adapter.ros.world import WorldInterface

DRIVE_LAG_S = 0.02
"""Damping over stiffness of the arms' drives on the exported stage, s."""


class IsaacBridge(ManagedNode):
    """The adapter. It becomes active when the articulation was received and fits the robot. One thread does all work.

    Args:
        options: Options of the node; see ``ManagedNode``.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__("isaac_bridge", **options)
        self._robot_dir = RobotFolder(self).path
        text = "scene YAML that the stage was made from"
        self._scene_file = self.parameter("scene_file", "", text)
        text = "damping over stiffness of the arms' drives [s]"
        self._lag_s = self.parameter("drive_lag_s", DRIVE_LAG_S, text)
        text = "limits of the safety layer, a YAML file; empty: the defaults"
        self._safety_file = self.parameter("safety_file", "", text)
        self._robot: Robot | None = None
        self._scene: Scene | None = None
        self._limits: SafetyConfig | None = None
        self._joints: JointInterface | None = None
        self._world: WorldInterface | None = None
        self._arms: list[SlotServer[TrajectoryGoal, TrajectoryResult]] = []
        self._grippers: list[SlotServer[GripperGoal, GripperResult]] = []
        self._streams: list[PointStreamServer] = []
        self._safety: SafetyServer | None = None

    def on_load(self, report: Report) -> None:
        """Read robot and scene; see ``ManagedNode.on_load``.

        Args:
            report: Receives the progress.

        Raises:
            ConfigError: A parameter or a file is invalid.
        """
        report(0.0, "reading robot and scene")
        self._check_parameters()
        self._robot = load_robot(Path(self._robot_dir))
        self._scene = load_scene(Path(self._scene_file))
        self._limits = load_safety(Path(self._safety_file), self._robot)

    def on_prepare(self, report: Report) -> None:
        """Wait for the articulation without a limit, because a person starts Isaac Sim.

        Args:
            report: Receives the progress.

        Raises:
            ConfigError: The articulation does not fit the robot.
        """
        robot, scene, lag_s, limits = self._robot, self._scene, self._lag_s, self._limits
        assert robot is not None
        assert scene is not None
        assert limits is not None
        self._joints = self._joints or self.on_executor(
            lambda: JointInterface(self, robot, lag_s, limits, scene.world_T_base)
        )
        text = (
            f"waiting for {JOINT_STATES}: start Isaac Sim with its bring-up script, and let the timeline play"
        )
        while self._joints.thread is None:
            if self._joints.fault:
                raise ConfigError(self._robot_dir, [self._joints.fault])
            report(0.5, text)
            if self.closing.wait(0.05):
                return

    def _check_parameters(self) -> None:
        faults = []
        if not self._robot_dir:
            faults.append("parameter robot_dir: is empty; give the folder of a robot, such as robots/fr3")
        if not self._scene_file:
            faults.append("parameter scene_file: is empty; give a scene, such as config/scenes/tabletop.yaml")
        if not 0.0 <= self._lag_s <= 1.0:
            faults.append(f"parameter drive_lag_s: is {self._lag_s}; give 0 to 1")
        if faults:
            raise ConfigError(f"node {self.get_name()}", faults)

    def on_start(self) -> None:
        """Serve the contract."""
        assert self._joints is not None
        if self._world is None:
            self._make_interfaces(self._joints)
        assert self._world is not None
        self._world.publish_geometry()
        self._joints.open()

    def _make_interfaces(self, joints: JointInterface) -> None:
        robot, scene = self._robot, self._scene
        assert robot is not None
        assert scene is not None
        self._world = WorldInterface(self, scene, joints.wire)
        joints.on_restart.append(self._world.start_over)
        joints.on_measured.append(self._world.fetch)
        simulator = SimulatorServices(self, scene, joints, self._world)
        self._run = IsaacRunServices(
            self, scene, joints, simulator.ask, simulator.group, self._world.note_belt
        )
        self._cups = CupInterface(self, robot, simulator.ask, simulator.group, joints.wire)
        joints.on_restart.append(self._cups.start_over)
        joints.on_paused += [self._world.repeat, self._cups.repeat]
        thread = joints.running()
        safety = self._safety = SafetyServer(
            self,
            thread,
            thread.plant.safety,
            lambda: thread.plant.joints().effort,
            has_effort=False,
            has_force=False,
        )
        if robot.base is not None:
            self._arms.append(arm_server(self, joints.running, robot.base, safety.lease))
        for arm in robot.arms.values():
            self._arms.append(arm_server(self, joints.running, arm, safety.lease))
            self._streams.append(PointStreamServer(self, joints.running, arm))
            if arm.gripper is not None and arm.gripper.suction is None:
                self._grippers.append(gripper_server(self, joints.running, arm.gripper, safety.lease))
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._watch = self.create_timer(WATCH_S, guard(self, joints.watch), clock=steady)

    def on_stop(self) -> None:
        """Bring the arms to rest and end their goals; commands continue until then."""
        if self._world is not None:
            self._world.stop()
        if self._joints is not None:
            self._joints.close()

    def is_idle(self) -> bool:
        """Check whether every client has its result."""
        return all(arm.idle for arm in self._arms) and all(gripper.idle for gripper in self._grippers)


def main() -> None:
    """Run the node."""
    sys.exit(run(IsaacBridge, make_executor=make_busy_executor))


if __name__ == "__main__":
    main()
