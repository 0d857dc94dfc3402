"""Monitors which nodes are alive, by the bonds to their DDS writers, in steady time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from handiwork_msgs.msg import NodeStatus
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from handiwork_ros.rclpy_support.qos import BOND_READER
from handiwork_ros.rclpy_support.safe_callbacks import guard
from handiwork_ros.rclpy_support.service_call import on_executor
from handiwork_ros.rclpy_support.silence_limits import SILENCE_S, SchedulingDelay, silence_limit_s

from .bond import Bond
from .bond_events import BondEvent, EventKind, Loss, Sign
from .bond_topic import BOND_TOPIC, AliveWriters, bond_topic, sample_of, writers_of
from .process_identity import ProcessEndWatch

__all__ = ["SILENCE_S", "Heartbeats", "Loss", "Sign"]

LOOK_S = 0.25
"""The period of the checks, s."""
LAG_S = 0.3
"""The lateness of a check from which on this process was delayed, and may not have read its messages, s."""

READING_S = 0.5
"""The time to read the messages after a delay before the next verdict, s; longer than a node's pause between two."""


class _Peer:
    """The bond to one node with its subscription."""

    def __init__(self, bond: Bond) -> None:
        self.bond = bond
        self.subscription: Any = None
        self.alive: AliveWriters | None = None
        self.on_loss: list[Callable[[str], None]] = []
        self.on_return: list[tuple[bytes, Callable[[], None]]] = []


