"""Implements the Clock port on ROS time."""

from __future__ import annotations

import time

from rclpy.node import Node

from handiwork_core.contracts.planning import ShouldStop

POLL_S = 0.005


class RosClock:
    """The node's clock: simulated time if the node uses it. For worker threads, while another thread spins the node.

    Args:
        node: The node.
    """

    def __init__(self, node: Node) -> None:
        self._clock = node.get_clock()

    def now_s(self) -> float:
        """Return the time, s."""
        return float(self._clock.now().nanoseconds) * 1e-9

    def sleep(self, seconds: float, *, should_stop: ShouldStop) -> None:
        """Wait for a time, or until the caller must stop, or until the time jumps back.

        Args:
            seconds: The time, s of ROS time.
            should_stop: Returns True when the wait must end.
        """
        start_s = self.now_s()
        while 0.0 <= self.now_s() - start_s < seconds and not should_stop():
            time.sleep(POLL_S)  # noqa: TID251 - ROS time may jump or be paused
