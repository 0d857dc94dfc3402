"""``examples/ur_payload.py`` beside a service as the driver's: what it waits for is said, and a late driver is served.

``ur_msgs`` is not among the packages of the tests, so std_srvs/SetBool stands in its place.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from geometry_msgs.msg import Inertia, InertiaStamped
from rcl_interfaces.msg import Log
from rclpy.node import Node
from std_srvs.srv import SetBool

from handiwork_ros.rclpy_support.qos import LATCHED
from support.nodes.ros_stage import Stage, stage, wait_for
from support.paths import ROOT

WAIT_S = 0.5


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the names of the example, whose requests say whether the mass is above 1 kg."""
    package, services = ModuleType("ur_msgs"), ModuleType("ur_msgs.srv")
    services.SetPayload = SetBool  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ur_msgs", package)
    monkeypatch.setitem(sys.modules, "ur_msgs.srv", services)
    names = runpy.run_path(str(ROOT / "examples/ur_payload.py"))
    globals_of = names["UrPayload"]._look.__globals__
    monkeypatch.setitem(globals_of, "request_of", lambda inertia: SetBool.Request(data=inertia.m > 1.0))
    return names


class Site:
    """The example, a publisher of payloads, and the log."""

    def __init__(self, on: Stage, example: dict[str, Any]) -> None:
        self.peer, self.said = Node("peer", context=on.context), list[str]()
        self._payloads = self.peer.create_publisher(InertiaStamped, "ur_arm/payload", LATCHED)
        self.peer.create_subscription(Log, "/rosout", lambda line: self.said.append(line.msg), 100)
        self.node = example["UrPayload"]("ur_arm", WAIT_S, context=on.context)
        on.add(self.peer)
        on.add(self.node)

    def carry(self, mass_kg: float) -> None:
        self._payloads.publish(InertiaStamped(inertia=Inertia(m=mass_kg)))

    def says(self, text: str) -> None:
        wait_for(lambda: any(text in line for line in self.said), 60.0)


@pytest.fixture
def site(example: dict[str, Any]) -> Iterator[Site]:
    with stage() as on:
        yield Site(on, example)


def test_a_driver_that_is_not_there_is_named_and_gets_the_payload_once_it_is(site: Site) -> None:
    site.carry(2.0)
    site.says("no node serves /io_and_status_controller/set_payload; start the driver, or remap the service")
    asked = list[bool]()

    def serve(request: SetBool.Request, answer: SetBool.Response) -> SetBool.Response:
        asked.append(request.data)
        answer.success = True
        return answer

    site.peer.create_service(SetBool, "io_and_status_controller/set_payload", serve)
    site.says("payload of 2.00 kg is set")
    assert asked == [True]


def test_a_driver_that_does_not_answer_is_named(site: Site) -> None:
    driver = Node("driver", context=site.peer.context)  # nothing spins it, so that it does not answer
    try:
        driver.create_service(
            SetBool, "io_and_status_controller/set_payload", lambda _request, answer: answer
        )
        site.carry(0.5)
        site.says("/io_and_status_controller/set_payload did not answer; see the log of the driver")
    finally:
        driver.destroy_node()
