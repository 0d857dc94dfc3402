"""Publishes ``/diagnostics`` of a node: its state, its scheduling delay, its intake, and the diagnoses of its parts."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from handiwork_core.intake.counters import IntakeStatistics
from handiwork_core.model.diagnostics import (
    Diagnosis,
    Level,
    RateMeter,
    delay_diagnosis,
    intake_diagnosis,
)
from handiwork_ros.rclpy_support.safe_callbacks import guard

TOPIC = "/diagnostics"
PERIOD_S = 1.0
"""The period of the diagnostics, s of steady time."""
Source = Callable[[], Iterable[Diagnosis]]


class IntakeDiagnoses:
    """Diagnoses of the topics to which a node subscribes.

    Args:
        statistics: Returns the counts of all topics.
    """

    def __init__(self, statistics: Callable[[], Iterable[IntakeStatistics]]) -> None:
        self._statistics, self._rates = statistics, RateMeter()

    def __call__(self) -> list[Diagnosis]:
        """Return a diagnosis for each topic."""
        now_s = time.monotonic()
        return [self._diagnosis(one, now_s) for one in self._statistics()]

    def _diagnosis(self, one: IntakeStatistics, now_s: float) -> Diagnosis:
        rate_hz = self._rates.rate_hz(one.topic, one.received, now_s)
        dropped_hz = self._rates.rate_hz(f"{one.topic} dropped", one.dropped, now_s)
        return intake_diagnosis(one, rate_hz, dropped_hz)


class DiagnosticsPublisher:
    """Publishes the diagnoses of its sources once a second of steady time, also while simulated time is paused.

    Sources are called on the executor's thread and must not wait. If one raises, that is reported as an error of its
    own.
    """

    def __init__(self, node: Node, delay_s: Callable[[], float]) -> None:
        """Begin to publish.

        Args:
            node: Node of the diagnostics.
            delay_s: Returns the greatest recent scheduling delay, s.
        """
        self._node = node
        self._hardware_id = socket.gethostname()
        # All stacks of a domain publish on this one topic: the namespace tells them apart.
        self._name = node.get_fully_qualified_name().lstrip("/")
        self._sources: dict[str, Source] = {"scheduling": lambda: [delay_diagnosis(delay_s())]}
        self._publisher = node.create_publisher(DiagnosticArray, TOPIC, 10)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(PERIOD_S, guard(node, self._publish), clock=steady)

    def add(self, name: str, source: Source) -> None:
        """Add a source, which is called each time from now on; from any thread.

        Args:
            name: Name under which errors of the source are reported.
            source: Returns its diagnoses.
        """
        self._sources[name] = source

    def diagnoses(self) -> list[Diagnosis]:
        """Return the current diagnoses of all sources."""
        return [one for name, source in list(self._sources.items()) for one in _diagnoses_of(name, source)]

    def _publish(self) -> None:
        message = DiagnosticArray(status=[self._status(one) for one in self.diagnoses()])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)

    def _status(self, diagnosis: Diagnosis) -> DiagnosticStatus:
        return DiagnosticStatus(
            level=bytes([diagnosis.level]),
            name=f"{self._name}: {diagnosis.name}",
            message=diagnosis.message,
            hardware_id=self._hardware_id,
            values=[KeyValue(key=key, value=value) for key, value in diagnosis.values.items()],
        )


def _diagnoses_of(name: str, source: Source) -> list[Diagnosis]:
    try:
        return list(source())
    except Exception as error:  # noqa: BLE001 - the other sources must still be reported
        return [Diagnosis(name, Level.ERROR, f"this diagnosis failed: {error!r}")]
