"""The safety layer for ros2_control: it serves the arms' actions and commands the hardware's controllers."""

from __future__ import annotations

import sys
import time
from array import array
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.clock import Clock, ClockType
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import Report
from handiwork_core.control.inline_control_thread import SameThread
from handiwork_core.control.joint_groups import JointArrays
from handiwork_core.control.trajectory_controller import TrajectoryResult
from handiwork_core.control.trajectory_goal import TrajectoryGoal
from handiwork_core.model.diagnostics import Diagnosis, Level
from handiwork_core.model.geometry import Pose
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.model.measured_joints import MeasuredJoints
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.safety.config import SafetyConfig, load_safety
from handiwork_core.safety.state import Cause, Violation
from handiwork_core.scene.loader import load_scene
from handiwork_ros.controllers.point_stream_server import PointStreamServer
from handiwork_ros.controllers.slot_server import SlotServer, arm_server
from handiwork_ros.conversions import time_from_msg, time_to_msg
from handiwork_ros.node.main import run
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.node.robot_folder import RobotFolder
from handiwork_ros.rclpy_support.qos import LATEST, STREAM
from handiwork_ros.rclpy_support.safe_callbacks import guard
from handiwork_ros.safety.server import SafetyServer

from .supervised_robot import SupervisedRobot
from .windows import LEAD_S, Window
from .wrenches import Wrenches

WATCH_S = 0.05
"""The period of the checks for joint_states, s of steady time."""
SILENT_S = 1.0
"""The steady time without joint_states after which goals end, s; the arm is at rest by then: its window has ended.

Joints of a further publisher that are older than this are no measurement, either.
"""

OLD_S = LEAD_S
"""The steady time after which joints of an arm are too old to command it, s: by then it begins to stop.

Arms whose drivers publish apart would else be led on for ``SILENT_S`` after one of the drivers has stopped.
"""


