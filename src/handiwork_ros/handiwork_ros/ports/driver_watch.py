"""Reads what the drivers of arms report: stops of the robot itself, and the speed scaling."""

from __future__ import annotations

import importlib
import math
import time
from dataclasses import dataclass, field
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import Float64

from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.robot.driver import Driver, StopSignal, stop_text
from handiwork_core.robot.robot import Robot
from handiwork_ros.intake.topic_intake import taken
from handiwork_ros.rclpy_support.polled_group import PolledGroup
from handiwork_ros.rclpy_support.qos import LATCHED, STREAM
from handiwork_ros.rclpy_support.safe_callbacks import guard

PERIOD_S = 0.1
"""The period of reading, s of steady time: one driver publishes its state a thousand times a second."""
SILENT_S = 2.0
"""The age from which on a speed scaling is not known any more, s of steady time."""


@dataclass
class _Signal:
    """A signal of one arm, with its newest value."""

    arm: str
    spec: StopSignal
    subscription: Any
    value: int | None = None


@dataclass
class _Scaling:
    """The speed scaling of one arm."""

    subscription: Any
    value: float = math.nan
    received_s: float = field(default=-math.inf)


class DriverWatch:
    """Follows the drivers that ``robot.yaml`` names; without one it does nothing. Its methods are for any thread.

    Args:
        node: Another thread spins it.
        robot: The robot.
    """

    def __init__(self, node: Node, robot: Robot) -> None:
        self._node, self._arms = node, tuple(robot.arms)
        self._group = PolledGroup()
        self._signals: list[_Signal] = []
        self._scalings: dict[str, _Scaling] = {}
        self.unreadable: dict[str, str] = {}
        """Topics whose type is not installed, with the type."""
        for name, arm in robot.arms.items():
            if arm.driver is not None:
                self._subscribe(name, arm.driver)
        if self._signals or self._scalings:
            steady = Clock(clock_type=ClockType.STEADY_TIME)
            self._timer = node.create_timer(PERIOD_S, guard(node, self._read), clock=steady)

    def stopped(self, arm: str) -> Outcome | None:
        """Return ROBOT_STOPPED with what to do while the robot itself has stopped an arm; None while it has not.

        Args:
            arm: Name of the arm.
        """
        for signal in self._signals:
            if signal.arm == arm and signal.value is not None and signal.value in signal.spec.states:
                return Outcome(Code.ROBOT_STOPPED, stop_text(arm, signal.spec.states[signal.value]))
        return None

    def refusal(self) -> Outcome | None:
        """Return why no arm of the robot can move; None while one can."""
        stops = [self.stopped(arm) for arm in self._arms]
        return stops[0] if stops and all(stop is not None for stop in stops) else None

    def scaling(self, arm: str) -> float | None:
        """Return the speed scaling of an arm as its driver publishes it; None if it is not known.

        Versions of one driver publish a share, and others percent, so that only 0 has a meaning by itself.

        Args:
            arm: Name of the arm.
        """
        found = self._scalings.get(arm)
        if found is None or time.monotonic() - found.received_s > SILENT_S:
            return None
        return found.value

    def has_signal(self, arm: str) -> bool:
        """Check whether the driver of an arm has reported anything of its stops.

        Args:
            arm: Name of the arm.
        """
        return any(signal.arm == arm and signal.value is not None for signal in self._signals)

    def _subscribe(self, arm: str, driver: Driver) -> None:
        for spec in driver.signals:
            topic, kind = driver.topic(spec.topic), message_type(spec.type)
            if kind is None:
                self.unreadable[topic] = spec.type
                text = f"{topic}: {spec.type} is not installed, its stops are not seen; source the driver's workspace"
                self._node.get_logger().warning(text)
                continue
            made = self._polled(kind, topic, LATCHED if spec.latched else STREAM)
            self._signals.append(_Signal(arm, spec, made))
        if driver.speed_scaling:
            made = self._polled(Float64, driver.topic(driver.speed_scaling), STREAM)
            self._scalings[arm] = _Scaling(made)

    def _polled(self, kind: Any, topic: str, profile: QoSProfile) -> Any:
        return self._node.create_subscription(
            kind, topic, lambda _message: None, profile, callback_group=self._group
        )

    def _read(self) -> None:
        for signal in self._signals:
            for message, _number, _received_s in taken(signal.subscription):
                value = int(getattr(message, signal.spec.field))
                self._report(signal, value)
        for scaling in self._scalings.values():
            for message, _number, received_s in taken(scaling.subscription):
                if math.isfinite(message.data):
                    scaling.value, scaling.received_s = float(message.data), received_s

    def _report(self, signal: _Signal, value: int) -> None:
        before, signal.value = signal.value, value
        states, log = signal.spec.states, self._node.get_logger()
        if value in states and value != before:
            log.error(stop_text(signal.arm, states[value]))
        elif before in states and value not in states:
            log.info(f"{signal.arm} has left the stop: {signal.spec.topic} is {value}")


def message_type(name: str) -> Any:
    """Return the class of a message type; None if its package is not installed.

    Args:
        name: The type, such as ``std_msgs/msg/Bool``.
    """
    package, _kind, message = name.split("/")
    try:
        return getattr(importlib.import_module(f"{package}.msg"), message)
    except (ImportError, AttributeError):
        return None
