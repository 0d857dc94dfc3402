"""The world as it arrives in messages: the newest of each is kept, and decoded only when someone looks."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from handiwork_msgs.msg import Contacts, ObjectStates, WorldObjects
from handiwork_msgs.msg import SuctionState as SuctionStateMsg
from rclpy.callback_groups import CallbackGroup
from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState as JointStateMsg

from handiwork_core.geometry import Pose
from handiwork_core.kinematics import link_poses
from handiwork_core.robot import Robot
from handiwork_core.suction import SuctionState
from handiwork_core.world import Contact, JointState, ObjectState, World, WorldObject, with_parts

from .conversions import (
    contacts_from_msg,
    joint_state_from_msg,
    object_states_from_msg,
    suction_state_from_msg,
    time_from_msg,
    world_objects_from_msg,
)
from .frames import FrameBuffer, UnknownFrame
from .guards import guard
from .qos import LATCHED, STREAM
from .row_decoding import ContactsDecoder, StatesDecoder, stamp_from_bytes

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
    on_states: Callable[[], None] | None = None
    """Called when states have come. Then states and contacts are read from their bytes, which costs a tenth, and
    contacts and joints wake nobody: the newest are fetched with the next snapshot."""
    on_demand: bool = False
    """States wake nobody either. For who looks seldom: each message would take Python's lock from other threads."""


class Unwatched(CallbackGroup):
    """Subscriptions that the executor does not wait for."""

    def can_execute(self, entity: Any) -> bool:
        """Never."""
        return False

    def beginning_execution(self, entity: Any) -> bool:
        """Never."""
        return False

    def ending_execution(self, entity: Any) -> None:
        """Nothing has begun."""


def stamp_of(message: Any) -> float:
    """Time of a message with a header, serialized or not [s]."""
    return stamp_from_bytes(message) if isinstance(message, bytes) else time_from_msg(message.header.stamp)


def _fetch(sub: Subscription, latest: Latest[Any]) -> None:
    """Take the newest message, if one has come; it was heard when it came."""
    with sub.handle:
        found = sub.handle.take_message(sub.msg_type, sub.raw)
    if found is not None:
        latest.take(found[0])
        latest.heard_s -= max(0.0, time.time() - 1e-9 * found[1]["received_timestamp"])


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
        self._cups: dict[str, Latest[SuctionState | None]] = {}
        self._cached: tuple[tuple[Any, ...], World] | None = None
        self._base: Pose | None = None
        self._fetched: list[tuple[Subscription, Latest[Any]]] = []
        if wanted.objects:
            self._objects_sub = node.create_subscription(
                WorldObjects, "world/objects", self._geometry.take, LATCHED
            )
        if wanted.on_states is None and not wanted.on_demand:
            self._listen(node, wanted)
        else:
            self._listen_fast(node, wanted)
        back = JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=False)
        self._jump = node.get_clock().create_jump_callback(
            back, post_callback=guard(node, lambda _jump: self.drop())
        )

    def _listen(self, node: Node, wanted: Wanted) -> None:
        for arm in self._robot.arms.values() if wanted.contacts else ():
            if arm.gripper is not None and arm.gripper.suction is not None:
                cup = self._cups[arm.gripper.name] = Latest(suction_state_from_msg, None)
                topic = f"{arm.gripper.name}_controller/suction_state"
                node.create_subscription(SuctionStateMsg, topic, cup.take, STREAM)
        streams: list[tuple[bool, Any, str, Latest[Any]]] = [
            (wanted.objects, ObjectStates, "world/object_states", self._states),
            (wanted.contacts, Contacts, "world/contacts", self._contacts),
            (wanted.joints, JointStateMsg, "joint_states", self._joints),
        ]
        self._subs = [
            node.create_subscription(kind, topic, latest.take, STREAM)
            for on, kind, topic, latest in streams
            if on
        ]

    def _listen_fast(self, node: Node, wanted: Wanted) -> None:
        self._states, self._contacts = Latest(StatesDecoder(), {}), Latest(ContactsDecoder(), None)
        group = Unwatched()
        streams: list[tuple[bool, Any, str, Latest[Any], bool]] = [
            (wanted.on_demand, ObjectStates, "world/object_states", self._states, True),
            (wanted.contacts, Contacts, "world/contacts", self._contacts, True),
            (wanted.joints, JointStateMsg, "joint_states", self._joints, False),
        ]
        for on, kind, topic, latest, raw in streams:
            if on:
                sub = node.create_subscription(
                    kind, topic, latest.take, STREAM, callback_group=group, raw=raw
                )
                self._fetched.append((sub, latest))
        if wanted.on_states is not None:
            self._watch_states(node, wanted.on_states)

    def _watch_states(self, node: Node, on_states: Callable[[], None]) -> None:
        def take(message: bytes) -> None:
            self._states.take(message)
            on_states()

        self._states_sub = node.create_subscription(
            ObjectStates, "world/object_states", guard(node, take), STREAM, raw=True
        )

    def _fetch_all(self) -> None:
        """What nobody was woken for; with the lock held."""
        for sub, latest in self._fetched:
            _fetch(sub, latest)

    def snapshot(self) -> World:
        """The newest known world.

        Raises:
            BadMessage: the newest message of a topic is malformed.
        """
        with self._lock:
            self._fetch_all()
            streams: tuple[Latest[Any], ...] = (
                self._geometry,
                self._states,
                self._contacts,
                self._joints,
                *self._cups.values(),
            )
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
        with self._lock:
            self._fetch_all()
            return self._joints.age_s()

    def state_age_s(self) -> float:
        """Steady time since the last world/object_states; infinite before the first."""
        with self._lock:
            self._fetch_all()
            return self._states.age_s()

    def has_geometry(self) -> bool:
        """True once world/objects was heard."""
        return self._geometry.message is not None

    def drop(self) -> None:
        """Forget what moves: time jumped back, so it is of another run. Geometry is latched and stays."""
        with self._lock:
            self._fetch_all()  # also what came before the jump and was not looked at yet
            moving: tuple[Latest[Any], ...] = (
                self._states,
                self._contacts,
                self._joints,
                *self._cups.values(),
            )
            for latest in moving:
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
            stamp_s=stamp_of(states_msg) if states_msg is not None else joints.stamp_s,
            version=geometry_msg.version if geometry_msg is not None else 0,
            objects=objects,
            states=states,
            contacts=contacts,
            contacts_stamp_s=stamp_of(contacts_msg) if contacts_msg is not None else 0.0,
            joints=with_parts(joints, objects, states),
            frames=self._known_frames(joints),
            suction={name: cup for name, latest in self._cups.items() if (cup := latest.value()) is not None},
        )

    def _known_frames(self, joints: JointState) -> dict[str, Pose]:
        """The robot's frame: its root is static and looked up once, a mobile base is carried by measured joints."""
        if self._base is None:
            try:
                self._base = self.world_T_base()
            except UnknownFrame:
                return {}
        base = self._robot.base
        if base is None:
            return {"robot": self._base}
        return {"robot": self._base @ link_poses(self._robot, joints.position)[base.link]}