class SafetyNode(ManagedNode):
    """Active once all joints of the arms were measured. One thread does all work, measurement by measurement.

    Args:
        options: Options of ``rclpy.node.Node``.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__("safety_node", **options)
        self._robot_dir = RobotFolder(self).path
        text = "scene YAML with the pose of the robot; empty: the robot is at the origin of world"
        self._scene_file = self.parameter("scene_file", "", text)
        text = "limits of the safety layer, a YAML file; empty: the defaults"
        self._safety_file = self.parameter("safety_file", "", text)
        text = "geometry_msgs/WrenchStamped of each arm, {arm} for its name; empty: no contact force is supervised"
        self._wrench_topic = self.parameter("wrench_topic", "", text)
        self._robot: Robot | None = None
        self._config, self._world_T_base = SafetyConfig(), Pose.identity()
        self._names: tuple[str, ...] = ()
        self._joints, self._leader = MeasuredJoints((), SILENT_S), ""
        self._arm_joints: tuple[str, ...] = ()
        self._thread: SameThread[SupervisedRobot] | None = None
        self._initial: JointArrays | None = None
        self._wrenches: Wrenches | None = None
        self._servers: list[SlotServer[TrajectoryGoal, TrajectoryResult]] = []
        self._streams: list[PointStreamServer] = []
        self._silent_ticks = 0
        self._commands: dict[str, Any] = {}
        self.create_subscription(JointState, "joint_states", guard(self, self._take), STREAM)

    def on_load(self, report: Report) -> None:
        """Read the files, then wait for the joints; see the base."""
        if not self._robot_dir:
            raise ConfigError(
                "node safety_node", ["parameter robot_dir: is empty; give the folder of a robot"]
            )
        robot = load_robot(Path(self._robot_dir))
        self._config = load_safety(Path(self._safety_file), robot)
        if self._scene_file:
            self._world_T_base = load_scene(Path(self._scene_file)).world_T_base
        moving = (joint for joint in robot.joints.values() if joint.type is not JointKind.FIXED)
        self._arm_joints = tuple(name for arm in robot.arms.values() for name in arm.joint_names)
        self._joints, self._leader = MeasuredJoints(self._arm_joints, SILENT_S), self._arm_joints[0]
        self._names, self._robot = tuple(joint.name for joint in moving), robot
        while self._initial is None:
            report(0.5, "waiting for joint_states with all joints of the robot; start its controllers")
            if self.closing.wait(0.05):
                return

    def on_start(self) -> None:
        """Serve."""
        if self._thread is not None:
            return
        assert self._robot is not None
        assert self._initial is not None
        robot = self._robot
        if self._wrench_topic:
            topics = {arm: self._wrench_topic.format(arm=arm) for arm in robot.arms}
            self._wrenches = Wrenches(topics, self._config.contact_force)
            self.diagnostics.add("wrench", self._wrench_diagnoses)
            for arm, topic in topics.items():
                keep = guard(self, lambda message, arm=arm: self._keep_wrench(arm, message))
                self.create_subscription(WrenchStamped, topic, keep, STREAM)
        plant = SupervisedRobot(
            robot, self._names, self._initial, self._config, self._world_T_base, self._wrenches
        )
        thread = self._thread = SameThread(plant)
        safety = SafetyServer(
            self,
            thread,
            plant.safety,
            lambda: plant.joints().effort,
            has_effort=len(self._initial.effort) > 0,
            has_force=bool(self._wrench_topic),
        )
        for part in plant.safety.monitor.model.parts:
            topic = f"{part.hardware_controller}/joint_trajectory"
            self._commands[part.name] = self.create_publisher(JointTrajectory, topic, LATEST)
            self._servers.append(arm_server(self, lambda: thread, part, safety.lease))
            self._streams.append(PointStreamServer(self, lambda: thread, part))
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._watch_timer = self.create_timer(WATCH_S, guard(self, self._watch), clock=steady)

    def on_stop(self) -> None:
        """Bring the arms to rest and end their goals."""
        if self._thread is not None:
            self._thread.abort("safety_node ends")

    def is_idle(self) -> bool:
        """Check whether every client has its result."""
        return all(server.idle for server in self._servers)

    def _keep_wrench(self, arm: str, message: Any) -> None:
        force = message.wrench.force
        if self._wrenches is not None:
            self._wrenches.receive(arm, np.array([force.x, force.y, force.z]))

    def _wrench_diagnoses(self) -> list[Diagnosis]:
        """Return the state of each arm's wrench."""
        wrenches, arms = self._wrenches, self._robot.arms if self._robot is not None else ()
        if wrenches is None:
            return []
        return [
            Diagnosis(
                f"wrench {arm}", Level.ERROR if wrenches.is_missing(arm) else Level.OK, wrenches.text(arm)
            )
            for arm in arms
        ]

    def _take(self, message: Any) -> None:
        if not self._names:
            return
        measured = self._read(message)
        if measured is None:
            return
        self._silent_ticks = 0
        if self._thread is None:
            self._initial = measured
            return
        plant = self._thread.plant
        plant.take(measured)
        for name, window in plant.windows():
            if name not in self._commands:  # a base that a navigation server drives
                continue
            self._commands[name].publish(self._message(name, window, measured.stamp_s))
        self._thread.poll()

    def _read(self, message: Any) -> JointArrays | None:
        """Return all joints in our order when those of the first arm came; else None, with a log line for a fault."""
        names, counts = message.name, (len(message.position), len(message.velocity))
        effort = message.effort if len(message.effort) == len(names) else ()
        is_whole = counts == (len(names), len(names))
        try:
            self._joints.note(names, 0, now_s := time.monotonic())
        except ValueError as error:
            text = f"joint_states {error}; it is not used"
            self.get_logger().error(text, throttle_duration_sec=2.0)
            return None
        if not is_whole or not np.isfinite([message.position, message.velocity]).all():
            text = "joint_states has no finite position and velocity for each joint; it is not used"
            self.get_logger().error(text, throttle_duration_sec=2.0)
            return None
        stamp_s = time_from_msg(message.header.stamp)
        self._joints.take(names, stamp_s, message.position, message.velocity, now_s, effort)
        return self._joined(stamp_s) if self._leader in names else None

    def _joined(self, stamp_s: float) -> JointArrays | None:
        """Return the joints of all publishers; None, with a log line, if some are missing or old."""
        found, efforts = self._joints.value(), self._joints.effort()
        missing = [name for name in self._names if name not in found.position]
        if missing:
            self.get_logger().warning(f"joint_states lacks {missing}", throttle_duration_sec=5.0)
            return None
        age_s = time.monotonic() - self._joints.heard_s()
        if age_s > OLD_S:
            text = f"joint_states of an arm are {age_s:.1f} s old; start its driver again"
            self.get_logger().error(text, throttle_duration_sec=2.0)
            return None
        position, velocity = (
            np.array([values[name] for name in self._names]) for values in (found.position, found.velocity)
        )
        # Other joints, such as those of a base, may come without efforts; one of an arm without is not supervised.
        has_effort = all(name in efforts for name in self._arm_joints)
        effort = np.array([efforts.get(name, 0.0) for name in self._names]) if has_effort else np.zeros(0)
        return JointArrays(stamp_s, position, velocity, effort)

    def _message(self, name: str, window: Window, now_s: float) -> Any:
        assert self._thread is not None
        controller = self._thread.plant.arms[name].controller
        message = JointTrajectory(joint_names=list(controller.limits.names))
        message.header.stamp = time_to_msg(now_s)
        for t, q, qd in zip(window.times_s.tolist(), window.position, window.rate, strict=True):
            point = JointTrajectoryPoint()
            point.positions, point.velocities = array("d", q.tobytes()), array("d", qd.tobytes())
            point.time_from_start.sec, point.time_from_start.nanosec = int(t), int(t % 1.0 * 1e9)
            message.points.append(point)
        return message

    def _watch(self) -> None:
        """End all goals when measurements stop: no further window is sent, and the last one ends at rest."""
        thread = self._thread
        # Count ticks instead of time: a process that was delayed reads its messages before it judges.
        self._silent_ticks += 1
        if thread is None or thread.idle or self._silent_ticks != round(SILENT_S / WATCH_S):
            return
        text = f"joint_states fell silent for {SILENT_S:g} s; the arm ended its last window at rest"
        thread.plant.safety.protective_stop(
            Violation(Cause.FEEDBACK, "joint_states", SILENT_S, SILENT_S, text)
        )
        thread.abort(text)
        thread.release()


def main() -> None:
    """Run the node; entry point of the executable."""
    sys.exit(run(SafetyNode))


if __name__ == "__main__":
    main()
