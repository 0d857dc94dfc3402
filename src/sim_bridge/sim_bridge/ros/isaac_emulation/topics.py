"""The world as Isaac Sim's bridge and its bring-up script publish it. It has no controllers of its own."""

from __future__ import annotations

import time
from array import array
from typing import Any

from geometry_msgs.msg import TransformStamped
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from handiwork_core import isaac_wire as wire
from handiwork_core.control.rate_limiter import RateLimiter
from handiwork_ros.conversions import time_to_msg, transform_to_msg
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.qos import CLOCK, LATEST, TF
from handiwork_ros.rclpy_support.safe_callbacks import guard
from sim_bridge.isaac_emulation.joint_emulation import (
    CommandQueue,
    WireCommand,
    articulation_order,
)
from sim_bridge.loop.isaac_loop import IsaacLoop
from sim_bridge.mujoco.simulation import Simulation
from sim_bridge.mujoco.world_model import driven_joints
from sim_bridge.ros.isaac_emulation.services import IsaacServices
from tf2_msgs.msg import TFMessage

QUEUE = 1
"""The number of commands that may wait, as the graph sets it; the bridge's default of 10 lags by as many ticks."""

FRAME_TICKS = 2
"""Frames, contacts and cups come with every second tick: 50 Hz."""

WORLD_HZ = 62.5
"""The largest rate of these, per second of steady time."""


class IsaacInterface:
    """Topics and services of ``handiwork_core.isaac_wire``. Topics without subscriptions are not published.

    Args:
        node: Hosts them.
        simulation: Has the suction cups that get a service each.
    """

    def __init__(self, node: ManagedNode, simulation: Simulation) -> None:
        self._node, self._queue = node, CommandQueue(QUEUE)
        self._running: IsaacLoop | None = None
        self._clock = node.create_publisher(Clock, "clock", CLOCK)
        self._joints = node.create_publisher(JointState, wire.JOINT_STATES, LATEST)
        self._tf = node.create_publisher(TFMessage, "tf", TF)
        self._contacts = node.create_publisher(String, wire.CONTACTS, LATEST)
        self._cups = node.create_publisher(String, wire.SUCTION_STATE, LATEST)
        node.create_subscription(JointState, wire.JOINT_COMMANDS, guard(node, self._take_command), LATEST)
        IsaacServices(node, self._loop, simulation.world.cups)
        self._names: tuple[str, ...] = ()
        self._pace = RateLimiter(WORLD_HZ, burst=25)

    def loop(self, simulation: Simulation, real_time_factor: float, *, paused: bool) -> IsaacLoop:
        """Create the thread that will run from now on.

        Args:
            simulation: The simulation.
            real_time_factor: Simulated seconds per second; 0 is as fast as possible.
            paused: Whether the world begins paused.

        Returns:
            The thread, not started.
        """
        self._running = IsaacLoop(
            simulation,
            real_time_factor,
            paused=paused,
            queue=self._queue,
            publish=self.publish,
            complain=self.complain,
        )
        return self._running

    def _loop(self) -> IsaacLoop:
        assert self._running is not None
        return self._running

    def complain(self, text: str) -> None:
        """Log the fault of a command.

        Args:
            text: The fault.
        """
        self._node.get_logger().warning(f"{wire.JOINT_COMMANDS}: {text}", throttle_duration_sec=2.0)

    def publish(self, simulation: Simulation, tick: int | None) -> None:
        """Publish the topics that are due at this tick; runs on the physics thread.

        Args:
            simulation: The simulation.
            tick: Number of the tick; None while the timeline is paused, when nothing is published.
        """
        if tick is None:
            return
        now_s = self._loop().time_s
        stamp = time_to_msg(now_s)
        if self._clock.get_subscription_count():
            self._clock.publish(Clock(clock=stamp))
        if self._joints.get_subscription_count():
            self._joints.publish(self._joint_state(simulation, stamp))
        if tick % FRAME_TICKS or not self._pace.due(time.monotonic()):
            return
        if self._tf.get_subscription_count():
            self._tf.publish(self._frames(simulation, stamp))
        if self._contacts.get_subscription_count():
            text = wire.contacts_text(simulation.world.contacts(), now_s)
            self._contacts.publish(String(data=text))
        if simulation.world.cups and self._cups.get_subscription_count():
            self._cups.publish(String(data=wire.cups_text(_cups(simulation), now_s)))

    def _joint_state(self, simulation: Simulation, stamp: Any) -> JointState:
        joints = simulation.world.joints()
        names = self._names or articulation_order(simulation.robot, driven_joints(simulation.robot))
        self._names, order = names, simulation.world.indices(names)
        message = JointState(name=list(names))
        message.header.stamp = stamp
        message.position, message.velocity, message.effort = (
            array("d", wire.on_grid(values[order]).tobytes())
            for values in (joints.position, joints.velocity, joints.effort)
        )
        return message

    def _frames(self, simulation: Simulation, stamp: Any) -> TFMessage:
        message = TFMessage()
        for name, state in simulation.world.object_states().items():
            frame = TransformStamped(child_frame_id=name, transform=transform_to_msg(state.world_T_object))
            frame.header.frame_id, frame.header.stamp = "world", stamp
            message.transforms.append(frame)
        return message

    def _take_command(self, message: JointState) -> None:
        self._queue.put(
            WireCommand(
                tuple(message.name), tuple(message.position), tuple(message.velocity), tuple(message.effort)
            )
        )


def _cups(simulation: Simulation) -> dict[str, wire.CupState]:
    states = {name: cup.state(0.0) for name, cup in simulation.world.cups.items()}
    return {
        name: wire.CupState(state.on, state.sealed, (state.object,) if state.object else ())
        for name, state in states.items()
    }
