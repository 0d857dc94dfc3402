"""The watchdog of the robot, on the executor that receives its feedback."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from handiwork_core.intake.robot_watchdog import SILENCE_S, STEP_S, Feedback, RobotWatchdog
from handiwork_ros.rclpy_support.safe_callbacks import guard

from .world import RosWorldSource

PERIOD_S = STEP_S / 1.5
"""The period of the observations, s of steady time."""
SILENT_S = 1.0
"""The age of the newest good joint state from which on the reason describes the messages that came since, s."""


class RobotWatch:
    """Observes ``joint_states`` and the node's clock in steady time.

    It runs on the executor that receives the messages, so time in which that executor was delayed does not count.

    Args:
        node: Another thread spins it. Its clock is the clock of the robot's world.
        world: Receives ``joint_states``.
        limit_s: Returns the longest accepted silence of ``joint_states``, s; it grows with the delay that a simulation
            measures, since one that gets no processor moves no arm meanwhile.
    """

    def __init__(
        self, node: Node, world: RosWorldSource, limit_s: Callable[[], float] = lambda: SILENCE_S
    ) -> None:
        self._node, self._world, self._watchdog = node, world, RobotWatchdog()
        self._clock, self._limit_s = node.get_clock(), limit_s
        self._callbacks: list[Callable[[str], None]] = []
        self._why = ""
        self._observed_s = -math.inf
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(PERIOD_S, guard(node, self._observe), clock=steady)

    @property
    def why_lost(self) -> str:
        """The reason why the robot is lost now; empty while it is not lost. From any thread."""
        return self._why

    def why_refused(self) -> str:
        """Return the reason why a goal must be refused now; empty if it need not. From any thread.

        A robot that was silent is back with its first joint state, which may be younger than the last observation.
        """
        if self._watchdog.is_silent and self._world.joint_feedback()[0] > self._observed_s:
            return ""
        return self._why

    def on_loss(self, callback: Callable[[str], None]) -> None:
        """Call a function repeatedly while the robot is lost.

        Args:
            callback: Called with the reason on the executor's thread, at each observation.
        """
        self._callbacks.append(callback)

    def _observe(self) -> None:
        received_s, stamp_s = self._world.joint_feedback()
        clock_s = float(self._clock.now().nanoseconds) * 1e-9
        before = self._why
        now_s = time.monotonic()
        why = self._watchdog.observe(Feedback(now_s, received_s, stamp_s, clock_s), self._limit_s())
        if why and now_s - received_s > SILENT_S:
            why = f"{why}: {self._world.joint_silence()}"
        self._why, self._observed_s = why, received_s
        if self._why and not before and math.isfinite(received_s):
            self._node.get_logger().error(f"the robot is lost: {self._why}")
        for callback in self._callbacks if self._why else ():
            callback(self._why)
