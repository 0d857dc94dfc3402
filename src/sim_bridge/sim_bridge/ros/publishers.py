"""The publishers of the simulation. ``publish`` runs on the physics thread, everything else on the executor's."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterable

from geometry_msgs.msg import TransformStamped, WrenchStamped
from handiwork_msgs.msg import Contacts, ObjectStates, WorldObjects
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from visualization_msgs.msg import MarkerArray

from handiwork_core.control.rate_limiter import RateLimiter
from handiwork_ros.conversions import (
    belts_to_msg,
    contacts_to_msg,
    object_states_to_msg,
    time_to_msg,
    transform_to_msg,
    world_objects_to_msg,
)
from handiwork_ros.rclpy_support.latched_publisher import LatchedPublisher
from handiwork_ros.rclpy_support.qos import CLOCK, LATEST, TF
from sim_bridge.mujoco.simulation import Simulation
from tf2_msgs.msg import TFMessage

WORLD_TICKS = 2
"""object_states and contacts come with every second tick: 50 Hz."""

JOINTS_HZ, WORLD_HZ, FRAMES_HZ = 125.0, 62.5, 30.0
"""The largest rates per second of steady time; they limit a simulation faster than 1.25 times real time."""

CATCH_UP = 25
"""The number of messages that may follow each other at once after a delay; the simulation catches up by 20 ticks."""


class ContractPublishers:
    """The topics of the robot-and-world contract.

    Args:
        node: Hosts them.
        arms: Names of the arms, each of which has a force-torque sensor.
    """

    def __init__(self, node: Node, arms: Iterable[str] = ()) -> None:
        self._clock = node.create_publisher(Clock, "clock", CLOCK)
        self._joints = node.create_publisher(JointState, "joint_states", LATEST)
        self._objects = LatchedPublisher(node, WorldObjects, "world/objects")
        self._belts = LatchedPublisher(node, MarkerArray, "world/belts")
        self._states = node.create_publisher(ObjectStates, "world/object_states", LATEST)
        self._contacts = node.create_publisher(Contacts, "world/contacts", LATEST)
        self._tf = node.create_publisher(TFMessage, "tf", TF)
        self._wrenches = {
            name: node.create_publisher(
                WrenchStamped, f"{name}_force_torque_sensor_broadcaster/wrench", LATEST
            )
            for name in arms
        }
        self._clock_msg, self._joints_msg = Clock(), JointState()
        self._joints_pace, self._world_pace = (
            RateLimiter(JOINTS_HZ, CATCH_UP),
            RateLimiter(WORLD_HZ, CATCH_UP),
        )
        self._frames_pace = RateLimiter(FRAMES_HZ)
        self.version = 0
        self.with_world: list[Callable[[Simulation], None]] = []
        """Called on the physics thread with every publication of the world's state."""

    def publish_geometry(self, simulation: Simulation) -> int:
        """Publish the objects as a new version, with their poses.

        Args:
            simulation: The simulation.

        Returns:
            The version.
        """
        self.version += 1
        world = simulation.world
        self._objects.publish(world_objects_to_msg(world.scene.world_objects(), self.version, world.time_s))
        self.publish_belts(simulation)
        self._publish_world(simulation)
        return self.version

    def publish_belts(self, simulation: Simulation) -> None:
        """Publish how the belts run.

        Args:
            simulation: The simulation.
        """
        world = simulation.world
        self._belts.publish(belts_to_msg(world.scene.objects, world.belts.velocities))

    def stop(self) -> None:
        """Stop repeating the latched messages."""
        self._objects.forget()
        self._belts.forget()

    def publish(self, simulation: Simulation, tick: int | None) -> None:
        """Publish the topics that are due at this tick.

        Args:
            simulation: The simulation.
            tick: Number of the tick; None while the world is paused, when everything is published.
        """
        now_s = time.monotonic()
        if tick is None or self._joints_pace.due(now_s):
            self._publish_joints(simulation)
            self._publish_wrenches(simulation)
        if tick is None or (tick % WORLD_TICKS == 0 and self._world_pace.due(now_s)):
            self._publish_world(simulation)
        if tick is None or self._frames_pace.due(now_s):
            self._publish_frames(simulation)

    def _publish_joints(self, simulation: Simulation) -> None:
        joints = simulation.world.joints()
        stamp = time_to_msg(joints.stamp_s)
        self._clock_msg.clock = stamp
        self._clock.publish(self._clock_msg)
        message = self._joints_msg
        message.header.stamp = stamp
        message.name = list(simulation.world.joint_names)
        # Arrays of doubles are copied whole; anything else is checked number by number.
        message.position = array("d", joints.position.tobytes())
        message.velocity = array("d", joints.velocity.tobytes())
        message.effort = array("d", joints.effort.tobytes())
        self._joints.publish(message)

    def _publish_wrenches(self, simulation: Simulation) -> None:
        """Publish the wrench on each tool in its frame, as ``force_torque_sensor_broadcaster`` does."""
        robot = simulation.robot
        for name, publisher in self._wrenches.items():
            if publisher.get_subscription_count() == 0:
                continue  # most robots work without, and each message costs time of the physics
            force, torque = simulation.world.force_sensors[name].wrench()
            message = WrenchStamped()
            message.header.stamp = time_to_msg(simulation.world.time_s)
            message.header.frame_id = f"{robot.name}/{robot.arms[name].ee_link}"
            message.wrench.force.x, message.wrench.force.y, message.wrench.force.z = force.tolist()
            message.wrench.torque.x, message.wrench.torque.y, message.wrench.torque.z = torque.tolist()
            publisher.publish(message)

    def _publish_world(self, simulation: Simulation) -> None:
        world = simulation.world
        self._states.publish(object_states_to_msg(world.object_states(), self.version, world.time_s))
        self._contacts.publish(contacts_to_msg(world.contacts(), world.time_s))
        for publish in self.with_world:
            publish(simulation)

    def _publish_frames(self, simulation: Simulation) -> None:
        message = TFMessage()
        stamp = time_to_msg(simulation.world.time_s)
        for name, state in simulation.world.object_states().items():
            frame = TransformStamped(child_frame_id=name, transform=transform_to_msg(state.world_T_object))
            frame.header.frame_id, frame.header.stamp = "world", stamp
            message.transforms.append(frame)
        self._tf.publish(message)
