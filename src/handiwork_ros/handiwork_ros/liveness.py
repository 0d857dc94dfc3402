"""Who is alive, by ``handiwork/status``, in steady time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from handiwork_msgs.msg import NodeStatus
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from .guards import guard
from .managed_node import STATUS_TOPIC
from .qos import STATUS

SILENCE_S = 1.2
"""Silence after which a node is dead, or a robot lost [s of steady time]."""

LOOK_S = 0.25
LAG_S = 0.3
"""A look that is later than this shows that the judging process itself was held up, and may not have read its mail."""

HEARING_S = 0.5
"""Time to read the mail after a lag, before the next verdict; longer than the pause between two signs of a node."""


@dataclass(frozen=True)
class Sign:
    """The newest life sign of one node; ``heard_s`` is steady time."""

    heard_s: float
    state: int
    message: str
    pid: int


class LifeSigns:
    """Listens to every node's status. Its queries are safe from any thread."""

    def __init__(self, node: Node) -> None:
        self._lock = threading.Lock()
        self._signs: dict[str, Sign] = {}
        self._watched: dict[str, list[Callable[[str], None]]] = {}
        self._told: set[str] = set()
        self._looked_s = time.monotonic()
        self._held_up_s = float("-inf")
        self._sub = node.create_subscription(NodeStatus, STATUS_TOPIC, guard(node, self._on_status), STATUS)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(LOOK_S, guard(node, self._look), clock=steady)

    def sign(self, name: str) -> Sign | None:
        """The newest sign of a node, or None when it was never heard."""
        with self._lock:
            return self._signs.get(name)

    def names(self) -> tuple[str, ...]:
        """Every node that was ever heard."""
        with self._lock:
            return tuple(sorted(self._signs))

    def silence_s(self, name: str, never_s: float = float("-inf")) -> float:
        """How long a node has been silent [s]; one that was never heard counts from the steady time ``never_s``.

        Zero while this process is held up itself: then nobody else is to blame.
        """
        sign, now_s = self.sign(name), time.monotonic()
        if now_s - self._looked_s > LOOK_S + LAG_S or now_s - self._held_up_s < HEARING_S:
            return 0.0
        return now_s - (never_s if sign is None else sign.heard_s)

    def is_alive(self, name: str, within_s: float = SILENCE_S) -> bool:
        """True when the node was heard within the last ``within_s`` and did not say good-bye."""
        sign = self.sign(name)
        if sign is None or sign.state == NodeStatus.SHUTTING_DOWN:
            return False
        return self.silence_s(name) <= within_s

    def is_active(self, name: str, within_s: float = SILENCE_S) -> bool:
        """True when the node is alive and serves."""
        sign = self.sign(name)
        return sign is not None and sign.state == NodeStatus.ACTIVE and self.is_alive(name, within_s)

    def pid(self, name: str) -> int | None:
        """Process id, which changes with a restart; None when never heard."""
        sign = self.sign(name)
        return None if sign is None else sign.pid

    def on_loss(self, name: str, callback: Callable[[str], None]) -> None:
        """Call ``callback(name)`` on the executor's thread when the node falls silent, ends or was restarted."""
        with self._lock:
            self._watched.setdefault(name, []).append(callback)

    def _on_status(self, msg: NodeStatus) -> None:
        with self._lock:
            before = self._signs.get(msg.node)
            self._signs[msg.node] = Sign(time.monotonic(), msg.state, msg.message, msg.pid)
            restarted = before is not None and before.pid != msg.pid and msg.node not in self._told
            if msg.state != NodeStatus.SHUTTING_DOWN:
                self._told.discard(msg.node)
        if restarted:
            self._tell(msg.node)

    def _look(self) -> None:
        now_s = time.monotonic()
        if now_s - self._looked_s > LOOK_S + LAG_S:
            self._held_up_s = now_s
        self._looked_s = now_s
        for name in list(self._watched):
            if self.sign(name) is not None and not self.is_alive(name) and name not in self._told:
                self._told.add(name)
                self._tell(name)

    def _tell(self, name: str) -> None:
        for callback in self._watched.get(name, []):
            callback(name)
