"""Measures joints, contacts and the server's status of each goal while faults are injected."""

from __future__ import annotations

import math
import threading
import time
from typing import Any

from action_msgs.msg import GoalStatus, GoalStatusArray
from handiwork_msgs.msg import Contacts
from rclpy.node import Node
from rclpy.qos import qos_profile_action_status_default
from sensor_msgs.msg import JointState

from handiwork_core.model.thresholds import ARM_MOVES_RAD_S
from handiwork_ros.rclpy_support.qos import STREAM

from .rogue import MARK

ACTIONS = ("pick", "place", "run_skill", "run_task")


class Observer:
    """Subscribes to the contract's topics and ignores messages that the run has forged. Any thread may use it.

    Args:
        node: Hosts the subscriptions; another thread spins it.
        robot: Name of the robot; its bodies are ``<robot>/<link>``.
        fixtures: Names of the bodies that the arm must not touch.
        wall: Name of a body that appears during motions; its forces are counted by themselves.
    """

    def __init__(self, node: Node, robot: str, fixtures: frozenset[str], wall: str) -> None:
        self._lock = threading.Lock()
        self._prefix, self._fixtures, self._wall = f"{robot}/", fixtures, wall
        self._statuses: dict[bytes, int] = {}
        self._fastest: tuple[str, float] | None = None
        self._speed = 0.0
        self.received_s = -math.inf
        """The steady time of the newest true joint state."""
        self.greatest_force_n = 0.0
        self.force_bodies: tuple[str, str] | None = None
        self.greatest_wall_force_n = 0.0
        node.create_subscription(JointState, "joint_states", self._on_joints, STREAM)
        node.create_subscription(Contacts, "world/contacts", self._on_contacts, STREAM)
        for action in ACTIONS:
            node.create_subscription(
                GoalStatusArray,
                f"{action}/_action/status",
                self._on_statuses,
                qos_profile_action_status_default,
            )

    @property
    def is_moving(self) -> bool:
        """True while a joint moves, by the newest measurement."""
        with self._lock:
            return self._speed > ARM_MOVES_RAD_S

    def clear_motion(self) -> None:
        """Forget the motion so far."""
        with self._lock:
            self._fastest = None

    def motion(self) -> tuple[str, float] | None:
        """Return the fastest joint since ``clear_motion`` with its speed [rad/s or m/s]; None when none moved."""
        with self._lock:
            return self._fastest

    def succeeded(self) -> frozenset[bytes]:
        """Return the ids of the goals whose success the server has reported."""
        with self._lock:
            return frozenset(k for k, v in self._statuses.items() if v == GoalStatus.STATUS_SUCCEEDED)

    def running(self) -> frozenset[bytes]:
        """Return the ids of the goals that the server has accepted and not ended."""
        active = (GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING, GoalStatus.STATUS_CANCELING)
        with self._lock:
            return frozenset(k for k, v in self._statuses.items() if v in active)

    def _on_statuses(self, message: Any) -> None:
        with self._lock:
            for status in message.status_list:
                self._statuses[bytes(status.goal_info.goal_id.uuid)] = status.status

    def _on_joints(self, message: Any) -> None:
        if message.header.frame_id == MARK:
            return
        speeds = {name: abs(v) for name, v in zip(message.name, message.velocity, strict=False)}
        with self._lock:
            self.received_s = time.monotonic()
            joint, self._speed = max(speeds.items(), key=lambda item: item[1], default=("", 0.0))
            if self._speed > ARM_MOVES_RAD_S and (self._fastest is None or self._speed > self._fastest[1]):
                self._fastest = joint, self._speed

    def _on_contacts(self, message: Any) -> None:
        if message.header.frame_id == MARK:
            return
        for contact in message.contacts:
            bodies = (contact.a, contact.b)
            if any(body.startswith(self._prefix) for body in bodies):
                self._note_force(bodies, math.hypot(contact.force.x, contact.force.y, contact.force.z))

    def _note_force(self, bodies: tuple[str, str], force_n: float) -> None:
        """Keep the greatest force of the arm on a fixture, and on the wall."""
        with self._lock:
            if self._wall in bodies:
                self.greatest_wall_force_n = max(force_n, self.greatest_wall_force_n)
            elif force_n > self.greatest_force_n and any(body in self._fixtures for body in bodies):
                self.greatest_force_n, self.force_bodies = force_n, bodies
