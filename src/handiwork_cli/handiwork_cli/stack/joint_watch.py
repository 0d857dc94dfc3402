"""Measures whether the arm is at rest."""

from __future__ import annotations

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

        self._lock = threading.Lock()
        self._speed, self._stamp_s = float("inf"), 0.0
        node.create_subscription(JointState, "joint_states", self._on_joints, 1)

    def _on_joints(self, message: Any) -> None:
        speeds = [
            abs(v) for name, v in zip(message.name, message.velocity, strict=True) if "finger" not in name
        ]
        stamp = message.header.stamp
        with self._lock:
            self._speed, self._stamp_s = max(speeds, default=0.0), stamp.sec + 1e-9 * stamp.nanosec

    def now(self) -> tuple[float, float]:
        """Return the greatest joint speed [rad/s] and its time in the world [s]."""
        with self._lock:
            return self._speed, self._stamp_s

    def wait_still(self, timeout_s: float) -> tuple[float, float] | None:
        """Wait until the arm is at rest.

        Args:
            timeout_s: Longest wait in wall time, s.

        Returns:
            World time and wall time from now until then, s; None when it is not at rest in time.
        """
        begin_s, (_, world_s) = time.monotonic(), self.now()
        while time.monotonic() - begin_s < timeout_s:
            speed, stamp_s = self.now()
            if stamp_s > world_s and speed < JOINT_REST:
                return stamp_s - world_s, time.monotonic() - begin_s
            time.sleep(0.001)  # noqa: TID251 - a sample between two joint states
        return None
