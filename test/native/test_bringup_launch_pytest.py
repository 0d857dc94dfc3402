"""The bring-up by ROS's own launch, on a native installation: it starts, picks and places, and ends cleanly.

Run it by ``python3 -m pytest -c test/native/pytest.ini test/native`` in a sourced workspace.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

WHY = "{0} is missing: run this in a sourced ROS 2 Jazzy workspace, by -c test/native/pytest.ini"
launch = pytest.importorskip("launch", reason=WHY.format("launch"))
if not hasattr(launch, "LaunchDescription"):
    pytest.skip(WHY.format("ROS's launch"), allow_module_level=True)
launch_pytest = pytest.importorskip("launch_pytest", reason=WHY.format("launch_pytest"))
index = pytest.importorskip("ament_index_python.packages", reason=WHY.format("ament_index_python"))
pytest.importorskip("launch_ros", reason=WHY.format("launch_ros"))

from launch.actions import IncludeLaunchDescription  # noqa: E402 - after the skips
from launch.event_handlers import OnProcessExit, OnProcessStart  # noqa: E402
from launch.launch_description_sources import AnyLaunchDescriptionSource  # noqa: E402

from handiwork_ros.clients.skill_client import SkillClient  # noqa: E402

NODES = ("robot_description", "sim_bridge", "planner_node", "skill_server", "conditionals_node")
ACTIVE_S = 300.0
"""The first start compiles the planner's kernels: about a minute on two busy cores."""


@pytest.fixture(scope="module")
def domain() -> Iterator[None]:
    """Set a DDS domain away from the default one, on this machine alone, before anything of ROS starts."""
    os.environ.setdefault("ROS_DOMAIN_ID", str(20 + os.getpid() % 80))
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    return


@pytest.fixture(scope="module")
def processes() -> dict[str, list[int]]:
    """Return, by node, process ids as they started, and return codes as they ended."""
    return {"pids": [], "codes": []}


@launch_pytest.fixture(scope="module")
def bringup(domain: None, processes: dict[str, list[int]]) -> launch.LaunchDescription:
    """Start the whole stack, and note every start and end."""
    path = Path(index.get_package_share_directory("handiwork_bringup")) / "launch/bringup.launch.xml"
    return launch.LaunchDescription(
        [
            launch.actions.RegisterEventHandler(
                OnProcessStart(on_start=lambda event, _: processes["pids"].append(event.pid))
            ),
            launch.actions.RegisterEventHandler(
                OnProcessExit(on_exit=lambda event, _: processes["codes"].append(event.returncode))
            ),
            IncludeLaunchDescription(
                AnyLaunchDescriptionSource(str(path)), launch_arguments=[("real_time_factor", "2")]
            ),
            launch_pytest.actions.ReadyToTest(),
        ]
    )


@pytest.fixture(scope="module")
def robot(domain: None) -> Iterator[SkillClient]:
    with SkillClient(node_name="native_test") as client:
        yield client


def missing(robot: SkillClient) -> list[str]:
    """Return the names of the nodes that are not active.

    Args:
        robot: The client.
    """
    return [name for name in NODES if not robot.signs.is_active(name)]


@pytest.mark.launch(fixture=bringup)
def test_every_node_becomes_active(robot: SkillClient) -> None:
    end_s = time.monotonic() + ACTIVE_S
    while missing(robot) and time.monotonic() < end_s:
        robot.wait_ready(0.2)
    assert not missing(robot), f"not active after {ACTIVE_S:.0f} s: {missing(robot)}"
    assert robot.wait_ready(30.0)


@pytest.mark.launch(fixture=bringup)
def test_pick_then_place_succeeds(robot: SkillClient) -> None:
    picked = robot.pick("cube")
    assert picked.ok, picked.outcome
    placed = robot.place("cube", "bin")
    assert placed.ok, placed.outcome


@pytest.mark.launch(fixture=bringup, shutdown=True)
def test_all_processes_ended_cleanly(processes: dict[str, list[int]]) -> None:
    assert len(processes["pids"]) == len(NODES)
    assert processes["codes"] == [0] * len(NODES)
    alive = [pid for pid in processes["pids"] if Path(f"/proc/{pid}").exists()]
    assert not alive, f"still running: {alive}"
