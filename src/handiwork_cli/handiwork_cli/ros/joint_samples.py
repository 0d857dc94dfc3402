"""Positions of joints over a time, as a node receives them."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState

from handiwork_core.model.geometry import Array
from handiwork_ros.conversions import time_from_msg

APART_S = 0.015
"""Least time between two samples that are kept, s of the world."""
DEPTH = 10


class JointSamples:
    """Keeps the positions of joints from ``begin`` to ``end``.

    Args:
        node: Hosts the subscription; another thread spins it.
        names: Names of the joints.
    """

    def __init__(self, node: Node, names: Sequence[str]) -> None:
        self._names, self._lock = tuple(names), threading.Lock()
        self._times_s: list[float] | None = None
        self._positions = list[Array]()
        node.create_subscription(JointState, "joint_states", self._on_joints, DEPTH)

    def begin(self) -> None:
        """Forget what was kept, and keep samples from now on."""
        with self._lock:
            self._times_s, self._positions = [], []

    def end(self) -> tuple[list[float], list[Array]]:
        """Keep no further samples.

        Returns:
            The times, s of the world, and the positions at each, rad or m.
        """
        with self._lock:
            found = self._times_s or [], self._positions
            self._times_s = None
            return found

    def _on_joints(self, message: JointState) -> None:
        stamp_s = time_from_msg(message.header.stamp)
        with self._lock:
            times_s = self._times_s
            if times_s is None or (times_s and stamp_s < times_s[-1] + APART_S):
                return
            there = dict(zip(message.name, message.position, strict=False))
            if all(name in there for name in self._names):
                times_s.append(stamp_s)
                self._positions.append(np.array([there[name] for name in self._names]))
