"""``handiwork check-backend`` against the simulation: it passes, and faults planted in it are found."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from geometry_msgs.msg import TransformStamped
from handiwork_msgs.msg import Contacts
from rclpy.clock import Clock as NodeClock
from rclpy.clock import ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from ros_stage import Stage, stage, wait_for
from rosgraph_msgs.msg import Clock

from handiwork_bringup.cli import main
from handiwork_core.world import Contact
from handiwork_ros.conversions import contacts_to_msg
from handiwork_ros.qos import CLOCK, TF
from robot_description.node import RobotDescription
from sim_bridge.node import SimBridge
from tf2_msgs.msg import TFMessage

ROOT = Path(__file__).parents[2]
ROBOT, SCENE = ROOT / "src/robot_description/robots/fr3", ROOT / "config/scenes/tabletop.yaml"


@dataclass(frozen=True)
class Backend:
    """A running simulation, and where faults are planted."""

    on: Stage
    sim: SimBridge

    def check(self, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
        """Exit code, and the findings that are no pass, by their checks."""
        capsys.readouterr()
        code = main(["check-backend", "--json", *words])
        told = json.loads(capsys.readouterr().out)
        assert told["good"] is (code == 0)
        assert told["findings"]
        return code, {row["check"]: row for row in told["findings"] if row["verdict"] != "pass"}


@pytest.fixture(scope="module")
def backend() -> Iterator[Backend]:
    with stage() as on:
        files = {"robot_dir": str(ROBOT), "scene_file": str(SCENE)}
        values = [Parameter(name, value=value) for name, value in files.items()]
        fast = Parameter("real_time_factor", value=2.0)
        nodes = [
            SimBridge(context=on.context, parameter_overrides=[*values, fast]),
            RobotDescription(context=on.context, parameter_overrides=values),
        ]
        for node in nodes:
            on.add(node)
        try:
            wait_for(lambda: all(node.is_active for node in nodes), 30.0)
            yield Backend(on, nodes[0])
        finally:
            ended = threading.Event()
            on.executor.create_task(lambda: ([node.begin_shutdown() for node in nodes], ended.set()))
            assert ended.wait(10.0)
            for node in nodes:
                node.end_shutdown()


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
    assert backend.sim._simulation is not None
    world = backend.sim._simulation.world
    first, second, *others = world.joint_names
    monkeypatch.setattr(world, "joint_names", (second, first, *others))
    code, faults = backend.check(capsys, "--listen", "0.5", "--only", "joints")
    assert (code, list(faults)) == (1, ["joints order fr3_arm"])


def test_contacts_the_other_way_round_are_found(
    backend: Backend, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def turned(contacts: tuple[Contact, ...], stamp_s: float) -> Contacts:
        return contacts_to_msg([replace(one, force_on_a_n=-one.force_on_a_n) for one in contacts], stamp_s)

    monkeypatch.setattr("sim_bridge.publishers_node.contacts_to_msg", turned)
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
    """A node that says the same thing 40 times a second, for as long as the block lasts."""

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
        assert gone.wait(10.0)
