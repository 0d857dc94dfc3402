"""``handiwork check-backend`` against the simulation: it passes, and faults planted in it are found."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from geometry_msgs.msg import TransformStamped
from handiwork_msgs.msg import Contacts
from rclpy.clock import Clock as NodeClock
from rclpy.clock import ClockType
from rclpy.node import Node
from rosgraph_msgs.msg import Clock

from handiwork_cli.cli import main
from handiwork_core.model.world import Contact
from handiwork_ros.conversions import contacts_to_msg
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.qos import CLOCK, TF
from robot_description.node import RobotDescription
from sim_bridge.node import SimBridge
from support.nodes.checked_backend import Backend, files, number, running
from support.nodes.ros_stage import Stage
from tf2_msgs.msg import TFMessage


@pytest.fixture(scope="module")
def backend() -> Iterator[Backend]:
    def nodes(on: Stage) -> list[ManagedNode]:
        return [
            SimBridge(context=on.context, parameter_overrides=[*files(), number("real_time_factor", 2.0)]),
            RobotDescription(context=on.context, parameter_overrides=files()),
        ]

    with running(nodes) as made:
        yield made


def test_the_simulation_keeps_the_contract(backend: Backend, capsys: pytest.CaptureFixture[str]) -> None:
    assert backend.check(capsys, "--listen", "1.5") == (0, {})


def test_a_second_publisher_of_a_frame_is_found(backend: Backend, capsys: pytest.CaptureFixture[str]) -> None:
    def tell(node: Node, publisher: Any) -> None:
        frame = TransformStamped(child_frame_id="cube")
        frame.header.frame_id, frame.transform.rotation.w = "world", 1.0
        publisher.publish(TFMessage(transforms=[frame]))

    with second_publisher(backend, TFMessage, "/tf", TF, tell):
        code, faults = backend.check(capsys, "--listen", "1.0", "--only", "frames")
    assert (code, list(faults)) == (1, ["frames publishers"])
    assert "'world' to 'cube' on /tf" in faults["frames publishers"]["text"]


def test_a_second_clock_is_found(backend: Backend, capsys: pytest.CaptureFixture[str]) -> None:
    def tell(node: Node, publisher: Any) -> None:
        publisher.publish(Clock())

    with second_publisher(backend, Clock, "/clock", CLOCK, tell):
        code, faults = backend.check(capsys, "--listen", "1.0", "--only", "topics,clock")
    assert code == 1
    assert {"topic /clock", "clock forward"} <= set(faults)
    assert "/other" in faults["topic /clock"]["text"]


def test_swapped_joint_names_are_found(
    backend: Backend, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sim = backend.nodes[0]
    assert isinstance(sim, SimBridge)
    assert sim._simulation is not None
    world = sim._simulation.world
    first, second, *others = world.joint_names
    monkeypatch.setattr(world, "joint_names", (second, first, *others))
    code, faults = backend.check(capsys, "--listen", "0.5", "--only", "joints")
    assert (code, list(faults)) == (1, ["joints order fr3_arm"])


def test_contacts_the_other_way_round_are_found(
    backend: Backend, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def turned(contacts: tuple[Contact, ...], stamp_s: float) -> Contacts:
        return contacts_to_msg([replace(one, force_on_a_n=-one.force_on_a_n) for one in contacts], stamp_s)

    monkeypatch.setattr("sim_bridge.ros.publishers.contacts_to_msg", turned)
    code, faults = backend.check(capsys, "--listen", "0.5", "--only", "contacts")
    assert (code, list(faults)) == (1, ["contacts sign"])
    assert "the other way round" in faults["contacts sign"]["text"]


def test_another_robot_is_missing_and_unknown_groups_are_refused(
    backend: Backend, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check-backend", "--only", "joints,legs"]) == 2
    assert "['legs'] is none of topics" in capsys.readouterr().err
    code, faults = backend.check(
        capsys, "--robot", "ur10_suction", "--listen", "0.5", "--only", "topics", "--still"
    )
    assert code == 1
    assert faults["service /ur10_suction_controller/set_suction"]["verdict"] == "missing"


class second_publisher:
    """A node that publishes the same message 40 times a second inside the block."""

    def __init__(self, backend: Backend, kind: Any, topic: str, profile: Any, tell: Any) -> None:
        self._on = backend.on
        self._node = Node("other", context=backend.on.context)
        publisher = self._node.create_publisher(kind, topic, profile)
        steady = NodeClock(clock_type=ClockType.STEADY_TIME)
        self._node.create_timer(0.025, lambda: tell(self._node, publisher), clock=steady)

    def __enter__(self) -> None:
        self._on.executor.add_node(self._node)

    def __exit__(self, *_: object) -> None:
        gone = threading.Event()
        self._on.executor.create_task(
            lambda: (self._on.executor.remove_node(self._node), self._node.destroy_node(), gone.set())
        )
        assert gone.wait(60.0)
