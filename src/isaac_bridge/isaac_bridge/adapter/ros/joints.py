"""Converts joint states of the bridge to ours, and our commands to the bridge's."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from sensor_msgs.msg import JointState

from handiwork_core.control.inline_control_thread import SameThread
from handiwork_core.control.joint_groups import JointArrays
from handiwork_core.control.rate_limiter import RateLimiter
from handiwork_core.isaac_wire import JOINT_COMMANDS, JOINT_STATES, BadWire
from handiwork_core.model.geometry import Pose
from handiwork_core.robot.robot import Robot
from handiwork_core.safety.config import SafetyConfig
from handiwork_ros.cdr.message_reader import JointReader
from handiwork_ros.cdr.row_writer import JointWriter
from handiwork_ros.intake.topic_intake import number_of
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.qos import LATEST, STREAM
from handiwork_ros.rclpy_support.safe_callbacks import guard
from handiwork_ros.rclpy_support.silence_limits import STREAM_SILENCE_S
from isaac_bridge.adapter.joint_order import NONE, JointOrder, moving_joints
from isaac_bridge.adapter.remote_plant import RemotePlant
from isaac_bridge.adapter.ros.wire_watch import WireWatch

JOINTS_HZ = 125.0
"""The largest rate of joint_states per second of steady time; commands are sent with every measurement."""

WATCH_S = 0.2


class JointInterface:
    """Reads ``isaac_joint_states`` from its creation on; moves the robot and republishes after ``open``.

    Args:
        node: Hosts the topics.
        robot: The robot.
        drive_lag_s: See ``RemotePlant``.
        safety: Limits of the safety layer.
        world_T_base: The robot's base in the world.
    """

    def __init__(
        self, node: ManagedNode, robot: Robot, drive_lag_s: float, safety: SafetyConfig, world_T_base: Pose
    ) -> None:
        self._node, self._robot, self._lag_s = node, robot, drive_lag_s
        self._safety, self._world_T_base = safety, world_T_base
        self.names = moving_joints(robot)
        self._reader, self._order = JointReader(), JointOrder(self.names)
        self.thread: SameThread[RemotePlant] | None = None
        self.fault = ""
        """The fault of the newest message; empty for none."""
        self.is_muted = self.is_paused = self._is_open = False
        self.on_restart: list[Callable[[], None]] = []
        self.on_measured: list[Callable[[], None]] = []
        self.on_paused: list[Callable[[], None]] = []
        """Callbacks for every ``WATCH_S`` of steady time while the simulation is paused and sends nothing."""
        self._received_s = float("-inf")
        self._pace = RateLimiter(JOINTS_HZ, burst=25)
        self._states = node.create_publisher(JointState, "joint_states", LATEST)
        self._commands = node.create_publisher(JointState, JOINT_COMMANDS, LATEST)
        self._state_writer, self._command_writer = JointWriter(self.names), JointWriter(())
        self.wire = WireWatch(node)
        self._conflict = ""
        take = guard(node, self._take)

        def callback(data: bytes, info: dict[str, Any]) -> None:
            take(data, info)  # rclpy counts the parameters, so they must be two

        node.create_subscription(JointState, JOINT_STATES, callback, STREAM, raw=True)

    def open(self) -> None:
        """Execute goals and republish from now on."""
        self._is_open = True

    def close(self) -> None:
        """End the goals; commands continue until the arms rest."""
        if self.thread is not None:
            self.thread.abort("the adapter ends")

    def running(self) -> SameThread[RemotePlant]:
        """Return the executor of the robot's goals; only after the first message."""
        assert self.thread is not None
        return self.thread

    def watch(self) -> None:
        """End the goals of a robot that sends nothing, and republish a paused one; every ``WATCH_S`` of steady time."""
        thread = self.thread
        if thread is None or not self._is_open:
            return
        silent_s = time.monotonic() - self._received_s
        if silent_s < WATCH_S:
            return
        if self.is_paused:
            self._republish(thread.plant.joints())
            for callback in self.on_paused:
                callback()
        elif silent_s > STREAM_SILENCE_S:
            thread.abort(
                f"{JOINT_STATES} sent nothing for {STREAM_SILENCE_S:g} s; check that the timeline plays"
            )
        thread.release()

    def start_over(self, why: str) -> None:
        """Forget the commands, and hold the measured positions.

        Args:
            why: Reason for the results of the goals.
        """
        self.running().plant.start_over(why)
        self.running().poll()

    def _take(self, data: bytes, info: dict[str, Any]) -> None:
        self.wire.take(JOINT_STATES, number_of(info))
        try:
            message = self._reader.read(data)
            measured = self._order.read(message.names, message.counts, message.numbers, message.stamp_s)
        except BadWire as fault:
            self.fault = str(fault)
            self._node.get_logger().error(self.fault, throttle_duration_sec=2.0)
            return
        self.fault, self._received_s = "", time.monotonic()
        if self.thread is None:
            self._begin(message.names, measured)
        # A node that is not active publishes nothing once its arms rest.
        if self._is_open and (self._node.is_active or not self.running().idle):
            self._follow(self.running(), measured)

    def _begin(self, names: list[str], measured: JointArrays) -> None:
        extra = self._order.unknown(names)
        if extra:
            self._node.get_logger().warning(
                f"{JOINT_STATES}: joints {extra} are not the robot's and are ignored"
            )
        plant = RemotePlant(self._robot, measured, self._lag_s, self._safety, self._world_T_base)
        self._command_writer = JointWriter(plant.driven_names)
        self.thread = SameThread(plant)

    def _follow(self, thread: SameThread[RemotePlant], measured: JointArrays) -> None:
        is_contested, restarted = self._is_contested(), False
        if is_contested:
            thread.abort(self._conflict)  # also goals that were accepted since the last measurement
        if not (is_contested and thread.idle):  # arms brake first; after that nothing is sent
            restarted = self._drive(thread.plant, measured)
        if restarted and not is_contested:
            self._node.get_logger().warning("the simulation's clock was restarted; goals are aborted")
            for callback in self.on_restart:
                callback()
        thread.poll()
        if not is_contested and (restarted or self._pace.due(self._received_s)):
            self._republish(measured)
        for callback in self.on_measured:
            callback()

    def _drive(self, plant: RemotePlant, measured: JointArrays) -> bool:
        """Send the controllers' new targets; return whether the simulation was restarted."""
        restarted = plant.take(measured)
        wanted = None if self.is_muted else plant.command()
        if wanted is not None:
            self._commands.publish(self._command_writer.write(measured.stamp_s, wanted, NONE, NONE))
        return restarted

    def _is_contested(self) -> bool:
        """Return whether several publishers send a topic of one; then nothing is passed on, as if it were silent."""
        before, self._conflict = self._conflict, self.wire.conflict()
        if self._conflict != before:
            self._node.status_text = self._conflict
            if self._conflict:
                self._node.get_logger().error(f"{self._conflict}; nothing is passed on until then")
        return bool(self._conflict)

    def _republish(self, measured: JointArrays) -> None:
        it = measured
        self._states.publish(self._state_writer.write(it.stamp_s, it.position, it.velocity, it.effort))
