"""The world as it arrives in messages: the newest good message of each topic is kept."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from handiwork_msgs.msg import Contacts, ObjectStates, WorldObjects
from handiwork_msgs.msg import SuctionState as SuctionStateMsg
from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState as JointStateMsg

from handiwork_core.intake.counters import IntakeStatistics
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Outcome
from handiwork_core.model.suction import SuctionState
from handiwork_core.model.world import (
    Contact,
    JointState,
    ObjectState,
    World,
    with_parts,
)
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from handiwork_ros.cdr.codec import stamp_from_bytes
from handiwork_ros.cdr.row_reader import ContactsDecoder, StatesDecoder
from handiwork_ros.conversions import BadMessage, suction_state_from_msg, time_from_msg
from handiwork_ros.intake.topic_intake import (
    Complain,
    GeometryIntake,
    JointIntake,
    TopicIntake,
    taken,
)
from handiwork_ros.intake.world_intake import START_ROBOT, START_WORLD, WorldIntake
from handiwork_ros.rclpy_support.polled_group import PolledGroup
from handiwork_ros.rclpy_support.qos import LATCHED, STREAM, STREAM_FETCHED
from handiwork_ros.rclpy_support.safe_callbacks import guard

from .frames import FrameBuffer, UnknownFrame


@dataclass(frozen=True)
class Subscriptions:
    """The streams that a node needs.

    Attributes:
        objects: Geometry and states of objects.
        contacts: Contacts, and the states of suction cups unless states are polled.
        joints: Joint states.
    """

    objects: bool = True
    contacts: bool = False
    joints: bool = True
    on_states: Callable[[], None] | None = None
    """Called when object states have come.

    If it is set, states and contacts are read from their bytes, which costs a tenth, and contacts and joints do not
    wake the executor: the newest are read with the next snapshot.
    """
    cups: bool = False
    """The states of suction cups with ``on_states`` or ``on_demand``; without these they come with ``contacts``."""
    planner: bool = False
    """The obstacles that were given to the planner only."""
    on_demand: bool = False
    """States do not wake the executor either.

    This is for nodes that take snapshots rarely: each message would take Python's lock from other threads.
    """


def stamp_of(message: Any) -> float:
    """Return the time of a message with a header, s.

    Args:
        message: The message, serialized or not.
    """
    return stamp_from_bytes(message) if isinstance(message, bytes) else time_from_msg(message.header.stamp)


RECENT_S = 1.0
"""The steady time in which any joint message counts as recent, s."""


class RosWorldSource:
    """WorldSource over the topics of the contract. Queries are safe from any thread and never wait.

    Args:
        node: Hosts the subscriptions.
        robot: Description of the robot.
        wanted: The streams to subscribe to; None: the defaults.
    """

    def __init__(self, node: Node, robot: Robot, wanted: Subscriptions | None = None) -> None:
        wanted = wanted or Subscriptions()
        self._robot = robot
        self._lock = threading.Lock()
        self.frames = FrameBuffer(node, dynamic=False)
        complain = node.get_logger().warning
        self._geometry = GeometryIntake("world/objects", self._lock, complain)
        self._states: TopicIntake[dict[str, ObjectState]] = TopicIntake(
            "world/object_states", StatesDecoder(), {}, self._lock, complain, ObjectStates
        )
        self._contacts: TopicIntake[tuple[Contact, ...] | None] = TopicIntake(
            "world/contacts", ContactsDecoder(), None, self._lock, complain, Contacts
        )
        self._joints = JointIntake(_needed_joints(robot), self._lock, complain)
        self._cups: dict[str, TopicIntake[SuctionState | None]] = {}
        # A second planner of the name does not start, so this topic is not watched for a second publisher.
        self._planners = GeometryIntake("planner/obstacles", self._lock, complain)
        if wanted.planner:
            topic = "planner/obstacles"
            node.create_subscription(WorldObjects, topic, self._planners.take, LATCHED, raw=True)
        self._cached: tuple[tuple[Any, ...], World] | None = None
        self._base: Pose | None = None
        self._fetched: list[tuple[Subscription, TopicIntake[Any]]] = []
        if wanted.objects:
            self._objects_sub = node.create_subscription(
                WorldObjects, "world/objects", self._geometry.take, LATCHED, raw=True
            )
        if wanted.on_states is None and not wanted.on_demand:
            self._subscribe(node, wanted, complain)
        else:
            self._subscribe_for_polling(node, wanted)
            if wanted.cups:
                self._subscribe_to_cups(node, complain)
        self.intake = WorldIntake(node, self._joints, self._others())
        back = JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=False)
        self._jump = node.get_clock().create_jump_callback(
            back, post_callback=guard(node, lambda _jump: self.drop())
        )

    def _subscribe(self, node: Node, wanted: Subscriptions, complain: Complain) -> None:
        if wanted.contacts:
            self._subscribe_to_cups(node, complain)
        streams: list[tuple[bool, Any, str, TopicIntake[Any]]] = [
            (wanted.objects, ObjectStates, "world/object_states", self._states),
            (wanted.contacts, Contacts, "world/contacts", self._contacts),
            (wanted.joints, JointStateMsg, "joint_states", self._joints),
        ]
        self._subs = [
            node.create_subscription(kind, topic, intake.take, STREAM, raw=True)
            for on, kind, topic, intake in streams
            if on
        ]

    def _subscribe_to_cups(self, node: Node, complain: Complain) -> None:
        for arm in self._robot.arms.values():
            if arm.gripper is not None and arm.gripper.suction is not None:
                topic = f"{arm.gripper.name}_controller/suction_state"
                cup = self._cups[arm.gripper.name] = TopicIntake(
                    topic, suction_state_from_msg, None, self._lock, complain
                )
                node.create_subscription(SuctionStateMsg, topic, cup.take, STREAM)

    def _subscribe_for_polling(self, node: Node, wanted: Subscriptions) -> None:
        group = PolledGroup()
        streams: list[tuple[bool, Any, str, TopicIntake[Any]]] = [
            (wanted.on_demand, ObjectStates, "world/object_states", self._states),
            (wanted.contacts, Contacts, "world/contacts", self._contacts),
            (wanted.joints, JointStateMsg, "joint_states", self._joints),
        ]
        for on, kind, topic, intake in streams:
            if on:
                sub = node.create_subscription(
                    kind, topic, intake.take, STREAM_FETCHED, callback_group=group, raw=True
                )
                self._fetched.append((sub, intake))
        if wanted.on_states is not None:
            self._watch_states(node, wanted.on_states)

    def _watch_states(self, node: Node, on_states: Callable[[], None]) -> None:
        notify = guard(node, on_states)

        def take(message: bytes, info: dict[str, Any]) -> None:
            self._states.take(message, info)
            notify()

        self._states_sub = node.create_subscription(
            ObjectStates, "world/object_states", take, STREAM, raw=True
        )

    def _others(self) -> tuple[TopicIntake[Any], ...]:
        """Return the intakes of all topics except ``joint_states``."""
        return (self._geometry, self._states, self._contacts, *self._cups.values())

    def _fetch_all(self) -> None:
        """Take the messages that did not wake the executor; with the lock held."""
        for sub, intake in self._fetched:
            if found := taken(sub):
                intake.offer(found)

    def snapshot(self) -> World:
        """Return the newest known world, made of good messages only. It never raises."""
        with self._lock:
            self._fetch_all()
            streams = (*self._others(), self._planners)
            newest = (*(intake.message for intake in streams), self._joints.value())
            # By identity, not by id(): a message that was dropped may leave its id to the next one.
            if self._cached is None or any(a is not b for a, b in zip(self._cached[0], newest, strict=True)):
                self._cached = (newest, self._world())
            return self._cached[1]

    def conflict(self) -> Outcome | None:
        """Return the conflict of two publishers that send what only one may send; see ``WorldIntake.conflict``."""
        with self._lock:
            self._fetch_all()
            return self.intake.conflict()

    def joint_silence(self) -> str:
        """Return the reason why there are no newer joints of the arms, in one sentence."""
        with self._lock:
            known, good_s = self._joints.value().position, self._joints.counter.good_s
        missing = [name for name in _needed_joints(self._robot) if name not in known]
        if missing and time.monotonic() - good_s < RECENT_S:
            return f"joint_states comes without {missing[0]!r}, one of {len(missing)} that are missing; publish all"
        return self.intake.silence("joint_states", START_ROBOT)

    def state_silence(self) -> str:
        """Return the reason why there are no newer poses of objects, in one sentence."""
        return self.intake.silence("world/object_states", START_WORLD)

    def statistics(self) -> tuple[IntakeStatistics, ...]:
        """Return the counts of the messages of each topic."""
        with self._lock:
            self._fetch_all()
            counters, now_s = self.frames.counters.values(), time.monotonic()
            return (*self.intake.statistics(), *(one.statistics(now_s) for one in counters))

    def world_T_base(self) -> Pose:
        """Return the pose of the robot's root link in ``world``, from ``/tf_static``.

        Raises:
            UnknownFrame: It is not published yet, or the published frames are no tree.
        """
        try:
            return self.frames.lookup("world", f"{self._robot.name}/{self._robot.root_link}")
        except BadMessage as error:
            raise UnknownFrame(str(error)) from error

    def joint_age_s(self) -> float:
        """Return the steady time since the last good joint_states, s; infinite before the first."""
        with self._lock:
            self._fetch_all()
            return time.monotonic() - self._joints.heard_s()

    def joint_feedback(self) -> tuple[float, float]:
        """Return the arrival and the stamp of the newest joint_states.

        Returns:
            The steady time of arrival, -inf before the first, and the stamp, both s.
        """
        with self._lock:
            self._fetch_all()
            heard_s = self._joints.heard_s()
            return heard_s, self._joints.value().stamp_s

    def state_age_s(self) -> float:
        """Return the steady time since the last good world/object_states, s; infinite before the first."""
        with self._lock:
            self._fetch_all()
            return time.monotonic() - self._states.heard_s()

    def has_geometry(self) -> bool:
        """Check whether a good message of world/objects has come."""
        return self._geometry.message is not None

    def drop(self) -> None:
        """Remove what moves: the time has jumped back, so it belongs to another run. Latched geometry is kept."""
        with self._lock:
            self._fetch_all()  # also the unread messages of before the jump
            for intake in (self._joints, *self._others()):
                if intake is not self._geometry:
                    intake.drop()
            self._base = None

    def _world(self) -> World:
        states, contacts, joints = self._states.value(), self._contacts.value(), self._joints.value()
        version, objects = self._geometry.value()
        planner_version, obstacles = self._planners.value()
        states_msg, contacts_msg = self._states.message, self._contacts.message
        return World(
            stamp_s=stamp_of(states_msg) if states_msg is not None else joints.stamp_s,
            version=version,
            objects=objects,
            states=states,
            contacts=contacts,
            contacts_stamp_s=stamp_of(contacts_msg) if contacts_msg is not None else 0.0,
            joints=with_parts(joints, objects, states),
            frames=self._known_frames(joints),
            suction={name: cup for name, intake in self._cups.items() if (cup := intake.value()) is not None},
            planner_version=planner_version,
            planner_objects=obstacles,
        )

    def _known_frames(self, joints: JointState) -> dict[str, Pose]:
        """Return the robot's frame: its root is static and looked up once, measured joints move a mobile base."""
        if self._base is None:
            try:
                self._base = self.world_T_base()
            except UnknownFrame:
                return {}
        base = self._robot.base
        if base is None:
            return {"robot": self._base}
        return {"robot": self._base @ link_poses(self._robot, joints.position)[base.link]}


def _needed_joints(robot: Robot) -> tuple[str, ...]:
    """Return the joints without which the robot counts as silent: those of its arms and of its base."""
    arms = [name for arm in robot.arms.values() for name in arm.joint_names]
    return (*arms, *(robot.base.joint_names if robot.base is not None else ()))
