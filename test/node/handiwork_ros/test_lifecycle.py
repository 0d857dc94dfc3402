"""The life cycle of a managed node over its services: its reported state is its true state at all times."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from handiwork_msgs.msg import NodeStatus
from lifecycle_msgs.msg import Transition
from rclpy.node import Node
from rclpy.parameter import Parameter

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_ros.node.managed_node import STATUS_TOPIC, ManagedNode
from handiwork_ros.rclpy_support.qos import STATUS
from support.nodes.lifecycle_manager import ACTIVATE, CLEANUP, CONFIGURE, DEACTIVATE, LifecycleManager
from support.nodes.ros_stage import Stage, stage, wait_for


class Machine(ManagedNode):
    """Loads, stops and ends under the control of the test, and counts the calls."""

    def __init__(self, **options: Any) -> None:
        super().__init__("machine", **options)
        self.calls: list[str] = []
        self.may_load, self.has_ended = threading.Event(), threading.Event()
        self.may_start = threading.Event()
        for event in (self.may_load, self.may_start, self.has_ended):
            event.set()
        self.fault: Exception | None = None
        self.start_fault: Exception | None = None
        self.loaders = 0

    def on_load(self, report: Any) -> None:
        self.calls.append("load")
        self.loaders += 1
        report(0.5, "half of it")
        while not self.may_load.wait(0.01) and not self.closing.is_set():
            pass
        self.loaders -= 1
        if self.fault is not None:
            raise self.fault

    def on_prepare(self, report: Any) -> None:
        report(0.5, "waiting for somebody")
        while not self.may_start.wait(0.01) and not self.closing.is_set():
            pass

    def on_start(self) -> None:
        self.calls.append("start")
        if self.start_fault is not None:
            raise self.start_fault

    def on_stop(self) -> None:
        self.calls.append("stop")

    def on_close(self) -> None:
        self.calls.append("close")

    def is_idle(self) -> bool:
        return self.has_ended.is_set()


class Bench:
    """A machine that a lifecycle manager drives, and its messages on ``handiwork/status``."""

    def __init__(self, made: Stage, *, autostart: bool) -> None:
        self.made = made
        self.machine = Machine(
            context=made.context, parameter_overrides=[Parameter("autostart", value=autostart)]
        )
        peer = Node("manager", context=made.context)
        self.manager = LifecycleManager(peer, ["machine"])
        self.shown: list[int] = []
        self.texts: list[str] = []
        peer.create_subscription(NodeStatus, STATUS_TOPIC, self._note, STATUS)
        made.add(self.machine)
        made.add(peer)
        self.manager.wait_ready()

    def _note(self, message: NodeStatus) -> None:
        self.shown.append(message.state)
        self.texts.append(message.message)

    def change(self, transition: int = 0, label: str = "") -> bool:
        return self.manager.change("machine", transition, label)

    @property
    def state(self) -> str:
        return self.manager.state("machine")


@pytest.fixture
def bench() -> Iterator[Bench]:
    with stage() as made:
        yield Bench(made, autostart=False)


def test_configure_answers_when_loading_has_ended_and_all_else_is_served_meanwhile(bench: Bench) -> None:
    bench.machine.may_load.clear()
    asked = bench.manager.ask("machine", CONFIGURE)
    wait_for(lambda: "half of it" in bench.texts)
    assert bench.state == "configuring"
    assert not asked.done()
    assert bench.shown[-1] == NodeStatus.CONFIGURING
    bench.machine.may_load.set()
    wait_for(asked.done)
    assert asked.result().success
    assert bench.state == "inactive"
    wait_for(lambda: bench.shown[-1] == NodeStatus.INACTIVE)


@pytest.mark.parametrize(
    "request_id", [CONFIGURE, CLEANUP, ACTIVATE, DEACTIVATE, 5, 6, 7, 10, 11, 12, 97, 200]
)
def test_a_transition_state_refuses_every_request(bench: Bench, request_id: int) -> None:
    bench.machine.may_load.clear()
    asked = bench.manager.ask("machine", CONFIGURE)
    wait_for(lambda: bench.state == "configuring")
    assert not bench.change(request_id)
    assert not bench.change(label="transition_success")
    assert bench.machine.loaders == 1, "a second loader was started"
    assert bench.state == "configuring"
    bench.machine.may_load.set()
    wait_for(asked.done)
    assert asked.result().success


@pytest.mark.parametrize("request_id", [CLEANUP, ACTIVATE, DEACTIVATE, 6, 7, 10, 200])
def test_a_request_that_the_state_does_not_allow_is_refused_and_ends_nothing(
    bench: Bench, request_id: int
) -> None:
    assert not bench.change(request_id)
    assert not bench.change(label="no_such_transition")
    assert bench.state == "unconfigured"
    assert bench.change(CONFIGURE)


def test_activate_answers_when_what_is_waited_for_has_come(bench: Bench) -> None:
    assert bench.change(CONFIGURE)
    bench.machine.may_start.clear()
    asked = bench.manager.ask("machine", ACTIVATE)
    wait_for(lambda: "waiting for somebody" in bench.texts)
    assert bench.state == "activating"
    assert not bench.machine.is_active
    assert "start" not in bench.machine.calls
    bench.machine.may_start.set()
    wait_for(asked.done)
    assert bench.state == "active"


def test_activate_and_deactivate_twenty_times_and_clean_up_between(bench: Bench) -> None:
    for _ in range(4):
        assert bench.change(CONFIGURE)
        for _ in range(5):
            assert bench.change(ACTIVATE)
            assert bench.state == "active"
            assert bench.machine.is_active
            assert bench.change(DEACTIVATE)
            assert bench.state == "inactive"
            assert not bench.machine.is_active
        assert bench.change(CLEANUP)
        assert bench.state == "unconfigured"
    assert bench.machine.calls == 4 * ["load", *5 * ["start", "stop"], "close"]


def test_every_transition_is_published(bench: Bench) -> None:
    for transition in (CONFIGURE, ACTIVATE, DEACTIVATE, CLEANUP):
        assert bench.change(transition)
    assert bench.change(label="shutdown")
    expected = (
        "configuring inactive activating active deactivating inactive cleaningup unconfigured shuttingdown"
    )
    wait_for(lambda: len(bench.manager.events["machine"]) >= 10)
    assert bench.manager.events["machine"] == [*expected.split(), "finalized"]


def test_deactivate_answers_when_what_runs_has_ended(bench: Bench) -> None:
    assert bench.change(CONFIGURE)
    assert bench.change(ACTIVATE)
    bench.machine.has_ended.clear()
    asked = bench.manager.ask("machine", DEACTIVATE)
    wait_for(lambda: bench.state == "deactivating")
    assert not bench.machine.is_active
    assert not asked.done()
    bench.machine.has_ended.set()
    wait_for(asked.done)
    assert asked.result().success
    assert bench.state == "inactive"


def test_a_bad_parameter_leaves_a_managed_node_unconfigured_with_the_reason(bench: Bench) -> None:
    bench.machine.fault = ConfigError("node machine", ["parameter color: is 'loud'; give a color"])
    assert not bench.change(CONFIGURE)
    assert bench.state == "unconfigured"
    wait_for(lambda: "color" in bench.texts[-1])
    assert bench.shown[-1] == NodeStatus.UNCONFIGURED
    assert bench.machine.exit_code is None
    bench.machine.fault = None
    assert bench.change(CONFIGURE)
    assert bench.state == "inactive"


def test_an_error_is_processed_and_leads_to_unconfigured(bench: Bench) -> None:
    assert bench.change(CONFIGURE)
    bench.machine.start_fault = RuntimeError("a wire is loose")
    assert not bench.change(ACTIVATE)
    wait_for(lambda: len(bench.manager.events["machine"]) >= 5)
    assert bench.manager.events["machine"][2:] == ["activating", "errorprocessing", "unconfigured"]
    assert bench.machine.calls[-2:] == ["stop", "close"]
    assert bench.machine.exit_code is None
    bench.machine.start_fault = None
    assert bench.change(CONFIGURE)
    assert bench.change(ACTIVATE)


@pytest.mark.parametrize("way", [(), (CONFIGURE,), (CONFIGURE, ACTIVATE)])
def test_shutdown_finalizes_from_every_state_and_for_good(bench: Bench, way: tuple[int, ...]) -> None:
    for transition in way:
        assert bench.change(transition)
    number = (
        Transition.TRANSITION_UNCONFIGURED_SHUTDOWN,
        Transition.TRANSITION_INACTIVE_SHUTDOWN,
        Transition.TRANSITION_ACTIVE_SHUTDOWN,
    )[len(way)]
    assert bench.change(number)
    assert bench.state == "finalized"
    assert not bench.machine.is_active
    wait_for(lambda: bench.shown[-1] == NodeStatus.FINALIZED)
    for request_id in range(13):
        assert not bench.change(request_id)
    assert bench.state == "finalized"
    assert bench.machine.calls.count("close") == 1
    assert bench.machine.exit_code is None, "a process that ends would be started again, and serve again"


def test_a_node_that_starts_by_itself_is_managed_afterwards() -> None:
    with stage() as made:
        bench = Bench(made, autostart=True)
        wait_for(lambda: bench.machine.is_active)
        assert bench.state == "active"
        bench.manager.change_all(DEACTIVATE)
        bench.manager.change_all(CLEANUP)
        assert bench.state == "unconfigured"
        bench.manager.change_all(CONFIGURE)
        assert bench.state == "inactive", "only the start activates by itself"


def test_a_bad_parameter_ends_a_node_that_starts_by_itself() -> None:
    with stage() as made:
        bench = Bench(made, autostart=False)
        bench.machine.fault = ConfigError("node machine", ["parameter color: is 'loud'; give a color"])
        made.executor.create_task(bench.machine._start)
        wait_for(lambda: bench.machine.exit_code == 2)


def test_the_end_of_the_process_finalizes(bench: Bench) -> None:
    assert bench.change(CONFIGURE)
    assert bench.change(ACTIVATE)
    done = threading.Event()
    bench.made.executor.create_task(lambda: (bench.machine.begin_shutdown(), done.set()))
    assert done.wait(60.0)
    bench.machine.end_shutdown()
    assert bench.machine.state == "finalized"
    assert bench.machine.calls == ["load", "start", "stop", "close"]
