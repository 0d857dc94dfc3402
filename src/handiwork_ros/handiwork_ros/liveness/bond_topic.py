"""The topic of a node's bond: its name, its writer, and the information of DDS on its writers."""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from typing import Any

from handiwork_msgs.msg import NodeStatus
from rclpy.event_handler import QoSSubscriptionEventType, UnsupportedEventTypeError
from rclpy.node import Node
from rclpy.subscription import Subscription

from handiwork_ros.rclpy_support.qos import BOND, STATUS
from handiwork_ros.rclpy_support.rclpy_internals import event_handle

from .bond_events import BondWriter, Sample
from .process_identity import host_name, process_space

STATUS_TOPIC = "handiwork/status"
BOND_TOPIC = "handiwork/bond"
LISTED_S = 1.0
"""The longest time until the graph lists a writer of this process, s; Fast DDS lists it at once."""


def bond_topic(name: str) -> str:
    """Return the topic of a node's bond, relative to the node's namespace.

    Args:
        name: Name of the node, without its namespace.
    """
    return f"{BOND_TOPIC}/{name}"


def writers_of(node: Node, name: str) -> tuple[BondWriter, ...]:
    """Return the writers of a bond that the graph lists.

    Args:
        node: Its graph is queried, and its namespace is that of the bond.
        name: Name of the bond's node, without its namespace.
    """
    topic = node.resolve_topic_name(bond_topic(name))
    listed = node.get_publishers_info_by_topic(topic)
    return tuple(BondWriter(bytes(info.endpoint_gid), info.node_name) for info in listed)


def sample_of(message: NodeStatus, sequence: int, source_ns: int) -> Sample:
    """Convert a message to a value without ROS types.

    Args:
        message: The message; a duration that is not finite counts as 0.
        sequence: Sequence number that DDS gave the message.
        source_ns: Source timestamp of DDS, ns.
    """
    delay_s, sole_for_s = (
        value if math.isfinite(value) else 0.0 for value in (message.scheduling_delay, message.sole_for)
    )
    return Sample(
        gid=bytes(message.bond_gid),
        sequence=sequence,
        source_ns=source_ns,
        state=message.state,
        message=message.message,
        pid=message.pid,
        host=message.host,
        process_space=message.process_space,
        delay_s=delay_s,
        is_leaving=message.state == NodeStatus.SHUTTING_DOWN,
        is_sole=message.is_sole,
        sole_for_s=sole_for_s,
    )


class StatusWriter:
    """Publishes a node's status for people and, as its sign of life, for the nodes that are bonded to it.

    The bond's writer has DDS liveliness MANUAL_BY_TOPIC, so only ``publish`` asserts it: a node whose executor is
    blocked loses it in the same way as a node whose process has ended. Call ``publish`` on the executor's thread.
    """

    def __init__(self, node: Node, name: str) -> None:
        """Create the writers.

        Args:
            node: Hosts the writers; it must have the name ``name``, otherwise readers take it for a stranger.
            name: Name of the node whose status is published.

        Raises:
            RuntimeError: The graph does not list the new writer.
        """
        self._status = node.create_publisher(NodeStatus, STATUS_TOPIC, STATUS)
        before = {writer.gid for writer in writers_of(node, name)}
        self._bond = node.create_publisher(NodeStatus, bond_topic(name), BOND)
        self.gid = _own_gid(node, name, before)
        """GID of the bond's writer in the ROS graph."""

    def publish(self, status: NodeStatus) -> None:
        """Fill in the identity of the process, and publish.

        Args:
            status: The status; its fields for process and writer are overwritten.
        """
        status.pid, status.host, status.process_space = os.getpid(), host_name(), process_space()
        status.bond_gid = list(self.gid)
        self._status.publish(status)
        self._bond.publish(status)


def _own_gid(node: Node, name: str, before: set[bytes]) -> bytes:
    """Return the GID of the writer that was just created: the new one of this node's DDS participant."""
    end_s, pause = time.monotonic() + LISTED_S, threading.Event()
    while not (new := [w.gid for w in writers_of(node, name) if w.gid not in before]):
        if time.monotonic() > end_s:
            raise RuntimeError(f"node {name!r}: the ROS graph does not list the writer of its own bond")
        pause.wait(0.01)
    if len(new) == 1:
        return new[0]
    # Another node of this name was discovered meanwhile. The first twelve bytes of a GID are the participant's.
    probe_topic = f"{bond_topic(name)}/gid_{os.urandom(8).hex()}"
    probe = node.create_publisher(NodeStatus, probe_topic, STATUS)
    listed = node.get_publishers_info_by_topic(node.resolve_topic_name(probe_topic))
    prefix = bytes(listed[0].endpoint_gid)[:12] if listed else b""
    node.destroy_publisher(probe)
    own = [gid for gid in new if gid[:12] == prefix]
    if len(own) != 1:
        raise RuntimeError(f"node {name!r}: the ROS graph does not list the writer of its own bond")
    return own[0]


class AliveWriters:
    """Reads from DDS how many writers of a subscription are alive.

    rclpy serves QoS events as waitables, which ``PollingExecutor`` checks once a second; taking the event is enough.

    Args:
        subscription: The subscription.
    """

    def __init__(self, subscription: Subscription) -> None:
        kind = QoSSubscriptionEventType.RCL_SUBSCRIPTION_LIVELINESS_CHANGED
        self._event: Any = None
        with contextlib.suppress(UnsupportedEventTypeError), subscription.handle:
            self._event = event_handle(subscription, kind)

    def count(self) -> int | None:
        """Return the number of writers that have asserted their liveliness in time; None if DDS does not report it."""
        if self._event is None:
            return None
        with self._event:
            info = self._event.take_event()
        return None if info is None else int(info.alive_count)

    def close(self) -> None:
        """Release the event, which otherwise keeps the subscription and its node in the ROS graph."""
        event, self._event = self._event, None
        if event is not None:
            event.destroy_when_not_in_use()
