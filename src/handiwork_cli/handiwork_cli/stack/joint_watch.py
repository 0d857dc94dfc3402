"""Measures whether the arm is at rest."""

from __future__ import annotations

import math
import threading
import time
from typing import TYPE_CHECKING, Any

from handiwork_core.model.thresholds import JOINT_REST

if TYPE_CHECKING:
    from rclpy.node import Node


class JointWatch:
    """The newest speed of the arm with its time. Finger joints are ignored.

    Args:
        node: Hosts the subscription; another thread spins it.
    """

    def __init__(self, node: Node) -> None:
        from sensor_msgs.msg import JointState

        self._changed = threading.Condition()
        self._speed, self._stamp_s = float("inf"), 0.0
        node.create_subscription(JointState, "joint_states", self._on_joints, 1)

    def _on_joints(self, message: Any) -> None:
        speeds = [
            abs(v) for name, v in zip(message.name, message.velocity, strict=True) if "finger" not in name
        ]
        stamp = message.header.stamp
        self._note(max(speeds, default=0.0), stamp.sec + 1e-9 * stamp.nanosec)

    def _note(self, speed: float, stamp_s: float) -> None:
        with self._changed:
            self._speed, self._stamp_s = speed, stamp_s
            self._changed.notify_all()

    def now(self) -> tuple[float, float]:
        """Return the greatest joint speed [rad/s] and its time in the world [s]."""
        with self._changed:
            return self._speed, self._stamp_s

    def wait_still(self, timeout_s: float) -> tuple[float, float] | None:
        """Wait until the arm is at rest.

        Args:
            timeout_s: Longest wait in wall time, s.

        Returns:
            World time and wall time from now until then, s; None when it is not at rest in time.
        """
        begin_s, (_, world_s) = time.monotonic(), self.now()
        with self._changed:
            if not self._changed.wait_for(
                lambda: self._stamp_s > world_s and self._speed < JOINT_REST, timeout_s
            ):
                return None
            return self._stamp_s - world_s, time.monotonic() - begin_s

    def wait_moving(self, timeout_s: float) -> bool:
        """Wait until the arm moves; return False when it does not in time.

        Args:
            timeout_s: Longest wait in wall time, s.
        """
        with self._changed:
            return self._changed.wait_for(self._moves, timeout_s)

    def wait_until(self, world_s: float, timeout_s: float) -> bool:
        """Wait for a time of the world, however fast that runs; return False when it has not come in time.

        Args:
            world_s: The time, s.
            timeout_s: Longest wait in wall time, s.
        """
        with self._changed:
            return self._changed.wait_for(lambda: self._stamp_s >= world_s, timeout_s)

    def _moves(self) -> bool:
        return JOINT_REST < self._speed < math.inf
