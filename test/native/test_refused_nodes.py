"""ROS's own launch does not start a node again that ended with a bad configuration, and starts all others again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

MISSING = "ROS's launch is missing: run this in a sourced ROS 2 Jazzy"
launch = pytest.importorskip("launch", reason=MISSING)
if not hasattr(launch, "LaunchDescription"):  # the folder of launch files is found where ROS's package is not
    pytest.skip(MISSING, allow_module_level=True)

from launch.actions import (  # noqa: E402 - after the skips
    EmitEvent,
    ExecuteProcess,
    IncludeLaunchDescription,
    RegisterEventHandler,
)
from launch.event_handlers import OnProcessStart  # noqa: E402
from launch.events import Shutdown  # noqa: E402
from launch.launch_description_sources import PythonLaunchDescriptionSource  # noqa: E402

REFUSALS = Path(__file__).parents[2] / "launch/refusals.launch.py"
STARTS = 8
"""The starts of the program that is started again and again, after which the launch ends."""


def program(name: str, code: int, enclave: str) -> ExecuteProcess:
    command = ["sh", "-c", f"exit {code}", name, "--enclave", enclave]
    return ExecuteProcess(cmd=command, name=name, respawn=True, respawn_delay=0.1)


def test_only_our_refused_nodes_stay_down() -> None:
    starts: Counter[str] = Counter()

    def count(event: launch.events.process.ProcessStarted, _: launch.LaunchContext) -> list[EmitEvent]:
        name = event.cmd[3]
        starts[name] += 1
        return [EmitEvent(event=Shutdown())] if starts["clock"] >= STARTS else []

    programs = [
        program("misconfigured", 2, "/handiwork/planner_node"),
        program("second_of_its_name", 69, "/handiwork/skill_server"),
        program("failed", 1, "/handiwork/conditionals_node"),
        program("of_someone_else", 2, "/other/node"),
        program("clock", 1, "/other/clock"),
    ]
    service = launch.LaunchService()
    service.include_launch_description(
        launch.LaunchDescription(
            [
                IncludeLaunchDescription(PythonLaunchDescriptionSource(str(REFUSALS))),
                RegisterEventHandler(OnProcessStart(on_start=count)),
                *programs,
            ]
        )
    )
    assert service.run() == 0
    assert (starts["misconfigured"], starts["second_of_its_name"]) == (1, 3)
    assert min(starts["failed"], starts["of_someone_else"]) >= STARTS // 2
