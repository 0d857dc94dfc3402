"""Subscribes to all topics of the contract, whatever their quality of service, and keeps their messages."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from geometry_msgs.msg import TransformStamped
from handiwork_msgs.msg import Contacts, ObjectStates, SuctionState, WorldObjects
from rclpy.action import get_action_names_and_types
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from handiwork_check.contract import TopicRule
from handiwork_check.recording import (
    FrameMessage,
    JointSample,
    Publisher,
    Received,
    Recording,
)
from handiwork_ros.conversions import (
    BadMessage,
    contacts_from_msg,
    object_states_from_msg,
    suction_state_from_msg,
    time_from_msg,
    world_objects_from_msg,
)
from tf2_msgs.msg import TFMessage

DEPTH = 200
"""Queue depth: messages that may wait while this process is busy."""

LONGEST_WAIT_S = 60.0
"""A message that seems older comes from a middleware that gives no time of arrival, s."""

KEPT = 40
"""Number of contact messages that are kept."""

KINDS = {
    "sensor_msgs/msg/JointState": JointState,
    "rosgraph_msgs/msg/Clock": Clock,
    "tf2_msgs/msg/TFMessage": TFMessage,
    "std_msgs/msg/String": String,
    "handiwork_msgs/msg/WorldObjects": WorldObjects,
    "handiwork_msgs/msg/ObjectStates": ObjectStates,
    "handiwork_msgs/msg/Contacts": Contacts,
    "handiwork_msgs/msg/SuctionState": SuctionState,
}


class Listener:
    """Subscriptions of a node that another thread spins.

    ``faults`` has what could not be read, by topic.
    """

    def __init__(self, node: Node) -> None:
        self._node, self._lock = node, threading.Lock()
        self._received: dict[str, list[Received]] = {}
        self._joints: list[JointSample] = []
        self._frames: list[FrameMessage] = []
        self._contacts: list[Contacts] = []
        self._newest: dict[str, Any] = {}
        self.faults: dict[str, str] = {}
        self._is_recording = True
        self._subscriptions: dict[str, Any] = {}

    def await_publishers(self, rules: Sequence[TopicRule], patience_s: float) -> None:
        """Wait until every topic has a publisher, or the time is over.

        Args:
            rules: The topics.
            patience_s: Longest wait, s.
        """
        end_s, pause = time.monotonic() + patience_s, threading.Event()
        while time.monotonic() < end_s:
            if all(self._node.count_publishers(rule.name) for rule in rules if rule.is_read):
                return
            pause.wait(0.05)

    def subscribe(self, rules: Sequence[TopicRule]) -> None:
        """Subscribe with a QoS that every publisher of a topic can satisfy.

        Args:
            rules: The topics.
        """
        for rule in rules:
            if not rule.is_read:
                continue
            offers = self._node.get_publishers_info_by_topic(rule.name)
            offers = [offer.qos_profile for offer in offers if offer.topic_type == rule.type]
            reliable = all(offer.reliability == ReliabilityPolicy.RELIABLE for offer in offers)
            latched = all(offer.durability == DurabilityPolicy.TRANSIENT_LOCAL for offer in offers)
            if not offers:  # matches any later publisher; only its latched messages of before are missed
                reliable, latched = False, False
            profile = QoSProfile(
                depth=DEPTH,
                reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
                durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
            )
            take = self._taker(rule.name)
            made = self._node.create_subscription(KINDS[rule.type], rule.name, take, profile)
            self._subscriptions[rule.name] = made

    def _taker(self, topic: str) -> Callable[[Any, Any], None]:
        def take(message: Any, info: Any) -> None:
            try:
                with self._lock:
                    self._take(
                        topic, message, _received_s(info), int(info["publication_sequence_number"] or 0)
                    )
            except (BadMessage, ValueError) as error:
                self.faults[topic] = str(error)

        return take

    def _take(self, topic: str, message: Any, now_s: float, number: int) -> None:
        self._newest[topic] = message
        if topic == "/joint_states":
            stamp_s = time_from_msg(message.header.stamp)
            arrays = (tuple(message.name), tuple(message.position), tuple(message.velocity))
            self._joints.append(JointSample(now_s, stamp_s, *arrays))
        if not self._is_recording:
            return
        if topic in ("/tf", "/tf_static"):
            edges = tuple(_edge(one) for one in message.transforms)
            self._frames.append(FrameMessage(topic == "/tf_static", number, edges))
        if topic == "/world/contacts":
            self._contacts = [*self._contacts[-KEPT:], message]
        self._received.setdefault(topic, []).append(Received(now_s, _stamp_s(message)))

    def stop_recording(self) -> None:
        """Keep only the subscriptions of joints and cups, so that their messages are not late during a motion."""
        with self._lock:
            self._is_recording = False
        idle = [name for name in self._subscriptions if not name.endswith(("joint_states", "suction_state"))]
        gone = [self._subscriptions.pop(name) for name in idle]
        self._node.executor.create_task(lambda: [self._node.destroy_subscription(one) for one in gone])

    def newest(self, topic: str) -> Any:
        """Return the newest message of a topic; None before there is one.

        Args:
            topic: Full name.
        """
        with self._lock:
            return self._newest.get(topic)

    def joints_since(self, received_s: float) -> tuple[JointSample, ...]:
        """Return the ``joint_states`` that came at a steady time or later.

        Args:
            received_s: The time, s.
        """
        with self._lock:
            return tuple(sample for sample in self._joints if sample.received_s >= received_s)

    def suction(self, topic: str) -> Any:
        """Return the newest state of a cup; None before there is one.

        Args:
            topic: Full name of its state topic.
        """
        message = self.newest(topic)
        return None if message is None else suction_state_from_msg(message)

    def recording(self, rules: Sequence[TopicRule]) -> Recording:
        """Return all messages so far, and the publishers, services and actions of now.

        Args:
            rules: The topics.
        """
        services = {name: kinds[0] for name, kinds in self._node.get_service_names_and_types()}
        actions = {name: kinds[0] for name, kinds in get_action_names_and_types(self._node)}
        publishers = {rule.name: self._publishers(rule.name) for rule in rules}
        objects = self._decoded("/world/objects", world_objects_from_msg, {})
        states = self._decoded("/world/object_states", object_states_from_msg, {})
        with self._lock:
            lists = [self._decode("/world/contacts", contacts_from_msg, one, ()) for one in self._contacts]
            return Recording(
                {name: found for name, found in publishers.items() if found},
                services,
                actions,
                {topic: tuple(received) for topic, received in self._received.items()},
                tuple(self._joints),
                tuple(self._frames),
                objects,
                states,
                tuple(lists),
                time.time(),
            )

    def _publishers(self, topic: str) -> tuple[Publisher, ...]:
        return tuple(
            Publisher(
                f"{info.node_namespace.rstrip('/')}/{info.node_name}",
                info.topic_type,
                info.qos_profile.reliability == ReliabilityPolicy.RELIABLE,
                info.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL,
            )
            for info in self._node.get_publishers_info_by_topic(topic)
        )

    def _decoded(self, topic: str, decode: Callable[[Any], Any], nothing: Any) -> Any:
        message = self.newest(topic)
        return nothing if message is None else self._decode(topic, decode, message, nothing)

    def _decode(self, topic: str, decode: Callable[[Any], Any], message: Any, nothing: Any) -> Any:
        try:
            return decode(message)
        except (BadMessage, ValueError) as error:
            self.faults[topic] = str(error)
            return nothing


def _edge(message: TransformStamped) -> tuple[str, str]:
    return message.header.frame_id.lstrip("/"), message.child_frame_id.lstrip("/")


def _stamp_s(message: Any) -> float:
    """Return the stamp of a message [s]; 0 for one that has none."""
    if isinstance(message, Clock):
        return time_from_msg(message.clock)
    if isinstance(message, SuctionState):
        return time_from_msg(message.stamp)
    if isinstance(message, TFMessage):
        return time_from_msg(message.transforms[0].header.stamp) if message.transforms else 0.0
    return time_from_msg(message.header.stamp) if hasattr(message, "header") else 0.0


def _received_s(info: Any) -> float:
    """Return the arrival time of a message at the middleware, in steady time: it may have waited here since."""
    age_s = 1e-9 * (time.time_ns() - int(info["received_timestamp"] or 0))
    return time.monotonic() - (age_s if 0.0 < age_s < LONGEST_WAIT_S else 0.0)
