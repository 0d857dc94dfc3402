"""A robot with a cup, and a belt, over Isaac Sim's topics: seals as clients see them, the checker, belts, steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from handiwork_msgs.srv import SetBeltVelocity, SetPaused, StepWorld
from rclpy.parameter import Parameter

from handiwork_core.model.outcome import Code
from handiwork_ros.node.managed_node import ManagedNode
from isaac_bridge.node import IsaacBridge
from robot_description.node import RobotDescription
from sim_bridge.node import SimBridge
from support.nodes.checked_backend import Backend, running
from support.nodes.ros_stage import Stage, wait_for
from support.paths import ROOT

from .test_suction_node import FOLDER, OFF, ON, User, offered

BELT = """
  belt:
    static: true
    belt: {velocity: [0, 0, 0]}
    pose: {position: [-0.9, 0, 0]}
    shapes: [{type: box, size: [0.4, 2, 0.05]}]
  letter: {mass: 0.1, pose: {position: [-0.9, 0, 0.035]}, shapes: [{type: box, size: [0.1, 0.1, 0.02]}]}
"""


@dataclass(frozen=True)
class Cell:
    """The stand-in, the adapter, and a client."""

    backend: Backend
    user: User

    def call(self, kind: Any, name: str, request: Any) -> Any:
        client, answers = self.user.node.create_client(kind, name), list[Any]()
        wait_for(client.service_is_ready)
        self.backend.on.executor.create_task(
            lambda: client.call_async(request).add_done_callback(lambda f: answers.append(f.result()))
        )
        wait_for(lambda: bool(answers), 60.0)
        return answers[0].outcome

    def now_s(self) -> float:
        return self.user.state().stamp_s


@pytest.fixture(scope="module")
def cell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cell]:
    scene = tmp_path_factory.mktemp("scene") / "belt_and_cup.yaml"
    scene.write_text(
        (ROOT / "config/scenes/suction.yaml").read_text(encoding="utf-8") + BELT, encoding="utf-8"
    )
    values = {"robot_dir": str(FOLDER), "scene_file": str(scene)}
    given = [Parameter(name, value=value) for name, value in values.items()]

    def nodes(on: Stage) -> list[ManagedNode]:
        wired = [*given, Parameter("interface", value="isaac")]
        return [
            SimBridge(context=on.context, parameter_overrides=wired),
            IsaacBridge(context=on.context, parameter_overrides=given),
            RobotDescription(context=on.context, parameter_overrides=given),
        ]

    with running(nodes) as backend:
        user = User(backend.on, sim_time=True)
        wait_for(lambda: user.state().stamp_s > 0.0 and bool(user.world.snapshot().objects))
        yield Cell(backend, user)


def test_a_cup_seals_names_what_it_holds_and_lets_go(cell: Cell) -> None:
    user, simulation = cell.user, cell.backend.nodes[0]
    assert isinstance(simulation, SimBridge)
    empty = user.move(ON)
    assert empty.code is Code.NOTHING_GRASPED
    assert "meets nothing within its reach" in empty.message
    with offered(simulation, user):
        assert user.move(ON).ok
        wait_for(lambda: user.state().object == "parcel")
    assert user.move(OFF).ok
    wait_for(lambda: not user.state().on and not user.state().sealed)


def test_the_checker_believes_the_cup(cell: Cell, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--robot", "ur10_suction", "--listen", "0.5", "--only", "suction")
    assert cell.backend.check(capsys, *words) == (0, {})


def test_a_belt_runs_as_commanded(cell: Cell) -> None:
    def ask(name: str, speed: float) -> int:
        request = SetBeltVelocity.Request(object=name)
        request.velocity.y = speed
        return int(cell.call(SetBeltVelocity, "sim/set_belt_velocity", request).code)

    assert ask("letter", 0.1) == Code.UNKNOWN_OBJECT
    assert ask("belt", 50.0) == Code.BAD_NUMBER
    assert ask("belt", -0.2) == Code.OK
    speed = lambda: cell.user.world.snapshot().states["letter"].world_v_object[1]  # noqa: E731
    wait_for(lambda: float(speed()) < -0.15)
    assert ask("belt", 0.0) == Code.OK
    wait_for(lambda: abs(float(speed())) < 0.01)


def test_time_goes_on_by_whole_frames_in_a_paused_world(cell: Cell) -> None:
    def step(duration_s: float) -> Any:
        return cell.call(StepWorld, "sim/step", StepWorld.Request(duration=duration_s))

    assert step(0.1).code == Code.CONTRADICTION
    assert step(-1.0).code == Code.BAD_NUMBER
    assert cell.call(SetPaused, "sim/set_paused", SetPaused.Request(paused=True)).code == Code.OK
    try:
        assert step(0.02).code == Code.OK
        wait_for(lambda: cell.user.world.snapshot().joints.stamp_s > 0.0)
        begin_s = cell.user.world.snapshot().joints.stamp_s
        assert step(0.21).code == Code.OK
        wait_for(lambda: cell.user.world.snapshot().joints.stamp_s == pytest.approx(begin_s + 0.22, abs=1e-6))
    finally:
        assert cell.call(SetPaused, "sim/set_paused", SetPaused.Request(paused=False)).code == Code.OK