class Heartbeats:
    """Bonds to the nodes whose names are queried. Its queries are safe from any thread.

    Args:
        node: Hosts the subscriptions.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._lock = threading.RLock()
        self._peers: dict[str, _Peer] = {}
        now_s = time.monotonic()
        self._delay = SchedulingDelay(LOOK_S, now_s)
        self._looked_s, self._held_up_s = now_s, float("-inf")
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(LOOK_S, guard(node, self._look), clock=steady)

    def watch(self, *names: str) -> None:
        """Bond to nodes, which the first query of a name does as well. From any thread.

        Args:
            names: Names of the nodes, without their namespace.
        """
        for name in names:
            self._peer(name)

    def sign(self, name: str) -> Sign | None:
        """Return the newest status of a node's bonded writer.

        Args:
            name: Name of the node.

        Returns:
            The status; None if there never was one.
        """
        with self._lock:
            return self._peer(name).bond.sign

    def names(self) -> tuple[str, ...]:
        """Return the names of all bonded nodes, and of all other nodes whose bond has a writer in the graph."""
        prefix = self._node.resolve_topic_name(BOND_TOPIC) + "/"
        topics = [topic for topic, _ in self._node.get_topic_names_and_types() if topic.startswith(prefix)]
        listed = [topic for topic in topics if self._node.count_publishers(topic)]
        with self._lock:
            found = {topic.removeprefix(prefix) for topic in listed} | set(self._peers)
        return tuple(sorted(name for name in found if "/" not in name))

    def silence_s(self, name: str, never_s: float = float("-inf")) -> float:
        """Return the time for which a node has been silent, s.

        Args:
            name: Name of the node.
            never_s: Begin of the silence of a node from which no message ever came, s of steady time.

        Returns:
            The silence, s; zero while this process is delayed itself, because then the node is not to blame.
        """
        sign, now_s = self.sign(name), time.monotonic()
        if self._is_held_up(now_s):
            return 0.0
        return now_s - (never_s if sign is None else sign.heard_s)

    def limit_s(self, name: str, base_s: float = SILENCE_S) -> float:
        """Return the longest accepted silence of a node, given the delays that the node and this process measure, s.

        Args:
            name: Name of the node.
            base_s: Longest silence on a machine without delays, s.
        """
        with self._lock:
            return self._peer(name).bond.limit_s(base_s, self._delay.greatest_s(time.monotonic()))

    def stream_limit_s(self, base_s: float, *names: str) -> float:
        """Return the longest accepted silence of a stream, given the delays that those measure who may send it.

        The delay of this process does not count: who observes a stream leaves out the time in which it was held up.

        Args:
            base_s: Longest silence on a machine without delays, s.
            names: Names of the nodes; one that is not there, or is lost, has no delay.
        """
        with self._lock:
            bonds = (self._peer(name).bond for name in names)
            return silence_limit_s(base_s, *(bond.delay_s for bond in bonds if bond.loss is Loss.NONE))

    def loss(self, name: str) -> tuple[Loss, str]:
        """Return the kind and the reason of a node's loss; a node from which no message came yet is not lost.

        Args:
            name: Name of the node.
        """
        with self._lock:
            bond = self._peer(name).bond
            return bond.loss, bond.reason

    def is_alive(self, name: str) -> bool:
        """Check whether a status of the node came, and the node is not lost and does not shut down.

        Args:
            name: Name of the node.
        """
        with self._lock:
            bond = self._peer(name).bond
            return bond.sign is not None and bond.loss is Loss.NONE

    def is_active(self, name: str) -> bool:
        """Check whether the node is alive and in the state active.

        Args:
            name: Name of the node.
        """
        sign = self.sign(name)
        return sign is not None and sign.state == NodeStatus.ACTIVE and self.is_alive(name)

    def pid(self, name: str) -> int | None:
        """Return the process id of a node; None if no status of it ever came.

        Args:
            name: Name of the node.
        """
        sign = self.sign(name)
        return None if sign is None else sign.pid

    def gid(self, name: str) -> bytes | None:
        """Return the GID of the bonded writer, which changes with a restart; None if no status of the node ever came.

        Args:
            name: Name of the node.
        """
        sign = self.sign(name)
        return None if sign is None else sign.gid

    def on_loss(self, name: str, callback: Callable[[str], None]) -> None:
        """Call a function at each loss of a node: it falls silent, shuts down, ends or was restarted.

        Args:
            name: Name of the node.
            callback: Called with the name on the executor's thread.
        """
        with self._lock:
            self._peer(name).on_loss.append(callback)

    def on_return(self, name: str, callback: Callable[[], None]) -> None:
        """Call a function once if a message of the writer that is lost now comes again.

        Args:
            name: Name of the node.
            callback: Called on the executor's thread; not called for a new writer after a restart.
        """
        with self._lock:
            peer = self._peer(name)
            if peer.bond.sign is not None:
                peer.on_return.append((peer.bond.sign.gid, callback))

    def close(self) -> None:
        """Release the resources of the bonds; to be called once the node is not spun any more."""
        with self._lock:
            for peer in self._peers.values():
                peer.bond.close()
                if peer.alive is not None:
                    peer.alive.close()

    def _peer(self, name: str) -> _Peer:
        with self._lock:
            if name not in self._peers:
                self._peers[name] = _Peer(Bond(name, ProcessEndWatch))
                if self._node.executor is None:
                    self._subscribe(name)
                else:
                    on_executor(self._node, guard(self._node, lambda: self._subscribe(name)))
            return self._peers[name]

    def _subscribe(self, name: str) -> None:
        peer = self._peers[name]

        def on_status(message: NodeStatus, info: Any) -> None:
            numbers = int(info["publication_sequence_number"]), int(info["source_timestamp"])
            sample = sample_of(message, *numbers)
            with self._lock:
                events = peer.bond.receive(sample, time.monotonic(), lambda: writers_of(self._node, name))
            self._publish(name, peer, events)

        receive = guard(self._node, on_status)

        def callback(message: NodeStatus, info: Any) -> None:
            receive(message, info)  # rclpy counts the parameters, so they must be two

        peer.subscription = self._node.create_subscription(
            NodeStatus, bond_topic(name), callback, BOND_READER
        )
        peer.alive = AliveWriters(peer.subscription)

    def _look(self) -> None:
        now_s = time.monotonic()
        if self._delay.tick(now_s) > LAG_S:
            self._held_up_s = now_s
        self._looked_s = now_s
        for name, peer in list(self._peers.items()):
            with self._lock:
                events = (
                    peer.bond.check_process() if self._is_held_up(now_s) else self._judge(name, peer, now_s)
                )
            self._publish(name, peer, events)

    def _judge(self, name: str, peer: _Peer, now_s: float) -> list[BondEvent]:
        alive = None if peer.alive is None else peer.alive.count()
        delay_s = self._delay.greatest_s(now_s)
        return peer.bond.look(now_s, delay_s, lambda: writers_of(self._node, name), alive)

    def _is_held_up(self, now_s: float) -> bool:
        return now_s - self._looked_s > LOOK_S + LAG_S or now_s - self._held_up_s < READING_S

    def _publish(self, name: str, peer: _Peer, events: list[BondEvent]) -> None:
        """Call the callbacks of these events; without the lock, because callbacks may call queries."""
        for event in events:
            if event.kind is EventKind.INTRUDER or peer.on_loss:
                self._node.get_logger().warning(event.text)
            if event.kind is EventKind.LOST:
                for callback in list(peer.on_loss):
                    callback(name)
        if peer.on_return and self.is_alive(name):
            gid = self.gid(name)
            waiting, peer.on_return = peer.on_return, []
            for wanted, resume in waiting:
                if wanted == gid:
                    resume()
