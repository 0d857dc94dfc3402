"""The topics of the world: their subscriptions, and the newest good message of each."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from handiwork_msgs.msg import Contacts, ObjectStates, PlanningScene, WorldObjects
from handiwork_msgs.msg import SuctionState as SuctionStateMsg
from rclpy.node import Node
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState as JointStateMsg

from handiwork_core.model.suction import SuctionState
from handiwork_core.model.world import (
    Contact,
    ObjectState,
)
from handiwork_core.robot.robot import Robot
from handiwork_ros.cdr.row_reader import ContactsDecoder, StatesDecoder
from handiwork_ros.conversions import suction_state_from_msg
from handiwork_ros.intake.attachment_intake import AttachmentIntake
from handiwork_ros.intake.topic_intake import (
    Complain,
    GeometryIntake,
    JointIntake,
    TopicIntake,
    taken,
)
from handiwork_ros.rclpy_support.polled_group import PolledGroup
from handiwork_ros.rclpy_support.qos import LATCHED, STREAM, STREAM_FETCHED
from handiwork_ros.rclpy_support.safe_callbacks import guard


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
    """The obstacles and attachments that were given to the planner only."""
    on_demand: bool = False
    """States do not wake the executor either.

    This is for nodes that take snapshots rarely: each message would take Python's lock from other threads.
    """
    moving_frames: bool = False
    """The moving frames of tf beside the static ones, refused once they are older than ``frames.FRESH_S``."""


class WorldTopics:
    """The subscriptions of a node to the world. The lock is held while ``fetch`` is called or a message is read.

    Attributes:
        geometry: Geometry of objects.
        states: Poses and twists of objects, by name.
        contacts: Contacts; None before the first message.
        joints: Joint states.
        cups: States of suction cups, by name of the gripper.
        planners: The obstacles that were given to the planner only.
        attached: The objects that were attached by the planner's service.

    Args:
        node: Hosts the subscriptions.
        robot: Description of the robot.
        wanted: The streams to subscribe to.
        lock: Protects the messages.
    """

    def __init__(self, node: Node, robot: Robot, wanted: Subscriptions, lock: threading.Lock) -> None:
        self._robot, self._lock = robot, lock
        complain = node.get_logger().warning
        self.geometry = GeometryIntake("world/objects", self._lock, complain)
        self.states: TopicIntake[dict[str, ObjectState]] = TopicIntake(
            "world/object_states", StatesDecoder(), {}, self._lock, complain, ObjectStates
        )
        self.contacts: TopicIntake[tuple[Contact, ...] | None] = TopicIntake(
            "world/contacts", ContactsDecoder(), None, self._lock, complain, Contacts
        )
        self.joints = JointIntake(needed_joints(robot), self._lock, complain)
        self.cups: dict[str, TopicIntake[SuctionState | None]] = {}
        # A second planner of the name does not start, so this topic is not watched for a second publisher.
        self.planners = GeometryIntake("planner/obstacles", self._lock, complain)
        self.attached = AttachmentIntake("planner/attached", self._lock, complain)
        if wanted.planner:
            topic = "planner/obstacles"
            node.create_subscription(WorldObjects, topic, self.planners.take, LATCHED, raw=True)
            topic = "planner/attached"
            node.create_subscription(PlanningScene, topic, self.attached.take, LATCHED, raw=True)
        self._fetched: list[tuple[Subscription, TopicIntake[Any]]] = []
        if wanted.objects:
            self._objects_sub = node.create_subscription(
                WorldObjects, "world/objects", self.geometry.take, LATCHED, raw=True
            )
        if wanted.on_states is None and not wanted.on_demand:
            self._subscribe(node, wanted, complain)
        else:
            self._subscribe_for_polling(node, wanted)
            if wanted.cups:
                self._subscribe_to_cups(node, complain)

    def _subscribe(self, node: Node, wanted: Subscriptions, complain: Complain) -> None:
        if wanted.contacts:
            self._subscribe_to_cups(node, complain)
        streams: list[tuple[bool, Any, str, TopicIntake[Any]]] = [
            (wanted.objects, ObjectStates, "world/object_states", self.states),
            (wanted.contacts, Contacts, "world/contacts", self.contacts),
            (wanted.joints, JointStateMsg, "joint_states", self.joints),
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
                cup = self.cups[arm.gripper.name] = TopicIntake(
                    topic, suction_state_from_msg, None, self._lock, complain
                )
                node.create_subscription(SuctionStateMsg, topic, cup.take, STREAM)

    def _subscribe_for_polling(self, node: Node, wanted: Subscriptions) -> None:
        group = PolledGroup()
        streams: list[tuple[bool, Any, str, TopicIntake[Any]]] = [
            (wanted.on_demand, ObjectStates, "world/object_states", self.states),
            (wanted.contacts, Contacts, "world/contacts", self.contacts),
            (wanted.joints, JointStateMsg, "joint_states", self.joints),
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
            self.states.take(message, info)
            notify()

        self._states_sub = node.create_subscription(
            ObjectStates, "world/object_states", take, STREAM, raw=True
        )

    def others(self) -> tuple[TopicIntake[Any], ...]:
        """Return the intakes of all topics except ``joint_states``."""
        return (self.geometry, self.states, self.contacts, *self.cups.values())

    def fetch(self) -> None:
        """Take the messages that did not wake the executor; with the lock held."""
        for sub, intake in self._fetched:
            if found := taken(sub):
                intake.offer(found)


def needed_joints(robot: Robot) -> tuple[str, ...]:
    """Return the joints without which the robot counts as silent: those of its arms and of its base.

    Args:
        robot: The robot.
    """
    arms = [name for arm in robot.arms.values() for name in arm.joint_names]
    return (*arms, *(robot.base.joint_names if robot.base is not None else ()))
