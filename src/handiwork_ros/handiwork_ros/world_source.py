"""The world as it arrives in messages: the newest of each is kept, and decoded only when someone looks."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from handiwork_msgs.msg import Contacts, ObjectStates, WorldObjects
from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState as JointStateMsg

from handiwork_core.geometry import Pose
from handiwork_core.robot import Robot
from handiwork_core.world import Contact, JointState, ObjectState, World, WorldObject

from .conversions import (
    contacts_from_msg,
    joint_state_from_msg,
    object_states_from_msg,
    time_from_msg,
    world_objects_from_msg,
)
from .frames import FrameBuffer, UnknownFrame
from .guards import guard
from .qos import LATCHED, LATEST

V = TypeVar("V")


class Latest(Generic[V]):
    """The newest message of a topic and its value, decoded once at most. Lock held by the owner while decoding."""

    def __init__(self, decode: Callable[[Any], V], empty: V) -> None:
        self._decode, self._empty = decode, empty
        self.decoded: Any = None
        """The message that ``value`` was decoded from."""
        self._value = empty
        self.message: Any = None
        self.heard_s = -math.inf
        """Steady time."""

    def take(self, message: Any) -> None:
        """Keep a message; cheap."""
        self.message, self.heard_s = message, time.monotonic()

    def drop(self) -> None:
        """Know nothing again."""
        self.message, self.heard_s = None, -math.inf

    def value(self) -> V:
        """Decoded value, or the empty one before the first message."""
        message = self.message
        if message is not self.decoded:
            self._value = self._empty if message is None else self._decode(message)
            self.decoded = message
        return self._value

    def age_s(self) -> float:
        """Steady time since the last message; infinite before the first."""
        return time.monotonic() - self.heard_s


@dataclass(frozen=True)
class Wanted:
    """Which streams a node needs."""

    objects: bool = True
    contacts: bool = False
    joints: bool = True


class RosWorldSource:
    """WorldSource over the topics of the contract. Queries are safe from any thread and never wait."""

    def __init__(self, node: Node, robot: Robot, wanted: Wanted | None = None) -> None:
        wanted = wanted or Wanted()
        self._robot = robot
        self._lock = threading.Lock()
        self.frames = FrameBuffer(node, dynamic=False)
        self._geometry: Latest[dict[str, WorldObject]] = Latest(world_objects_from_msg, {})
        self._states: Latest[dict[str, ObjectState]] = Latest(object_states_from_msg, {})
        self._contacts: Latest[tuple[Contact, ...] | None] = Latest(contacts_from_msg, None)
        self._joints: Latest[JointState] = Latest(joint_state_from_msg, JointState(0.0, {}))
        self._cached: tuple[tuple[Any, ...], World] | None = None
        self._base: Pose | None = None
        streams: list[tuple[bool, Any, str, Latest[Any], QoSProfile]] = [
            (wanted.objects, WorldObjects, "world/objects", self._geometry, LATCHED),
            (wanted.objects, ObjectStates, "world/object_states", self._states, LATEST),
            (wanted.contacts, Contacts, "world/contacts", self._contacts, LATEST),
            (wanted.joints, JointStateMsg, "joint_states", self._joints, LATEST),
        ]
        self._subs = [
            node.create_subscription(kind, topic, latest.take, qos)
            for on, kind, topic, latest, qos in streams
            if on
        ]
        back = JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=False)
        self._jump = node.get_clock().create_jump_callback(
            back, post_callback=guard(node, lambda _jump: self.drop())
        )

    def snapshot(self) -> World:
        """The newest known world.

        Raises:
            BadMessage: the newest message of a topic is malformed.
        """
        with self._lock:
            streams = (self._geometry, self._states, self._contacts, self._joints)
            newest = tuple(latest.message for latest in streams)
            # By identity, not by id(): a message that was dropped may leave its id to the next one.
            if self._cached is None or any(a is not b for a, b in zip(self._cached[0], newest, strict=True)):
                self._cached = (newest, self._world())
            return self._cached[1]

    def world_T_base(self) -> Pose:
        """Pose of the robot's root link in ``world``, from ``/tf_static``.

        Raises:
            UnknownFrame: it is not published yet.
        """
        return self.frames.lookup("world", f"{self._robot.name}/{self._robot.root_link}")

    def joint_age_s(self) -> float:
        """Steady time since the last joint_states; infinite before the first."""
        return self._joints.age_s()

    def state_age_s(self) -> float:
        """Steady time since the last world/object_states; infinite before the first."""
        return self._states.age_s()

    def has_geometry(self) -> bool:
        """True once world/objects was heard."""
        return self._geometry.message is not None

    def drop(self) -> None:
        """Forget what moves: time jumped back, so it is of another run. Geometry is latched and stays."""
        with self._lock:
            for latest in (self._states, self._contacts, self._joints):
                latest.drop()
            self._base = None

    def _world(self) -> World:
        states, contacts, joints = self._states.value(), self._contacts.value(), self._joints.value()
        objects = self._geometry.value()
        states_msg, contacts_msg, geometry_msg = (
            self._states.decoded,
            self._contacts.decoded,
            self._geometry.decoded,
        )
        return World(
            stamp_s=time_from_msg(states_msg.header.stamp) if states_msg is not None else joints.stamp_s,
            version=geometry_msg.version if geometry_msg is not None else 0,
            objects=objects,
            states=states,
            contacts=contacts,
            contacts_stamp_s=time_from_msg(contacts_msg.header.stamp) if contacts_msg is not None else 0.0,
            joints=joints,
            frames=self._known_frames(),
        )

    def _known_frames(self) -> dict[str, Pose]:
        """The robot's frame, which is static: looked up once."""
        if self._base is None:
            try:
                self._base = self.world_T_base()
            except UnknownFrame:
                return {}
        return {"robot": self._base}
