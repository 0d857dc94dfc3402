"""Every managed node publishes its state on /diagnostics, and one diagnosis that fails hides no other."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.executors import SingleThreadedExecutor

from handiwork_core.intake.counters import IntakeStatistics, PublisherCount
from handiwork_core.model.diagnostics import Diagnosis, Level
from handiwork_ros.node.diagnostics import IntakeDiagnoses
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.destroy import destroy_with_actions

EVENT_S = 30.0


class Rig:
    """A managed node and its received diagnostics."""

    def __init__(self) -> None:
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = ManagedNode("diagnosed", context=self.context)
        self.messages: list[DiagnosticArray] = []
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self.messages.append, 10)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.closing = threading.Event()
        self.thread = threading.Thread(target=self.spin)
        self.thread.start()

    def spin(self) -> None:
        while not self.closing.is_set():
            self.executor.spin_once(timeout_sec=0.05)

    def status(self, name: str, level: Level | None = None) -> DiagnosticStatus:
        """Return the newest status of a component, once it has a level."""
        end_s, pause = time.monotonic() + EVENT_S, threading.Event()
        while time.monotonic() < end_s:
            newest = self.messages[-1].status if self.messages else ()
            for status in newest:
                if status.name == f"diagnosed: {name}" and (level is None or status.level == bytes([level])):
                    return status
            pause.wait(0.02)
        raise AssertionError(f"no status of {name} with level {level}: {self.messages[-1:]}")

    def close(self) -> None:
        self.closing.set()
        self.thread.join()
        self.node.begin_shutdown()
        self.node.end_shutdown()
        self.executor.shutdown()
        destroy_with_actions(self.node)
        rclpy.shutdown(context=self.context)


@pytest.fixture
def rig() -> Iterator[Rig]:
    made = Rig()
    yield made
    made.close()


@pytest.mark.usefixtures("nothing_left_over")
def test_state_and_scheduling_are_reported(rig: Rig) -> None:
    state = rig.status("state", Level.OK)
    assert {pair.key: pair.value for pair in state.values} == {"state": "active"}
    assert rig.status("scheduling").values[0].key == "greatest delay [s]"


@pytest.mark.usefixtures("nothing_left_over")
def test_a_diagnosis_that_fails_hides_no_other(rig: Rig) -> None:
    def broken() -> list[Diagnosis]:
        raise RuntimeError("planted")

    rig.node.diagnostics.add("broken part", broken)
    assert "planted" in rig.status("broken part", Level.ERROR).message
    assert rig.status("state").level == bytes([Level.OK])


@pytest.mark.usefixtures("nothing_left_over")
def test_dropped_messages_and_publishers_are_reported(rig: Rig) -> None:
    dropped = [0]

    def statistics() -> tuple[IntakeStatistics, ...]:
        dropped[0] += 50
        by = (PublisherCount("/rogue", "01ab"),)
        return (IntakeStatistics("joint_states", 2 * dropped[0], dropped[0], "j1 is nan", 0.01, by),)

    rig.node.diagnostics.add("intake", IntakeDiagnoses(statistics))
    found = rig.status("intake of joint_states", Level.ERROR)
    values = {pair.key: pair.value for pair in found.values}
    assert "j1 is nan" in found.message
    assert "/rogue" in values["publishers"]
    assert float(values["rate [Hz]"]) > 0.0
