"""The Clock port on ROS time."""

from __future__ import annotations

import time

from rclpy.node import Node

from handiwork_core.contracts.planning import ShouldStop

POLL_S = 0.005


class RosClock:
    """Simulated time where the node uses it. For worker threads: the node's executor must spin meanwhile."""

    def __init__(self, node: Node) -> None:
        self._clock = node.get_clock()

    def now_s(self) -> float:
        """Seconds."""
        return float(self._clock.now().nanoseconds) * 1e-9

    def sleep(self, seconds: float, *, should_stop: ShouldStop) -> None:
        """Return after ``seconds`` of ROS time, when stopped, or when time jumps back."""
        start_s = self.now_s()
        while 0.0 <= self.now_s() - start_s < seconds and not should_stop():
            time.sleep(POLL_S)  # noqa: TID251 - ROS time may jump or stand
